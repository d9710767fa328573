/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sequences for branch records in memory; DEBUGCTL is written around each, with
 * snip_arg[1] and snip_arg[2].
 */
#include "snippet.h"

	.macro BTS_ON
	WRITE_DEBUGCTL (snip_arg + 8)
	.endm

	.macro BTS_OFF
	WRITE_DEBUGCTL (snip_arg + 16)
	.endm

/* A jump whose own read faults: the fault is the only branch. */
SNIPPET bts_fault
	movabs $UNMAPPED, %rbx
	BTS_ON
MARK bts_fault_insn
	jmp *(%rbx)
MARK bts_fault_handler
	BTS_OFF
	SNIPPET_END

/* 32-bit user code with branches of its own. */
SNIPPET bts_user32
	FRAME SEL_USER_DATA, $bts_stack, 0, SEL_USER32, bts_user32_start
	BTS_ON
MARK bts_user32_iret
	iretq
	.code32
MARK bts_user32_start
	mov $bts_user32_call, %eax
MARK bts_user32_from
	call *%eax
	ud2
MARK bts_user32_call
	int $0x71
	.code64
MARK bts_user32_handler
	BTS_OFF
	SNIPPET_END

/* 16-bit code whose segment has a base: snip_arg[3], with a far pointer at bts_code16_pointer. */
SNIPPET bts_code16
	BTS_ON
MARK bts_code16_insn
	ljmp *bts_code16_pointer
	.code16
MARK bts_code16_start
	jmp 1f
1:
MARK bts_code16_back
	ljmpl $SEL_CODE64, $bts_code16_end
	.code64
MARK bts_code16_end
	BTS_OFF
	SNIPPET_END

/* An SMI, whose handler is firmware's. */
SNIPPET bts_smi
	BTS_ON
	xor %eax, %eax
	out %al, $APM_PORT
MARK bts_smi_jump
	jmp 1f
1:
MARK bts_smi_target
	BTS_OFF
	SNIPPET_END

	.data
	.balign 8
	.globl bts_code16_pointer
bts_code16_pointer:
	.long 0
	.word SEL_CODE16
	.bss
	.balign 16
	.skip 256
bts_stack:
	.section .note.GNU-stack, "", @progbits
