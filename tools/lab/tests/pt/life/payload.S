/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel that a crash ends in, as far as traces go: it says on the serial line
 * what each of two CPUs has in IA32_RTIT_CTL and in IA32_DEBUGCTL, and resets the
 * machine.
 *
 * It is entered on the boot CPU in 64-bit mode, with all memory mapped where it
 * is, and may lie anywhere. The other CPU halts where the crash has stopped it;
 * INIT and SIPI let it tell. They leave the former register alone, and the latter if
 * the processor has x-bts-init-keeps.
 */
#define MSR_APIC_BASE	0x1b
#define MSR_DEBUGCTL	0x1d9
#define MSR_RTIT_CTL	0x570
#define MSR_X2APIC_ICR	0x830
#define X2APIC_ENABLE	0x400

/* To all but the sender */
#define ICR_INIT	0xc4500
#define ICR_STARTUP	0xc4600

/* Where a CPU can begin in real mode, and the answers at the end of that page */
#define START		0x8000
#define STORES		(START + 0xfe8)
#define ANSWER		(START + 0xff0)
#define TOLD		(START + 0xff8)

#define SERIAL		0x3f8
#define SERIAL_STATUS	0x3fd
#define SERIAL_EMPTY	0x20

#define PATIENCE	100000000

	.section .rodata
	.globl	payload, payload_end
	.code64
payload:
	leaq	stack_top(%rip), %rsp
	leaq	boot_says(%rip), %rsi
	call	print
	movl	$MSR_RTIT_CTL, %ecx
	rdmsr
	call	print_edx_eax
	leaq	boot_stores(%rip), %rsi
	call	print
	movl	$MSR_DEBUGCTL, %ecx
	rdmsr
	call	print_edx_eax

	/* Without a mapping of the APIC's page, by registers. */
	movl	$MSR_APIC_BASE, %ecx
	rdmsr
	orl	$X2APIC_ENABLE, %eax
	wrmsr

	movl	$0, TOLD
	leaq	other_cpu(%rip), %rsi
	movl	$START, %edi
	movl	$(other_cpu_end - other_cpu), %ecx
	rep movsb

	movl	$ICR_INIT, %eax
	call	send
	movl	$(ICR_STARTUP + START / 0x1000), %eax
	call	send
	movl	$PATIENCE, %ecx
1:	pause
	cmpl	$0, TOLD
	loope	1b
	je	2f

	leaq	other_says(%rip), %rsi
	call	print
	movl	ANSWER, %eax
	movl	ANSWER + 4, %edx
	call	print_edx_eax
	leaq	other_stores(%rip), %rsi
	call	print
	movl	STORES, %eax
	movl	STORES + 4, %edx
	call	print_edx_eax
2:	leaq	bye(%rip), %rsi
	call	print
	/* A fault that nobody handles resets the machine. */
	lidt	no_idt(%rip)
	ud2

send:
	xorl	%edx, %edx
	movl	$MSR_X2APIC_ICR, %ecx
	wrmsr
	ret

/* The text at %rsi, which ends with 0 */
print:
	lodsb
	testb	%al, %al
	jz	1f
	call	print_char
	jmp	print
1:	ret

print_edx_eax:
	shlq	$32, %rdx
	movl	%eax, %eax
	orq	%rax, %rdx
	movq	%rdx, %rbx
	movl	$16, %ecx
1:	rolq	$4, %rbx
	movl	%ebx, %eax
	andl	$15, %eax
	leaq	digits(%rip), %rdx
	movb	(%rdx, %rax), %al
	call	print_char
	loop	1b
	movb	$'\n', %al

print_char:
	movb	%al, %ah
	movw	$SERIAL_STATUS, %dx
1:	inb	%dx, %al
	testb	$SERIAL_EMPTY, %al
	jz	1b
	movb	%ah, %al
	movw	$SERIAL, %dx
	outb	%al, %dx
	ret

	.code16
other_cpu:
	xorw	%ax, %ax
	movw	%ax, %ds
	movl	$MSR_RTIT_CTL, %ecx
	rdmsr
	movl	%eax, ANSWER
	movl	%edx, ANSWER + 4
	movl	$MSR_DEBUGCTL, %ecx
	rdmsr
	movl	%eax, STORES
	movl	%edx, STORES + 4
	movl	$1, TOLD
1:	hlt
	jmp	1b
other_cpu_end:

	.balign	8
no_idt:
	.fill	10, 1, 0
digits:
	.ascii	"0123456789abcdef"
boot_says:
	.asciz	"\npayload: boot CPU: RTIT_CTL "
boot_stores:
	.asciz	"payload: boot CPU: DEBUGCTL "
other_says:
	.asciz	"payload: other CPU: RTIT_CTL "
other_stores:
	.asciz	"payload: other CPU: DEBUGCTL "
bye:
	.asciz	"payload: done\n"
	.balign	16
	.fill	512, 1, 0
stack_top:
payload_end:

	.section .note.GNU-stack, "", @progbits
