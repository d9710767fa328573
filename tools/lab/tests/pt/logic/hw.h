/* SPDX-License-Identifier: GPL-2.0-only */
/* Processor Trace of the CPUs, as the SDM has it: registers and output. */
#ifndef HW_H
#define HW_H

#include <linux/types.h>

/**
 * struct hw - Processor Trace of a CPU
 * @ctl: IA32_RTIT_CTL
 * @status: IA32_RTIT_STATUS
 * @base: IA32_RTIT_OUTPUT_BASE
 * @ptrs: IA32_RTIT_OUTPUT_MASK_PTRS
 * @range: IA32_RTIT_ADDRn_A and _B
 * @vmx: in VMX operation, in which CTL cannot be written
 * @pmi: an interrupt was raised
 * @early: bytes that are left of a region when one is raised that is the only one
 * @reads: of registers
 * @writes: likewise
 */
struct hw {
	u64 ctl, status, base, ptrs;
	u64 range[8];
	bool vmx;
	bool pmi;
	unsigned int early;
	unsigned int reads, writes;
};

/* That of the CPU that runs, and of any. */
struct hw *hw_this(void);
struct hw *hw_of(int cpu);
void hw_reset(void);
void hw_reset_cpu(int cpu);

/* TraceEn is set */
bool hw_enabled(void);
/* ... and nothing keeps it from writing */
bool hw_runs(void);
/* The CPU makes so much trace; what of it was written. */
u64 hw_output(u64 bytes);
/* Write until an interrupt is raised, or hardware stops, @most bytes. */
u64 hw_output_until_pmi(u64 most);

#endif
