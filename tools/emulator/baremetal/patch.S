/* SPDX-License-Identifier: GPL-2.0-only */
/* Handlers of the processors that execute code while another one patches it. */
#include "layout.h"

#define LAPIC_EOI_ADDRESS	0xfee000b0
/* What a routine returns instead of its number: -1. */
#define PATCH_BREAKPOINT	0xffffffff
#define PAGE_BYTES		4096
#define IMM32_BYTES		4
/* Of what an exception pushes. */
#define FRAME_RSP		24

	.text
	.code64
	/* The IPI. IRET is what makes a processor see patched code, as in Linux. */
	.globl patch_ipi
patch_ipi:
	push %rax
	mov $LAPIC_EOI_ADDRESS, %eax
	movl $0, (%rax)
	lock incl patch_acks
	pop %rax
	iretq

	/*
	 * INT3 in the place of MOV imm32, %eax. On odd pages the RET behind it comes
	 * next, so that such a page always has code; on even ones nothing of the page.
	 */
	.globl patch_breakpoint
patch_breakpoint:
	mov $PATCH_BREAKPOINT, %eax
	testl $PAGE_BYTES, (%rsp)
	jnz 1f
	mov FRAME_RSP(%rsp), %rdx
	mov (%rdx), %rdx
	mov %rdx, (%rsp)
	addq $8, FRAME_RSP(%rsp)
	iretq
1:	addq $IMM32_BYTES, (%rsp)
	iretq
	.section .note.GNU-stack, "", @progbits
