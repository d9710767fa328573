/* SPDX-License-Identifier: GPL-2.0-only */
/* Traced sequences of near branches: conditional, direct, indirect, calls and returns. */
#include "snippet.h"

/* Nothing between enabling and disabling. */
SNIPPET near_empty
	TRACE_ON near_empty
	nop
	TRACE_OFF near_empty
	SNIPPET_END

/* TNT: T N N T T T N T N, T T N (loopne), T N (loope) */
SNIPPET near_jcc
	TRACE_ON near_jcc
	xor %eax, %eax
	jz 1f			/* T */
	ud2
1:	jnz 1f			/* N */
	jc 1f			/* N */
	jns 1f			/* T */
	ud2
1:	mov $3, %ecx
1:	loop 1b			/* T T N */
	jrcxz 1f		/* T */
	ud2
1:	inc %ecx
	jrcxz 1f		/* N */
	mov $3, %ecx
1:	inc %eax		/* never zero: loopne ends by the count */
	loopne 1b		/* T T N */
	mov $2, %ecx
1:	cmp %eax, %eax
	loope 1b		/* T N */
1:	TRACE_OFF near_jcc
	SNIPPET_END

/* 50 taken conditional jumps in a row, then one not taken. */
SNIPPET near_tnt_run
	mov $51, %r12d
	TRACE_ON near_tnt_run
1:	dec %r12d
	jnz 1b
	TRACE_OFF near_tnt_run
	SNIPPET_END

/* Direct jumps and calls say nothing. */
SNIPPET near_direct
	TRACE_ON near_direct
	jmp 1f
	ud2
1:	.byte 0xeb, 0x00	/* jmp short, to the next instruction */
	call 2f
	ud2
2:	add $8, %rsp
	.byte 0xe9; .long 0	/* jmp near, to the next instruction */
	TRACE_OFF near_direct
	SNIPPET_END

SNIPPET near_indirect
	mov $near_indirect_1, %ebx
	movq $near_indirect_2, snip_arg
	mov $near_indirect_3, %ebp
	movq $near_indirect_4, snip_arg + 8
	TRACE_ON near_indirect
	jmp *%rbx
	ud2
MARK near_indirect_1
	jmp *snip_arg
	ud2
MARK near_indirect_2
	call *%rbp
	ud2
MARK near_indirect_3
	call *snip_arg + 8
	ud2
MARK near_indirect_4
	add $16, %rsp
	xor %eax, %eax
	jz 1f			/* T, then a TIP must come behind it */
	ud2
1:	mov $near_indirect_5, %ebx
	jmp *%rbx
MARK near_indirect_5
	TRACE_OFF near_indirect
	SNIPPET_END

/* A direct and an indirect call, each returned from. */
SNIPPET near_ret
	mov $near_ret_leaf, %ebx
	TRACE_ON near_ret
	call near_ret_leaf
MARK near_ret_1
	call *%rbx
MARK near_ret_2
	TRACE_OFF near_ret
	SNIPPET_END
MARK near_ret_leaf
	ret

/* Returns that no call explains: a changed address, a pushed address. */
SNIPPET near_ret_odd
	TRACE_ON near_ret_odd
	call 1f
	ud2
1:	movq $near_ret_odd_1, (%rsp)
	ret
MARK near_ret_odd_1
	push $near_ret_odd_2
	ret
MARK near_ret_odd_2
	push $0
	push $near_ret_odd_3
	ret $8
MARK near_ret_odd_3
	TRACE_OFF near_ret_odd
	SNIPPET_END

/* A call of the next instruction must not be taken for one to return from. */
SNIPPET near_call_next
	TRACE_ON near_call_next
	call 1f
MARK near_call_next_1
	TRACE_OFF near_call_next
	SNIPPET_END
1:	.byte 0xe8; .long 0
	pop %rax
	ret

/* %r12 = snip_arg[0] nested calls. */
SNIPPET near_nested
	mov snip_arg, %r12
	TRACE_ON near_nested
	call 1f
MARK near_nested_outer
	TRACE_OFF near_nested
	SNIPPET_END
1:	dec %r12
	jz 2f
	call 1b
MARK near_nested_inner
2:	ret

/* Enough output between call and return that a PSB comes between. */
SNIPPET near_ret_psb
	mov snip_arg, %r12
	mov $near_ret_psb_loop, %ebx
	TRACE_ON near_ret_psb
	call 1f
MARK near_ret_psb_1
	TRACE_OFF near_ret_psb
	SNIPPET_END
1:	jmp *%rbx
MARK near_ret_psb_loop
	dec %r12
	jnz 1b
	ret

/* The call is not traced, its return is. */
SNIPPET near_ret_untraced_call
	call 1f
MARK near_ret_untraced_call_1
	TRACE_OFF near_ret_untraced_call
	SNIPPET_END
1:	TRACE_ON near_ret_untraced_call
	ret

/* A far transfer between a call and its return changes nothing. */
SNIPPET near_ret_far
	TRACE_ON near_ret_far
	call 1f
	TRACE_OFF near_ret_far
	SNIPPET_END
1:
MARK near_ret_far_insn
	int $0x70
MARK near_ret_far_1
	ret

/* REP and CMOV are no branches. */
SNIPPET near_no_branch
	mov $8, %ecx
	mov $snip_arg, %edi
	mov $snip_arg, %esi
	TRACE_ON near_no_branch
	mov $8, %ecx
	rep movsq
	xor %eax, %eax
	cmovz %ecx, %eax
	sete %al
	cpuid
	TRACE_OFF near_no_branch
	SNIPPET_END

/*
 * Each visit takes the next address of chain_table (%r12 its index): the copies
 * and the aliases of the first GiB give targets far and near of each other.
 */
SNIPPET ip_chain
	xor %r12d, %r12d
	TRACE_ON ip_chain
	jmp *chain_table
MARK ip_chain_end
	TRACE_OFF ip_chain
	SNIPPET_END

	.macro CHAIN_LINK
	inc %r12d
	jmp *chain_table(, %r12, 8)
	.endm

MARK chain_link_a
	CHAIN_LINK
	.balign 64
MARK chain_link_b
	CHAIN_LINK
	.skip 0x10000
MARK chain_link_far
	CHAIN_LINK

	.bss
	.balign 8
	.globl chain_table
chain_table: .skip 64 * 8

	.section .note.GNU-stack, "", @progbits
