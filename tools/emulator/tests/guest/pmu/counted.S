/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program whose instructions and branches can be counted by hand.  It is
 * static and has no C library, so that nothing else runs in user mode.
 *
 * The symbols all_insns and all_branches are what a counter must show for the
 * whole program, to the last one.
 */
#include <asm/unistd.h>

#define LOOPS	100000
#define CALLS	1000
#define PAGES	64
#define COPY	70000		/* more than one piece of a REP in the emulator */

	.globl	_start
	.text
_start:
	mov	$LOOPS, %ecx			/* 1 */
1:	dec	%ecx				/* 2 * LOOPS, LOOPS branches */
	jnz	1b

	mov	$CALLS, %ecx			/* 1 */
2:	call	leaf				/* 5 * CALLS, 3 * CALLS branches */
	dec	%ecx
	jnz	2b

	lea	pages(%rip), %rdi		/* 2 */
	mov	$PAGES, %ecx
3:	movb	$1, (%rdi)			/* 4 * PAGES, PAGES branches; each faults */
	add	$4096, %rdi
	dec	%ecx
	jnz	3b

	lea	source(%rip), %rsi		/* 4: REP counts once, faults or not */
	lea	target(%rip), %rdi
	mov	$COPY, %ecx
	rep movsb

	lea	table(%rip), %rax		/* 5, 3 branches */
	call	*(%rax)
	jmp	4f
	nop
4:	xor	%edi, %edi			/* 3, 1 branch: SYSCALL is a far one */
	mov	$__NR_exit, %eax
	syscall

leaf:	nop
	ret

	.data
	.balign	8
table:	.quad	leaf

	.bss
	.balign	4096
pages:	.skip	4096 * PAGES
source:	.skip	COPY
	.balign 4096
target:	.skip	COPY

	.globl	all_insns, all_branches
	.set	all_insns, 2 + 2 * LOOPS + 5 * CALLS + 2 + 4 * PAGES + 4 + 5 + 3
	.set	all_branches, LOOPS + 3 * CALLS + PAGES + 4
