/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A loop of one branch of each near kind, all of them labelled, for last
 * branch records: whoever samples it may see these branches and no others.
 */
#include <asm/unistd.h>

#define LOOPS	200000

	.globl	_start, work, leaf, jcc_from, jcc_to, jmp_from, jmp_to
	.globl	call_from, ind_call_from, ind_jmp_from, ind_jmp_to
	.globl	ret_from, call_ret, ind_call_ret, loop_from, loop_to
	.text
_start:
	mov	$LOOPS, %ebx
	call	work
	xor	%edi, %edi
	mov	$__NR_exit, %eax
	syscall

work:
loop_to:
	cmp	%eax, %eax
jcc_from:
	je	jcc_to
	ud2
jcc_to:
	nop
jmp_from:
	jmp	jmp_to
	ud2
jmp_to:
	nop
call_from:
	call	leaf
call_ret:
	lea	leaf(%rip), %rax
ind_call_from:
	call	*%rax
ind_call_ret:
	lea	ind_jmp_to(%rip), %rax
ind_jmp_from:
	jmp	*%rax
	ud2
ind_jmp_to:
	dec	%ebx
loop_from:
	jnz	loop_to
	ret

leaf:	nop
ret_from:
	ret
