/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sequences that are stepped (EFLAGS.TF) from branch to branch (DEBUGCTL.BTF), and the handler of
 * the steps. snip_arg[1] goes to DEBUGCTL before TF is set, and what step_again holds with each
 * step. A sequence leaves with TF clear; the caller clears DEBUGCTL.
 */
#include "snippet.h"
#include "step.h"

#define EFLAGS_TF		0x100
#define EFLAGS_IF		0x200
#define EFLAGS_RF		0x10000
#define DR6_CLEAR		0xffff0ff0
#define DR7_CLEAR		0x400

	.macro SET_TF
	pushfq
	orl $EFLAGS_TF, (%rsp)
	popfq
	.endm

	/* The jump, in between, is none that TF applies to. */
	.macro STEP_ON name
	WRITE_DEBUGCTL (snip_arg + 8)
MARK \name\()_before
	jmp 1f
1:
MARK \name\()_ready
	SET_TF
	.endm

	.macro STEP_OFF
	pushfq
	andl $~EFLAGS_TF, (%rsp)
	popfq
	.endm

	/* Writes down IP and EFLAGS that an event has pushed. */
	.macro WRITE_FRAME
	push %rax
	mov 8(%rsp), %rax
	mov %rax, step_frame
	mov 24(%rsp), %rax
	mov %rax, step_frame + 8
	pop %rax
	.endm

	.text
/* Writes down IP, DEBUGCTL and DR6 of a debug exception. There is no branch in it. */
MARK step_handler
	push %rax
	push %rcx
	push %rdx
	push %rbx
	mov step_count, %ebx
	and $(STEP_LOG - 1), %ebx
	lea (%rbx, %rbx, 2), %ebx
	mov 32(%rsp), %rax
	mov %rax, step_log(, %rbx, 8)
	mov $MSR_DEBUGCTL_NR, %ecx
	rdmsr
	mov %eax, step_log + 8(, %rbx, 8)
	mov %edx, step_log + 12(, %rbx, 8)
	mov %db6, %rax
	mov %rax, step_log + 16(, %rbx, 8)
	mov $DR6_CLEAR, %eax
	mov %rax, %db6
	mov $DR7_CLEAR, %eax
	mov %rax, %db7
	incl step_count
	WRITE_DEBUGCTL step_again
	pop %rbx
	pop %rdx
	pop %rcx
	pop %rax
MARK step_handler_iret
	iretq

/* Each kind of branch, taken and not, and instructions that are none. */
SNIPPET step_kinds
	mov $step_8, %ebx
	mov $step_leaf, %ebp
	mov $step_bytes, %esi
	mov $step_bytes + 8, %edi
	push $SEL_CODE64
	push $step_16
	STEP_ON step_kinds
MARK step_0
	jmp step_1		/* to the next instruction */
MARK step_1
	nop
MARK step_2
	jmp step_3
	ud2
MARK step_3
	xor %eax, %eax
MARK step_4
	jnz step_3		/* not taken */
MARK step_5
	jz step_6
	ud2
MARK step_6
	call step_leaf		/* and RET */
MARK step_7
	jmp *%rbx
	ud2
MARK step_8
	call *%rbp		/* and RET */
MARK step_9
	mov $2, %ecx
MARK step_10
	loop step_10		/* taken once */
MARK step_11
	jrcxz step_12
	ud2
MARK step_12
	mov $3, %ecx
MARK step_13
	rep movsb
MARK step_14
	rex.w ljmp *step_pointer
	ud2
MARK step_15
	lretq
	ud2
MARK step_16
	call step_17		/* to the next instruction */
MARK step_17
	pushfq
MARK step_18
	andl $~EFLAGS_TF, (%rsp)
MARK step_19
	popfq			/* TF still applies to it */
MARK step_20
	jmp 1f
1:
	SNIPPET_END
MARK step_leaf
	ret

/* IRET: it is TF before it that counts. */
SNIPPET step_iret
	STEP_ON step_iret
	mov %rsp, %rax
	FRAME SEL_DATA, %rax, EFLAGS_TF, SEL_CODE64, step_iret_first
	iretq
	ud2
MARK step_iret_first
	nop
	jmp 1f
	ud2
1:
MARK step_iret_second
	mov %rsp, %rax
	FRAME SEL_DATA, %rax, 0, SEL_CODE64, step_iret_third
	iretq
	ud2
MARK step_iret_third
	jmp 1f
1:
	SNIPPET_END

/* User code, stepped from its second instruction on, which leaves by an interrupt. */
SNIPPET step_user
	FRAME SEL_USER_DATA, $step_stack, EFLAGS_TF, SEL_USER64, step_user_start
	WRITE_DEBUGCTL (snip_arg + 8)
	iretq
MARK step_user_start
	nop
	jmp 1f
	ud2
1:
MARK step_user_target
	nop
	int $STEP_VECTOR
	ud2
MARK step_user_handler
	jmp 1f
1:
	nop
	SNIPPET_END

/* The same with 32 bits. */
SNIPPET step_user32
	FRAME SEL_USER_DATA, $step_stack, EFLAGS_TF, SEL_USER32, step_user32_start
	WRITE_DEBUGCTL (snip_arg + 8)
	iretq
	.code32
MARK step_user32_start
	mov $step_user32_leaf, %eax
	call *%eax
MARK step_user32_back
	xor %ecx, %ecx
	jnz step_user32_start
	jecxz 1f
	ud2
1:
MARK step_user32_jecxz
	nop
	jmp 1f
1:
MARK step_user32_next
	ljmp $SEL_USER32, $step_user32_far
	ud2
MARK step_user32_far
	nop
	int $STEP_VECTOR
	ud2
MARK step_user32_leaf
	nop
	ret
	.code64

/* SYSCALL and SYSRET: it is TF after them that counts. */
SNIPPET step_syscall
	FRAME SEL_USER_DATA, $step_stack, EFLAGS_TF, SEL_USER64, step_syscall_start
	WRITE_DEBUGCTL (snip_arg + 8)
	iretq
MARK step_syscall_start
	nop
	syscall
MARK step_syscall_back
	nop
	int $STEP_VECTOR
	ud2
MARK step_syscall_entry
	jmp 1f
1:
MARK step_syscall_next
	sysretq

SNIPPET step_sysenter
	FRAME SEL_USER_DATA, $step_stack, EFLAGS_TF, SEL_USER64, step_sysenter_start
	WRITE_DEBUGCTL (snip_arg + 8)
	iretq
MARK step_sysenter_start
	nop
	sysenter
	ud2
MARK step_sysenter_entry
	mov $step_sysenter_back, %edx
	mov $step_stack, %ecx
	sysexitl
	ud2
	.code32
MARK step_sysenter_back
	nop
	int $STEP_VECTOR
	ud2
	.code64

/* A jump that faults; its handler has a branch. */
SNIPPET step_fault
	movabs $UNMAPPED, %rbx
	STEP_ON step_fault
	jmp *(%rbx)
	ud2
MARK step_fault_handler
	jmp 1f
1:
	nop
	SNIPPET_END

/* HLT, which the next interrupt of a timer ends. */
SNIPPET step_hlt
	STEP_ON step_hlt
	sti
MARK step_hlt_insn
	hlt
MARK step_hlt_after
	nop
	cli
	jmp 1f
	ud2
1:
MARK step_hlt_target
	STEP_OFF
	SNIPPET_END

/* The WRMSR that sets BTF while TF is set; BTF was set before, too, and then there was a jump. */
SNIPPET step_late
	WRITE_DEBUGCTL (snip_arg + 8)
	jmp 1f
1:
	xor %eax, %eax
	xor %edx, %edx
	wrmsr
	mov snip_arg + 8, %eax
	mov snip_arg + 12, %edx
	SET_TF
	wrmsr
	nop
	jmp 1f
	ud2
1:
MARK step_late_target
	STEP_OFF
	SNIPPET_END

/* Debug exceptions that are no steps: of breakpoints at step_break_insn, step_bytes; INT1. */
SNIPPET step_break
	WRITE_DEBUGCTL (snip_arg + 8)
	nop
MARK step_break_insn
	nop
	.byte 0xf1
MARK step_break_int1
	SNIPPET_END

/* An interrupt that is pending comes where the breakpoint is: there STI's shadow ends. */
SNIPPET step_irq
	sti
	nop
MARK step_irq_insn
	nop
	cli
	SNIPPET_END

/* The same where IRET lets the instruction be executed without the breakpoint, by RF. */
SNIPPET step_irq_rf
	mov %rsp, %rax
	FRAME SEL_DATA, %rax, (EFLAGS_IF | EFLAGS_RF), SEL_CODE64, step_irq_rf_insn
	iretq
	ud2
MARK step_irq_rf_insn
	nop
	cli
	SNIPPET_END

/* An NMI; where it comes is not known. */
SNIPPET step_nmi
	mov $LAPIC_ICR_REG, %ebx
	movl $ICR_SELF_NMI, (%rbx)
	nop
	cpuid
	nop
	SNIPPET_END

/* A fault, whose handler leaves the instruction out. */
SNIPPET step_ud
MARK step_ud_insn
	ud2
	SNIPPET_END
MARK step_ud_handler
	WRITE_FRAME
	addq $2, (%rsp)
	iretq

MARK step_irq_handler
	WRITE_FRAME
	push %rax
	mov $LAPIC_EOI_REG, %eax
	movl $0, (%rax)
	pop %rax
	iretq

MARK step_nmi_handler
	WRITE_FRAME
	iretq

/* A store to where a data breakpoint is, under TF, then a jump. */
SNIPPET step_data
	STEP_ON step_data
	movb $1, step_bytes
MARK step_data_after
	nop
	jmp 1f
	ud2
1:
MARK step_data_target
	STEP_OFF
	SNIPPET_END

/* An SMI, whose handler is firmware's. */
SNIPPET step_smi
	STEP_ON step_smi
	xor %eax, %eax
	out %al, $APM_PORT
	nop
	jmp 1f
	ud2
1:
MARK step_smi_target
	STEP_OFF
	SNIPPET_END

	.data
	.balign 8
step_pointer:
	.quad step_15
	.word SEL_CODE64
	.bss
	.balign 16
	.globl step_log, step_count, step_again, step_bytes, step_frame
step_log:	.skip 24 * STEP_LOG
step_again:	.skip 8
step_frame:	.skip 16
step_bytes:	.skip 16
step_count:	.skip 4
	.balign 16
	.skip 256
step_stack:
	.section .note.GNU-stack, "", @progbits
