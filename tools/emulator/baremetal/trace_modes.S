/* SPDX-License-Identifier: GPL-2.0-only */
/* Traced sequences through 32-bit and 16-bit code segments of ring 0 in long mode. */
#include "snippet.h"

	/* The stack segment is null after an interrupt from ring 3. */
	.macro LOAD_SS
	mov $SEL_DATA, %eax
	mov %eax, %ss
	.endm

/* To 32-bit code, branches there, and back. */
SNIPPET modes_32
	LOAD_SS
	TRACE_ON modes_32
	ljmp *modes_32_pointer
	.code32
MARK modes_32_start
	xor %eax, %eax
	jz 1f
	ud2
1:	mov $modes_32_mid, %ebx
	jmp *%ebx
MARK modes_32_mid
	call modes_32_leaf
	ljmp $SEL_CODE64, $modes_32_back
MARK modes_32_leaf
	ret
	.code64
MARK modes_32_back
	TRACE_OFF modes_32
	SNIPPET_END

/* The segment's base is modes_16_base, which C puts into the descriptor. */
SNIPPET modes_16
	LOAD_SS
	TRACE_ON modes_16
	ljmp *modes_16_pointer
MARK modes_16_base
	.skip 32, 0x90
	.code16
MARK modes_16_start
	xor %eax, %eax
	jz 1f
	ud2
1:	mov $(modes_16_mid - modes_16_base), %bx
	jmp *%bx
MARK modes_16_mid
	call 2f
	ljmpl $SEL_CODE64, $modes_16_back
2:	ret
	.code64
MARK modes_16_back
	TRACE_OFF modes_16
	SNIPPET_END

/* Enabled and disabled within 32-bit code. */
SNIPPET modes_enable_32
	LOAD_SS
	ljmp *modes_enable_32_pointer
	.code32
modes_enable_32_start:
	TRACE_ON modes_enable_32
	nop
	TRACE_OFF modes_enable_32
	ljmp $SEL_CODE64, $1f
	.code64
1:	SNIPPET_END

/* A fault in 32-bit code: its handler is 64-bit code. */
SNIPPET modes_fault_32
	LOAD_SS
	TRACE_ON modes_fault_32
	ljmp *modes_fault_32_pointer
	.code32
MARK modes_fault_32_start
	nop
MARK modes_fault_32_insn
	ud2
MARK modes_fault_32_next
	ljmp $SEL_CODE64, $modes_fault_32_back
	.code64
MARK modes_fault_32_back
	TRACE_OFF modes_fault_32
	SNIPPET_END

/* To 64-bit code in a segment whose descriptor has a base, and back. */
SNIPPET modes_base
	mov $modes_base_mid, %ebx
	TRACE_ON modes_base
	ljmp *modes_base_pointer
MARK modes_base_start
	jmp *%rbx
MARK modes_base_mid
	ljmp *modes_base_back_pointer
MARK modes_base_back
	TRACE_OFF modes_base
	SNIPPET_END

	.data
	.balign 8
modes_base_pointer:
	.long modes_base_start
	.word SEL_CODE16
	.balign 8
modes_base_back_pointer:
	.long modes_base_back
	.word SEL_CODE64
	.balign 8
modes_32_pointer:
	.long modes_32_start
	.word SEL_CODE32
	.balign 8
modes_16_pointer:
	.long modes_16_start - modes_16_base
	.word SEL_CODE16
	.balign 8
modes_enable_32_pointer:
	.long modes_enable_32_start
	.word SEL_CODE32
	.balign 8
modes_fault_32_pointer:
	.long modes_fault_32_start
	.word SEL_CODE32
	.section .note.GNU-stack, "", @progbits
