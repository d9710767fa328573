/* SPDX-License-Identifier: GPL-2.0-only */
/* Traced sequences with PTWRITE. */
#include "snippet.h"

SNIPPET ptwrite_all
	movabs $0x1122334455667788, %rbx
	mov %rbx, snip_arg
	TRACE_ON ptwrite_all
MARK ptwrite_reg32
	ptwrite %ebx
MARK ptwrite_reg64
	ptwrite %rbx
MARK ptwrite_mem32
	ptwritel snip_arg
MARK ptwrite_mem64
	ptwriteq snip_arg
	TRACE_OFF ptwrite_all
	SNIPPET_END

/* Among branches: the order of TNT, PTW, TIP. */
SNIPPET ptwrite_order
	mov $ptwrite_order_2, %ebx
	TRACE_ON ptwrite_order
	xor %eax, %eax
	jz 1f
	ud2
1:
MARK ptwrite_order_1
	ptwrite %eax
	jmp *%rbx
MARK ptwrite_order_2
	ptwrite %eax
	jnz 1f
1:	TRACE_OFF ptwrite_order
	SNIPPET_END

	/* From ring 3; INT 0x71 comes back. */
SNIPPET ptwrite_user
	FRAME SEL_USER_DATA, $ptwrite_stack_end, 0, SEL_USER64, ptwrite_user_start
	TRACE_ON ptwrite_user
	ptwrite %eax
	iretq
MARK ptwrite_user_start
	ptwrite %rax
	int $0x71
	ud2
MARK ptwrite_user_handler
	ptwrite %eax
	TRACE_OFF ptwrite_user
	SNIPPET_END

	.bss
	.balign 16
	.skip 1024
ptwrite_stack_end:
	.section .note.GNU-stack, "", @progbits
