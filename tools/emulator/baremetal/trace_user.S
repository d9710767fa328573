/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traced sequences that leave ring 0 and come back: IRET to 64-bit and 32-bit
 * user code, INT, exceptions, SYSCALL/SYSRET, SYSENTER/SYSEXIT.
 */
#include "snippet.h"

	/* To @ip in @cs. */
	.macro USER_FRAME cs, ip
	FRAME SEL_USER_DATA, $user_stack_end, 0, \cs, \ip
	.endm

/* User code has one taken Jcc and one indirect jump, then INT 0x71. */
SNIPPET user_int
	USER_FRAME SEL_USER64, user_int_start
	TRACE_ON user_int
	iretq
MARK user_int_start
	xor %eax, %eax
	jz 1f
	ud2
1:	mov $user_int_mid, %ebx
	jmp *%rbx
MARK user_int_mid
MARK user_int_insn
	int $0x71
	ud2
MARK user_int_handler
	TRACE_OFF user_int
	SNIPPET_END

/* The same from 32-bit code. */
SNIPPET user_int32
	USER_FRAME SEL_USER32, user_int32_start
	TRACE_ON user_int32
	iretq
	.code32
MARK user_int32_start
	xor %eax, %eax
	jz 1f
	ud2
1:	mov $user_int32_mid, %ebx
	jmp *%ebx
MARK user_int32_mid
MARK user_int32_insn
	int $0x71
	ud2
	.code64
MARK user_int32_handler
	TRACE_OFF user_int32
	SNIPPET_END

SNIPPET user_ud2
	USER_FRAME SEL_USER64, user_ud2_insn
	TRACE_ON user_ud2
	iretq
MARK user_ud2_insn
	ud2
MARK user_ud2_handler
	TRACE_OFF user_ud2
	SNIPPET_END

/* SYSCALL to the kernel and SYSRET from it. */
SNIPPET user_syscall
	USER_FRAME SEL_USER64, user_syscall_start
	TRACE_ON user_syscall
	iretq
MARK user_syscall_start
	syscall
MARK user_syscall_back
	int $0x71
	ud2
MARK user_syscall_entry
	sysretq
MARK user_syscall_handler
	TRACE_OFF user_syscall
	SNIPPET_END

SNIPPET user_sysenter
	USER_FRAME SEL_USER64, user_sysenter_start
	TRACE_ON user_sysenter
	iretq
MARK user_sysenter_start
	sysenter
	ud2
MARK user_sysenter_back
	int $0x71
	ud2
MARK user_sysenter_entry
	mov $user_sysenter_back, %edx
	mov $user_stack_end, %ecx
	sysexitq
MARK user_sysenter_handler
	TRACE_OFF user_sysenter
	SNIPPET_END

/* SYSRET to 32-bit code. */
SNIPPET user_sysret32
	mov $user_sysret32_start, %ecx
	mov %rcx, %r12
	mov $EFLAGS_RESERVED, %r11d
	TRACE_ON user_sysret32
	mov %r12, %rcx
	sysretl
	.code32
MARK user_sysret32_start
	int $0x71
	ud2
	.code64
MARK user_sysret32_handler
	TRACE_OFF user_sysret32
	SNIPPET_END

/* A procedure that makes a system call before it returns. */
SNIPPET user_return
	USER_FRAME SEL_USER64, user_return_start
	TRACE_ON user_return
	iretq
MARK user_return_start
	call 1f
MARK user_return_back
	int $0x71
	ud2
1:	syscall
MARK user_return_after
	ret
MARK user_return_entry
	sysretq
MARK user_return_handler
	TRACE_OFF user_return
	SNIPPET_END

/* A page fault of user code. */
SNIPPET user_pf
	movabs $UNMAPPED, %rbx
	USER_FRAME SEL_USER64, user_pf_insn
	TRACE_ON user_pf
	iretq
MARK user_pf_insn
	movb (%rbx), %al
	ud2
MARK user_pf_handler
	TRACE_OFF user_pf
	SNIPPET_END

	.bss
	.balign 16
	.skip 4096
user_stack_end:
	.section .note.GNU-stack, "", @progbits
