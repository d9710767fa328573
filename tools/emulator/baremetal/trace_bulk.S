/* SPDX-License-Identifier: GPL-2.0-only */
/* Many packets: snip_arg[0] rounds of one TIP and one TNT bit each. */
#include "snippet.h"

	.bss
	.globl snip_stack
snip_stack: .skip 8

SNIPPET snip_bulk
	mov snip_arg, %r12
	mov $2f, %ebx
	TRACE_ON snip_bulk
1:	jmp *%rbx
2:	dec %r12
	jnz 1b
	TRACE_OFF snip_bulk
	SNIPPET_END

	.section .note.GNU-stack, "", @progbits
