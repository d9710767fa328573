/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Macros of the traced sequences. A sequence NAME begins with SNIPPET, turns
 * tracing on and off itself, and ends with SNIPPET_END. NAME_on is the
 * instruction after the WRMSR that enables, NAME_off the WRMSR that disables:
 * the addresses of the TIP.PGE and of the last FUP.
 */
#include "layout.h"

#define MSR_DEBUGCTL_NR		0x1d9
#define MSR_RTIT_CTL_NR		0x570
#define MSR_RTIT_OUTPUT_MASK_NR	0x561

#define EFLAGS_RESERVED		0x2
/* Where a write asks for an SMI */
#define APM_PORT		0xb2

/* Registers of the local APIC, and an NMI to this processor */
#define LAPIC_EOI_REG		0xfee000b0
#define LAPIC_ICR_REG		0xfee00300
#define ICR_SELF_NMI		0x00044400

	.macro SNIPPET name
	.text
	.code64
	.balign 64
	.globl \name, \name\()_on, \name\()_off
\name:
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, snip_stack
	.endm

	.macro WRITE_CTL value
	mov $MSR_RTIT_CTL_NR, %ecx
	mov \value, %eax
	mov \value + 4, %edx
	.endm

	.macro TRACE_ON name
	WRITE_CTL snip_ctl_on
	wrmsr
\name\()_on:
	.endm

	.macro TRACE_OFF name
	WRITE_CTL snip_ctl_off
\name\()_off:
	wrmsr
	.endm

	.macro SNIPPET_END
	mov snip_stack, %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	ret
	.endm

	.macro WRITE_DEBUGCTL value
	mov $MSR_DEBUGCTL_NR, %ecx
	mov \value, %eax
	mov \value + 4, %edx
	wrmsr
	.endm

	/* A stack for IRETQ. */
	.macro FRAME ss, sp, flags, cs, ip
	push $\ss
	push \sp
	push $(EFLAGS_RESERVED | \flags)
	push $\cs
	push $\ip
	.endm

	/* A label that C compares with. */
	.macro MARK name
	.globl \name
\name:
	.endm
