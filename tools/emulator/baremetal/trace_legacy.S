/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traced sequences outside of long mode: 32-bit protected mode without paging,
 * virtual-8086 mode and real mode. Each leaves long mode, traces, and returns.
 */
#include "snippet.h"

#define CR0_PG			0x80000000
#define CR0_PE			0x1
#define MSR_EFER_NR		0xc0000080
#define EFER_LME_BIT		8
#define EFLAGS_VM_IOPL3		0x00023002
#define TSS_BUSY_BYTE		5
#define TSS_AVAILABLE_64	0x89
#define TSS_AVAILABLE_32	0x89

	/* 64-bit mode to 32-bit protected mode, paging off; clobbers %eax, %ecx, %edx. */
	.macro LEAVE_LONG_MODE
	sidt saved_idt
	mov $SEL_DATA, %eax
	mov %eax, %ss
	mov %eax, %ds
	mov %eax, %es
	ljmp *1f
	.data
	.balign 8
1:	.long 2f
	.word SEL_CODE32
	.text
	.code32
2:	mov %cr0, %eax
	and $~CR0_PG, %eax
	mov %eax, %cr0
	mov $MSR_EFER_NR, %ecx
	rdmsr
	btr $EFER_LME_BIT, %eax
	wrmsr
	lidt legacy_idt_pointer
	movb $TSS_AVAILABLE_32, gdt + SEL_TSS32 + TSS_BUSY_BYTE
	mov $SEL_TSS32, %eax
	ltr %ax
	.endm

	/* And back; the stack is the boot stack's end until SNIPPET_END. */
	.macro ENTER_LONG_MODE
	mov $SEL_DATA, %eax
	mov %eax, %ss
	mov %eax, %ds
	mov %eax, %es
	mov $legacy_stack_end, %esp
	call enter_long_mode
	ljmp $SEL_CODE64, $1f
	.code64
1:	lidt saved_idt
	movb $TSS_AVAILABLE_64, gdt + SEL_TSS + TSS_BUSY_BYTE
	mov $SEL_TSS, %eax
	ltr %ax
	.endm

/* Branches and a far jump in 32-bit protected mode. */
SNIPPET legacy_pm
	LEAVE_LONG_MODE
	TRACE_ON legacy_pm
	xor %eax, %eax
	jz 1f
	ud2
1:	mov $legacy_pm_1, %ebx
	jmp *%ebx
MARK legacy_pm_1
	ljmp $SEL_CODE32, $legacy_pm_2
MARK legacy_pm_2
	mov %cr3, %eax
	mov %eax, %cr3
	TRACE_OFF legacy_pm
	ENTER_LONG_MODE
	SNIPPET_END

/* An interrupt that is pending comes when STI's shadow is over; its EFLAGS are written down. */
SNIPPET legacy_irq
	LEAVE_LONG_MODE
	sti
	nop
MARK legacy_irq_insn
	nop
	cli
	ENTER_LONG_MODE
	SNIPPET_END
	.code32
MARK legacy_irq_handler
	mov (%esp), %eax
	mov %eax, legacy_irq_ip
	mov 8(%esp), %eax
	mov %eax, legacy_irq_eflags
	movl $0, LAPIC_EOI_REG
	iretl
	.code64

/* A jump to another task. */
SNIPPET legacy_task
	LEAVE_LONG_MODE
	movb $TSS_AVAILABLE_32, gdt + SEL_TASK32 + TSS_BUSY_BYTE
	TRACE_ON legacy_task
	ljmp $SEL_TASK32, $0
	ud2
MARK legacy_task_target
	TRACE_OFF legacy_task
	ENTER_LONG_MODE
	SNIPPET_END

/* IRET to virtual-8086 mode, where snip_arg[0] is the segment of v86_code. */
SNIPPET legacy_v86
	LEAVE_LONG_MODE
	TRACE_ON legacy_v86
	pushl $0		/* gs */
	pushl $0		/* fs */
	pushl $0		/* ds */
	pushl $0		/* es */
	pushl snip_arg		/* ss */
	pushl $0x800
	pushl $EFLAGS_VM_IOPL3
	pushl snip_arg		/* cs */
	pushl $0
	iretl
MARK legacy_v86_handler
	mov $SEL_DATA, %eax
	mov %eax, %ds
	TRACE_OFF legacy_v86
	ENTER_LONG_MODE
	SNIPPET_END

/* Copied to low memory: one taken Jcc, an indirect jump, INT 0x71. */
MARK v86_code
	.code16
	xor %ax, %ax
	jz 1f
	ud2
1:	mov $(2f - v86_code), %bx
	jmp *%bx
2:
	.globl v86_code_mid
v86_code_mid:
	int $0x71
	.globl v86_code_end
v86_code_end:
	.code64

/* Protected mode to real mode and back, tracing on all the way. */
SNIPPET legacy_real
	LEAVE_LONG_MODE
	lidt real_idt_pointer
	TRACE_ON legacy_real
	ljmp $SEL_CODE16, $0
MARK legacy_real_back
	mov $SEL_DATA, %eax
	mov %eax, %ds
	TRACE_OFF legacy_real
	ENTER_LONG_MODE
	SNIPPET_END

/* Copied to low memory; SEL_CODE16 has its base, snip_arg[0] is its segment. */
MARK real_code
	.code16
	mov %cr0, %eax
	and $~CR0_PE, %eax
	mov %eax, %cr0
	.byte 0xea		/* far jump to the segment that C fills in */
	.word 1f - real_code
	.globl real_code_segment
real_code_segment:
	.word 0
1:	.globl real_code_1
real_code_1:
	xor %ax, %ax
	jz 1f
	ud2
1:	mov $(2f - real_code), %bx
	jmp *%bx
2:	.globl real_code_2
real_code_2:
	.byte 0xcd, 0x71	/* int 0x71: the vector leads to real_code_handler */
	.globl real_code_3
real_code_3:
	mov %cr0, %eax
	or $CR0_PE, %eax
	mov %eax, %cr0
	ljmpl $SEL_CODE32, $legacy_real_back
	.globl real_code_handler
real_code_handler:
	iret
	.globl real_code_end
real_code_end:
	.code64

	.data
	.balign 8
	.globl legacy_idt_pointer, real_idt_pointer
legacy_idt_pointer:
	.word 0x7ff
	.long legacy_idt
	.balign 8
real_idt_pointer:
	.word 0x3ff
	.long real_idt

	.bss
	.balign 16
	.globl legacy_idt, real_idt, legacy_stack_end, legacy_irq_ip, legacy_irq_eflags
legacy_irq_ip: .skip 4
legacy_irq_eflags: .skip 4
	.balign 16
legacy_idt: .skip 0x800
real_idt: .skip 0x400
saved_idt: .skip 16
	.skip 4096
legacy_stack_end:
	.section .note.GNU-stack, "", @progbits
