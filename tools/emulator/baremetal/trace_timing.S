/* SPDX-License-Identifier: GPL-2.0-only */
/* Traced sequences for time: a loop until the TSC has advanced by snip_arg[0]. */
#include "snippet.h"

	/* RAX becomes what @insn, RDTSC or RDMSR, gives in EDX:EAX. */
	.macro READ insn
	\insn
	shl $32, %rdx
	or %rdx, %rax
	.endm

	/* Until the TSC, left in RAX, has advanced by snip_arg[0]. */
	.macro SPIN
	READ rdtsc
	add snip_arg, %rax
	mov %rax, %rbx
1:	READ rdtsc
	cmp %rbx, %rax
	jb 1b
	.endm

SNIPPET timing_spin
	READ rdtsc
	mov %rax, snip_arg + 8
	TRACE_ON timing_spin
	/* Counted from here: the host may take the processor away before. */
	SPIN
	mov %rax, snip_arg + 16
	TRACE_OFF timing_spin
	SNIPPET_END

/* The same; snip_arg[2] is OUTPUT_MASK_PTRS while tracing is on. */
SNIPPET timing_outside
	TRACE_ON timing_outside
	SPIN
	mov $MSR_RTIT_OUTPUT_MASK_NR, %ecx
	READ rdmsr
	mov %rax, snip_arg + 16
	TRACE_OFF timing_outside
	SNIPPET_END

	/* snip_arg[0] rounds of 64 instructions and a TIP. */
SNIPPET timing_blocks
	mov snip_arg, %r12
	mov $1f, %ebx
	TRACE_ON timing_blocks
1:	.skip 61, 0x90
	dec %r12
	jz 2f
	jmp *%rbx
2:	TRACE_OFF timing_blocks
	SNIPPET_END
/* Two times 64 instructions: the first ends with a branch that is not taken. */
SNIPPET timing_order
	mov $1f, %ebx
	mov $2f, %ebp
	TRACE_ON timing_order
	jmp *%rbx
1:	.skip 62, 0x90
	test %ebx, %ebx
	jz 2f
	.skip 63, 0x90
	jmp *%rbp
2:	TRACE_OFF timing_order
	SNIPPET_END
	.section .note.GNU-stack, "", @progbits
