/* SPDX-License-Identifier: GPL-2.0 */
/* Traced sequences for time: a loop until the TSC has advanced by snip_arg[0]. */
#include "snippet.h"

SNIPPET timing_spin
	rdtsc
	shl $32, %rdx
	or %rdx, %rax
	mov %rax, snip_arg + 8
	TRACE_ON timing_spin
	/* Counted from here: the host may take the processor away before. */
	rdtsc
	shl $32, %rdx
	or %rdx, %rax
	add snip_arg, %rax
	mov %rax, %rbx
1:	rdtsc
	shl $32, %rdx
	or %rdx, %rax
	cmp %rbx, %rax
	jb 1b
	mov %rax, snip_arg + 16
	TRACE_OFF timing_spin
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
	.section .note.GNU-stack, "", @progbits
