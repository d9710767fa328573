// SPDX-License-Identifier: GPL-2.0-only
/* Starts other processors, each with a stack of its own. */
#include "arch.h"

extern const u8 ap_trampoline[], ap_trampoline_end[];

/* Read by the processor that starts; trace_smp.S. */
u32 smp_stack;
void (*smp_entry)(void);

static u8 stacks[SMP_MAX][KERNEL_STACK_SIZE] __attribute__((aligned(16)));

void smp_start(u32 apic_id, void (*entry)(void))
{
	smp_stack = (u32)(u64)stacks[apic_id + 1];
	smp_entry = entry;
	memcpy((void *)SMP_TRAMPOLINE, ap_trampoline, ap_trampoline_end - ap_trampoline);
	lapic_start_cpu(apic_id, SMP_TRAMPOLINE);
}
