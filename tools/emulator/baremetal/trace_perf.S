/* SPDX-License-Identifier: GPL-2.0-only */
/* Known sequences for the counters and the branch records; an MSR write encloses each. */
#include "snippet.h"

	/* WRMSR of the MSR in snip_arg[0] with @value. */
	.macro WRITE_ARG_MSR value
	mov snip_arg, %ecx
	mov \value, %eax
	mov \value + 4, %edx
	wrmsr
	.endm

/* snip_arg: MSR, value before, value after, rounds (2 instructions, 1 branch each). */
SNIPPET perf_loop
	mov snip_arg + 24, %r12
	WRITE_ARG_MSR (snip_arg + 8)
1:	dec %r12
	jnz 1b
	WRITE_ARG_MSR (snip_arg + 16)
	SNIPPET_END

/* One branch of each kind; snip_arg[0..2] as above. */
SNIPPET lbr_kinds
	mov $lbr_5, %ebx
	mov $lbr_leaf, %ebp
	WRITE_ARG_MSR (snip_arg + 8)
MARK lbr_0
	jmp 1f			/* direct jump */
1:
MARK lbr_1
	call lbr_leaf		/* direct call, return */
MARK lbr_2
	call *%rbp		/* indirect call, return */
MARK lbr_3
	xor %eax, %eax
	jnz 1f			/* not taken: no record */
MARK lbr_3_jcc
	jz 1f			/* taken */
	ud2
1:
MARK lbr_4
	jmp *%rbx		/* indirect jump */
MARK lbr_5
	rex.w ljmp *lbr_pointer	/* far jump */
MARK lbr_6
	WRITE_ARG_MSR (snip_arg + 16)
	SNIPPET_END
MARK lbr_leaf
	ret

/* IRET and SYSRET to user code, which comes back by INT; snip_arg[0..2] as above. */
SNIPPET lbr_user
	FRAME SEL_USER_DATA, $lbr_user_stack, 0, SEL_USER64, lbr_user_first
	WRITE_ARG_MSR (snip_arg + 8)
	nop
	nop
MARK lbr_user_iret
	iretq
MARK lbr_user_first
	int $0x71
	ud2
MARK lbr_user_handler
	mov $lbr_user_second, %ecx
	mov $EFLAGS_RESERVED, %r11d
MARK lbr_user_sysret
	sysretq
MARK lbr_user_second
	int $0x72
	ud2
MARK lbr_user_end
	WRITE_ARG_MSR (snip_arg + 16)
	SNIPPET_END

/* snip_arg[3] direct jumps, so that older records go. */
SNIPPET lbr_many
	mov snip_arg + 24, %r12
	WRITE_ARG_MSR (snip_arg + 8)
MARK lbr_many_target
	dec %r12
MARK lbr_many_branch
	jnz lbr_many_target
	WRITE_ARG_MSR (snip_arg + 16)
	SNIPPET_END

	.data
	.balign 8
lbr_pointer:
	.quad lbr_6
	.word SEL_CODE64
	.bss
	.balign 16
	.skip 256
lbr_user_stack:
	.section .note.GNU-stack, "", @progbits
