/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A second processor: its way from the start-up interrupt to C, and a traced
 * loop that keeps everything in registers, for two processors at once. And the
 * sequence that asks for an SMI.
 */
#include "snippet.h"

#define CR0_PE		0x1

/* Copied to AP_TRAMPOLINE, where the start-up interrupt begins in real mode. */
MARK ap_trampoline
	.code16
	cli
	mov %cs, %ax
	mov %ax, %ds
	lgdtl ap_gdt_pointer - ap_trampoline
	mov %cr0, %eax
	or $CR0_PE, %eax
	mov %eax, %cr0
	ljmpl $SEL_CODE32, $ap_start32
	.balign 4
ap_gdt_pointer:
	.word gdt_limit
	.long gdt
	.globl ap_trampoline_end
ap_trampoline_end:
	.code32
MARK ap_start32
	mov $SEL_DATA, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	mov smp_stack, %esp
	call enter_long_mode
	ljmp $SEL_CODE64, $1f
	.code64
1:	call *smp_entry
2:	cli
	hlt
	jmp 2b

/* void smp_loop(u64 rounds, u64 ctl): a TIP and a TNT bit each round. */
	.globl smp_loop
smp_loop:
	push %rbx
	push %r12
	push %r13
	mov %rdi, %r12
	mov %rsi, %r13
	mov $2f, %ebx
	mov $MSR_RTIT_CTL_NR, %ecx
	mov %r13, %rax
	mov %r13, %rdx
	shr $32, %rdx
	wrmsr
1:	jmp *%rbx
2:	dec %r12
	jnz 1b
	mov $MSR_RTIT_CTL_NR, %ecx
	mov %r13, %rax
	mov %r13, %rdx
	shr $32, %rdx
	and $~1, %eax
	wrmsr
	pop %r13
	pop %r12
	pop %rbx
	ret

	/* void ap_spin(u64 ctl, volatile u32 *flag): traces a jump to itself, until INIT. */
	.globl ap_spin
ap_spin:
	mov %rsi, %r8
	mov $MSR_RTIT_CTL_NR, %ecx
	mov %rdi, %rax
	mov %rdi, %rdx
	shr $32, %rdx
	wrmsr
	movl $1, (%r8)
MARK ap_spin_insn
	jmp ap_spin_insn

SNIPPET smi_apm
	TRACE_ON smi_apm
	xor %eax, %eax
MARK smi_apm_insn
	out %al, $APM_PORT
MARK smi_apm_back
	nop
	xor %eax, %eax
	jz 1f
	ud2
1:	TRACE_OFF smi_apm
	SNIPPET_END

	.section .note.GNU-stack, "", @progbits
