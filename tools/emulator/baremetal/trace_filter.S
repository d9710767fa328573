/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traced sequences for IP filters and TraceStop. FILTER_IN .. FILTER_END is
 * the range that C programs; code outside of it has branches as well.
 */
#include "snippet.h"

/* Entered and left by direct jumps. */
SNIPPET filter_direct
	TRACE_ON filter_direct
	xor %eax, %eax
	jz 1f
	ud2
1:	jmp filter_direct_in
	.balign 16
MARK filter_direct_out
	xor %eax, %eax
	jz 1f
	ud2
1:	TRACE_OFF filter_direct
	SNIPPET_END
	.balign 64
MARK filter_direct_in
	xor %eax, %eax
	jz 1f
	ud2
1:	jmp filter_direct_out
MARK filter_direct_end

/* Entered and left by indirect jumps. */
SNIPPET filter_indirect
	mov $filter_indirect_in, %ebx
	mov $filter_indirect_out, %ebp
	TRACE_ON filter_indirect
	jmp *%rbx
	.balign 16
MARK filter_indirect_out
	TRACE_OFF filter_indirect
	SNIPPET_END
	.balign 64
MARK filter_indirect_in
	jmp *%rbp
MARK filter_indirect_end

/* Entered and left by taken conditional jumps; before leaving one bit waits. */
SNIPPET filter_cond
	TRACE_ON filter_cond
	xor %eax, %eax
	jz filter_cond_in
	ud2
MARK filter_cond_out
	TRACE_OFF filter_cond
	SNIPPET_END
	.balign 64
MARK filter_cond_in
	xor %eax, %eax
	jnz 1f
1:	.byte 0x0f, 0x84	/* jz near */
	.long filter_cond_out - filter_cond_end
MARK filter_cond_end

/* The range is called and returns, DisRETC or not. */
SNIPPET filter_call
	TRACE_ON filter_call
	call filter_call_in
MARK filter_call_out
	TRACE_OFF filter_call
	SNIPPET_END
	.balign 64
MARK filter_call_in
	xor %eax, %eax
	jnz 1f
1:	ret
MARK filter_call_end

/* The range ends with a call: the RET of the procedure, which is in it, leaves it. */
SNIPPET filter_ret
	TRACE_ON filter_ret
	jmp filter_ret_in
	.balign 64
MARK filter_ret_in
	jmp 2f
1:	nop
	ret
2:	call 1b
MARK filter_ret_end
	TRACE_OFF filter_ret
	SNIPPET_END

/* An exception leaves the range, IRET comes back to it. */
SNIPPET filter_fault
	TRACE_ON filter_fault
	jmp filter_fault_in
	.balign 16
MARK filter_fault_out
	TRACE_OFF filter_fault
	SNIPPET_END
	.balign 64
MARK filter_fault_in
	nop
MARK filter_fault_insn
	ud2
MARK filter_fault_back
	jmp filter_fault_out
MARK filter_fault_end

/* Entered and left by sequential execution. */
SNIPPET filter_sequential
	mov $filter_sequential_out, %ebx
	TRACE_ON filter_sequential
	nop
	.balign 64, 0x90
MARK filter_sequential_in
	xor %eax, %eax
	jnz 1f
1:	jz 1f
	ud2
1:	nop
	.balign 64, 0x90
MARK filter_sequential_end
	jmp *%rbx
MARK filter_sequential_out
	xor %eax, %eax
	jz 1f
	ud2
1:	TRACE_OFF filter_sequential
	SNIPPET_END

/* Enabled inside the range, and still there when disabled. */
SNIPPET filter_inside
MARK filter_inside_in
	TRACE_ON filter_inside
	xor %eax, %eax
	jz 1f
	ud2
1:	TRACE_OFF filter_inside
MARK filter_inside_end
	SNIPPET_END

/* MOV CR3 with a CR3 filter: out of context, and back in. */
SNIPPET filter_cr3
	mov %cr3, %rbx
	mov $pml4_other, %ebp
	mov $filter_cr3_hidden, %r12d
	TRACE_ON filter_cr3
	mov %rbp, %cr3
	xor %eax, %eax
	jz 1f
	ud2
1:	jmp *%r12
MARK filter_cr3_hidden
	mov %rbx, %cr3
MARK filter_cr3_back
	xor %eax, %eax
	jz 1f
	ud2
1:	TRACE_OFF filter_cr3
	SNIPPET_END

/* snip_arg[0] rounds of branches in the range and out of it; the last goes to filter_hop_stop. */
SNIPPET filter_hop
	mov snip_arg, %r12
	mov $filter_hop_in, %ebx
	mov $filter_hop_out, %ebp
	TRACE_ON filter_hop
	jmp *%rbx
	.balign 16
MARK filter_hop_out
	dec %r12
	jz filter_hop_stop
	jmp 1f
1:	jmp 1f
1:	jmp *%rbx
	.balign 16
MARK filter_hop_stop
	TRACE_OFF filter_hop
MARK filter_hop_stop_end
	SNIPPET_END
	.balign 64
MARK filter_hop_in
	xor %eax, %eax
	jz 1f
	ud2
1:	jmp *%rbp
MARK filter_hop_end

	.section .note.GNU-stack, "", @progbits
