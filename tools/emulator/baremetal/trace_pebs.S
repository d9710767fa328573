/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traced sequences that are counted: GLOBAL_CTRL is snip_arg[1], and then zero.
 * Each leaves what a record has of the registers as its comment says.
 */
#include "snippet.h"

#define MSR_GLOBAL_CTRL_NR	0x38f

	.macro COUNT_ON
	mov $MSR_GLOBAL_CTRL_NR, %ecx
	mov snip_arg + 8, %eax
	mov snip_arg + 12, %edx
	wrmsr
	.endm

	.macro COUNT_OFF
	mov $MSR_GLOBAL_CTRL_NR, %ecx
	xor %eax, %eax
	xor %edx, %edx
	wrmsr
	.endm

	/*
	 * Register N has N in its lowest byte and in its highest. Of XMM1 the low half is that of
	 * R15, the high half that of R14; of XMM15 those of R13 and R11.
	 */
	.macro REGISTERS
	movabs $0x0300000000000003, %rbx
	movabs $0x0500000000000005, %rbp
	movabs $0x0600000000000006, %rsi
	movabs $0x0700000000000007, %rdi
	movabs $0x0800000000000008, %r8
	movabs $0x0900000000000009, %r9
	movabs $0x0a0000000000000a, %r10
	movabs $0x0b0000000000000b, %r11
	movabs $0x0c0000000000000c, %r12
	movabs $0x0d0000000000000d, %r13
	movabs $0x0e0000000000000e, %r14
	movabs $0x0f0000000000000f, %r15
	movq %r14, %xmm2
	movq %r15, %xmm1
	punpcklqdq %xmm2, %xmm1
	movq %r11, %xmm2
	movq %r13, %xmm15
	punpcklqdq %xmm2, %xmm15
	.endm

/* Three taken branches: by TNT, by TIP, by neither. RAX, RCX, RDX are 0x11, 0x22, 0x33. */
SNIPPET pebs_code
	REGISTERS
	mov $pebs_third, %r12d
	TRACE_ON pebs_code
	COUNT_ON
	mov $0x11, %eax
	mov $0x22, %ecx
	mov $0x33, %edx
	cmp %eax, %eax
MARK pebs_first
	jz 1f
	ud2
1:
MARK pebs_second
	jmp *%r12
	ud2
MARK pebs_third
	jmp 1f
	ud2
1:
MARK pebs_after
	COUNT_OFF
	TRACE_OFF pebs_code
	SNIPPET_END

/* The third branch is of 32-bit code; RBX is 3 there. */
SNIPPET pebs_code32
	movabs $0x0300000000000003, %rbx
	TRACE_ON pebs_code32
	COUNT_ON
	ljmp *pebs_to32
	.code32
MARK pebs_start32
	jmp 1f
	ud2
1:
MARK pebs_next32
	ljmp $SEL_CODE64, $pebs_back64
	.code64
MARK pebs_back64
	COUNT_OFF
	TRACE_OFF pebs_code32
	SNIPPET_END

/* Instructions, then an interrupt that has been pending. */
SNIPPET pebs_irq
	TRACE_ON pebs_irq
	COUNT_ON
	nop
	sti
	nop
MARK pebs_irq_place
	ud2
MARK pebs_irq_handler
	COUNT_OFF
	TRACE_OFF pebs_irq
	SNIPPET_END

/* User code; only that is traced. */
SNIPPET pebs_user
	FRAME SEL_USER_DATA, $pebs_user_stack, 0, SEL_USER64, pebs_user_start
	TRACE_ON pebs_user
	COUNT_ON
	iretq
MARK pebs_user_start
	jmp 1f
	ud2
1:
MARK pebs_user_insn
	int $0x71
	ud2
MARK pebs_user_handler
	jmp 1f
	ud2
1:
	COUNT_OFF
	TRACE_OFF pebs_user
	SNIPPET_END

	.data
pebs_to32:
	.long pebs_start32
	.word SEL_CODE32

	.bss
	.balign 16
	.skip 256
pebs_user_stack:
