/* SPDX-License-Identifier: GPL-2.0-only */
/* Traced sequences that halt, and that change the interrupt flag. */
#include "snippet.h"

/* The timer that C armed wakes the processor. */
SNIPPET power_hlt
	TRACE_ON power_hlt
	sti
MARK power_hlt_insn
	hlt
MARK power_hlt_back
	cli
	TRACE_OFF power_hlt
	SNIPPET_END

/* The same with prefixes that say nothing, at the WRMSR, too. */
SNIPPET power_prefixed
	WRITE_CTL snip_ctl_on
	.byte 0x3e, 0x3e
	wrmsr
MARK power_prefixed_on
	sti
MARK power_prefixed_insn
	.byte 0x3e
	hlt
MARK power_prefixed_back
	cli
	TRACE_OFF power_prefixed
	SNIPPET_END

/* MWAIT with snip_arg[0] as hints. */
SNIPPET power_mwait
	mov $power_monitored, %eax
	xor %ecx, %ecx
	xor %edx, %edx
	monitor
	mov snip_arg, %r12
	TRACE_ON power_mwait
	mov %r12, %rax
	xor %ecx, %ecx
	sti
MARK power_mwait_insn
	mwait
MARK power_mwait_back
	cli
	TRACE_OFF power_mwait
	SNIPPET_END

MARK power_irq_handler
	push %rax
	mov $LAPIC_EOI_REG, %eax
	movl $0, (%rax)
	pop %rax
	iretq

/* The interrupt flag by STI, CLI, POPF. */
SNIPPET event_flag
	pushfq
	pop %rbx
	mov %rbx, %rbp
	or $0x200, %rbp
	TRACE_ON event_flag
	sti
	nop
	cli
	nop
	push %rbp
	popfq
	nop
	push %rbx
	popfq
	nop
	sti
	sti
	nop
	cli
	cli
	TRACE_OFF event_flag
	SNIPPET_END

	.bss
	.balign 64
power_monitored: .skip 64
	.section .note.GNU-stack, "", @progbits
