/* SPDX-License-Identifier: GPL-2.0-only */
/* The registers are those of the model, hw.c. */
#ifndef SHIM_ASM_MSR_H
#define SHIM_ASM_MSR_H

#include <linux/types.h>

#include <asm/msr-index.h>

u64 hw_read(u32 msr);
void hw_write(u32 msr, u64 value);
/* Registers that a hypervisor keeps to itself: an error instead of a #GP */
int hw_read_safe(u32 msr, u64 *value);

#define rdmsrq(msr, value)	((void)((value) = hw_read(msr)))
#define rdmsrq_safe(msr, value)	hw_read_safe(msr, value)
#define wrmsrq(msr, value)	hw_write(msr, value)
#define native_rdmsr(msr, low, high) do {				\
	u64 shim_value = hw_read(msr);					\
	(low) = shim_value;						\
	(high) = shim_value >> 32;					\
} while (0)
#define native_wrmsr(msr, low, high)	hw_write(msr, (u64)(high) << 32 | (low))

#endif
