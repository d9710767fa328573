/* SPDX-License-Identifier: GPL-2.0-only */
/* Traced sequences of events that a forced overflow may lose; snip_arg[0] rounds. */
#include "snippet.h"

	/* @insn again and again. */
	.macro ROUNDS name, insn:vararg
	mov snip_arg, %r12
	TRACE_ON \name
1:	\insn
	dec %r12
	jnz 1b
	TRACE_OFF \name
	.endm

SNIPPET overflow_ptwrite
	ROUNDS overflow_ptwrite, ptwrite %r12
	SNIPPET_END

SNIPPET overflow_cr3
	mov %cr3, %rbx
	ROUNDS overflow_cr3, mov %rbx, %cr3
	SNIPPET_END

	.section .note.GNU-stack, "", @progbits
