/* SPDX-License-Identifier: GPL-2.0-only */
/* Traced sequences of far transfers within ring 0: gates, exceptions, interrupts. */
#include "snippet.h"

#define EFLAGS_TF	0x100
#define ICR_SELF_FIXED	0x00044000
/* The last bytes of the mapping of ALIAS_4G. */
#define EDGE_OF_MAP	0x13ffffff0

/* INT n: snip_arg's gate 0x70 leads to far_int_handler. */
SNIPPET far_int
	TRACE_ON far_int
MARK far_int_insn
	int $0x70
MARK far_int_back
	TRACE_OFF far_int
	SNIPPET_END
MARK far_iret
	iretq

SNIPPET far_int3
	TRACE_ON far_int3
MARK far_int3_insn
	int3
MARK far_int3_back
	TRACE_OFF far_int3
	SNIPPET_END

SNIPPET far_int1
	TRACE_ON far_int1
MARK far_int1_insn
	.byte 0x3e, 0xf1	/* INT1, with a prefix that says nothing */
MARK far_int1_back
	TRACE_OFF far_int1
	SNIPPET_END

/* A fault: the handler steps over the UD2. */
SNIPPET far_ud2
	TRACE_ON far_ud2
MARK far_ud2_insn
	ud2
MARK far_ud2_back
	TRACE_OFF far_ud2
	SNIPPET_END
MARK far_skip2_handler
	addq $2, (%rsp)
	iretq
MARK far_skip2_end

/* snip_arg[0] rounds of INT n, IRET, and a branch. */
SNIPPET far_int_loop
	mov snip_arg, %r12
	TRACE_ON far_int_loop
1:	int $0x70
	dec %r12
	jnz 1b
	TRACE_OFF far_int_loop
	SNIPPET_END

/* A page fault with an error code. */
SNIPPET far_pf
	movabs $UNMAPPED, %rbx
	TRACE_ON far_pf
MARK far_pf_insn
	movb (%rbx), %al	/* two bytes */
MARK far_pf_back
	TRACE_OFF far_pf
	SNIPPET_END
MARK far_pf_handler
	add $8, %rsp
	addq $2, (%rsp)
	iretq

/* A fault at the target of a jump: TIP of the jump, FUP at the target. */
SNIPPET far_pf_target
	movabs $UNMAPPED, %rbx
	TRACE_ON far_pf_target
	jmp *%rbx
MARK far_pf_target_back
	TRACE_OFF far_pf_target
	SNIPPET_END
MARK far_pf_target_handler
	add $8, %rsp
	movq $far_pf_target_back, (%rsp)
	iretq

/* A string instruction that faults in its middle: no packet for the rounds before. */
SNIPPET far_rep_fault
	movabs $EDGE_OF_MAP, %rdi
	xor %eax, %eax
	TRACE_ON far_rep_fault
	xor %eax, %eax
	mov $32, %ecx
MARK far_rep_insn
	rep stosb
	mov %rcx, snip_arg + 8
	TRACE_OFF far_rep_fault
	SNIPPET_END
MARK far_rep_handler
	add $8, %rsp
	mov %rcx, snip_arg
	xor %ecx, %ecx
	iretq

/* The trap of a single step: after the instruction. */
SNIPPET far_single_step
	TRACE_ON far_single_step
	pushfq
	orq $EFLAGS_TF, (%rsp)
	popfq
	nop			/* the trap comes behind this one */
MARK far_single_step_back
	TRACE_OFF far_single_step
	SNIPPET_END
MARK far_single_step_handler
	andq $~EFLAGS_TF, 16(%rsp)
	iretq

/* An interrupt, taken when the shadow of STI is over. */
SNIPPET far_irq
	mov $LAPIC_ICR_REG, %ebx
	mov snip_arg, %eax
	or $ICR_SELF_FIXED, %eax
	mov %eax, (%rbx)
	TRACE_ON far_irq
	sti
	nop
MARK far_irq_back
	cli
	TRACE_OFF far_irq
	SNIPPET_END
MARK far_irq_handler
	mov $LAPIC_EOI_REG, %ebx
	movl $0, (%rbx)
	iretq

/* An NMI by the local APIC; where it is taken is for the trace to say. */
SNIPPET far_nmi
	mov $LAPIC_ICR_REG, %ebx
	TRACE_ON far_nmi
	movl $ICR_SELF_NMI, (%rbx)
MARK far_nmi_first
	nop
	nop
	cpuid
	nop
	nop
MARK far_nmi_last
	TRACE_OFF far_nmi
	SNIPPET_END

SNIPPET far_jmp
	TRACE_ON far_jmp
	rex.w ljmp *far_jmp_pointer
	ud2
MARK far_jmp_target
	TRACE_OFF far_jmp
	SNIPPET_END

/* Far call and return, directly and through a call gate. */
SNIPPET far_call
	TRACE_ON far_call
	rex.w lcall *far_call_pointer
MARK far_call_back
	TRACE_OFF far_call
	SNIPPET_END
MARK far_call_target
	lretq

SNIPPET far_call_gate
	TRACE_ON far_call_gate
	lcall *far_gate_pointer
MARK far_call_gate_back
	TRACE_OFF far_call_gate
	SNIPPET_END

/* A WRMSR that may not be: the change is refused, tracing goes on. */
SNIPPET far_wrmsr_fault
	TRACE_ON far_wrmsr_fault
	xor $8, %eax		/* User, while TraceEn is set */
MARK far_wrmsr_fault_insn
	wrmsr
MARK far_wrmsr_fault_back
	xor %eax, %eax
	jz 1f
	ud2
1:	TRACE_OFF far_wrmsr_fault
	SNIPPET_END

	/* PIP: another root, and back. */
SNIPPET far_cr3
	mov %cr3, %rbx
	mov $pml4_other, %ebp
	TRACE_ON far_cr3
	mov %rbp, %cr3
MARK far_cr3_other
	nop
	mov %rbx, %cr3
MARK far_cr3_back
	nop
	mov %rbx, %cr3
	TRACE_OFF far_cr3
	SNIPPET_END

	/* A conditional jump between two writes of CR3: the order of TNT and PIP. */
SNIPPET far_cr3_order
	mov %cr3, %rbx
	TRACE_ON far_cr3_order
	xor %eax, %eax
	jz 1f
	ud2
1:	mov %rbx, %cr3
	jnz 1f
1:	mov %rbx, %cr3
	TRACE_OFF far_cr3_order
	SNIPPET_END

	/* Execution runs into the canonical hole: the fault's IP is not canonical. */
SNIPPET far_non_canonical
	movabs $CANON_EDGE - 1, %rbx
	TRACE_ON far_non_canonical
	jmp *%rbx
MARK far_non_canonical_back
	TRACE_OFF far_non_canonical
	SNIPPET_END
MARK far_non_canonical_handler
	add $8, %rsp
	movq $far_non_canonical_back, (%rsp)
	iretq

	.data
	.balign 8
far_jmp_pointer:
	.quad far_jmp_target
	.word SEL_CODE64
	.balign 8
far_call_pointer:
	.quad far_call_target
	.word SEL_CODE64
	.balign 8
far_gate_pointer:
	.long 0
	.word SEL_CALL_GATE
	.section .note.GNU-stack, "", @progbits
