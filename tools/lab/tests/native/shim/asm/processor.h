/* SPDX-License-Identifier: GPL-2.0-only */
/* The processor, as the tests say it is: machine.c. */
#ifndef SHIM_ASM_PROCESSOR_H
#define SHIM_ASM_PROCESSOR_H

#include <linux/types.h>

#include <asm/msr-index.h>

struct cpuinfo_x86 {
	u8 x86_virt_bits;
	int cpuid_level;
};

extern struct cpuinfo_x86 boot_cpu_data;

void cpuid_count(u32 leaf, u32 subleaf, u32 *a, u32 *b, u32 *c, u32 *d);
void cpuid(u32 leaf, u32 *a, u32 *b, u32 *c, u32 *d);

#define CONFIG_X86_64		1
#define IS_ENABLED(option)	(option)

#endif
