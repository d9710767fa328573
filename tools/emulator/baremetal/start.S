/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entry from the PVH boot protocol (32-bit, paging off), the switch to long
 * mode with the page tables described in layout.h, and the exception stubs.
 */
#include "layout.h"

#define XEN_ELFNOTE_PHYS32_ENTRY	18
#define CR0_PE_WP_PG_NE_ET		0x80010031
#define CR0_PG				0x80000000
#define CR4_PAE_OSFXSR			0x00000220
#define CR4_PCE				0x00000100
#define MSR_EFER_NR			0xc0000080
#define EFER_LME_SCE			0x00000101
#define PTE_TABLE			0x07	/* present, write, user */
#define PTE_LARGE			0x87	/* the same, 2 MiB page */

	.section .note.pvh, "a", @note
	.balign 4
	.long 4, 4, XEN_ELFNOTE_PHYS32_ENTRY
	.asciz "Xen"
	.long _start

	.section .text.start, "ax"
	.code32
	.globl _start
_start:
	cli
	cld
	mov $boot_stack_end, %esp
	mov %ebx, boot_info

	/* Four page directories map the first 4 GiB to themselves. */
	mov $PTE_LARGE, %eax
	mov $pd_identity, %edi
	mov $2048, %ecx
1:	mov %eax, (%edi)
	movl $0, 4(%edi)
	add $0x200000, %eax
	add $8, %edi
	loop 1b

	movl $(pdpt_low + PTE_TABLE), pml4
	movl $(pdpt_low_top + PTE_TABLE), pml4 + 255 * 8
	movl $(pdpt_kernel + PTE_TABLE), pml4 + 511 * 8
	movl $(pd_identity + 0x0000 + PTE_TABLE), pdpt_low + 0 * 8
	movl $(pd_identity + 0x1000 + PTE_TABLE), pdpt_low + 1 * 8
	movl $(pd_identity + 0x2000 + PTE_TABLE), pdpt_low + 2 * 8
	movl $(pd_identity + 0x3000 + PTE_TABLE), pdpt_low + 3 * 8
	movl $(pd_identity + PTE_TABLE), pdpt_low + 4 * 8
	movl $(pd_identity + PTE_TABLE), pdpt_low_top + 0 * 8
	movl $(pd_edge + PTE_TABLE), pdpt_low_top + 511 * 8
	movl $(pd_identity + PTE_TABLE), pdpt_kernel + 510 * 8
	movl $(CANON_EDGE_PHYS + PTE_LARGE), pd_edge + 511 * 8
	/* A second root with the same content: another CR3 value. */
	mov $pml4, %esi
	mov $pml4_other, %edi
	mov $1024, %ecx
	rep movsl

	call enter_long_mode
	ljmp $SEL_CODE64, $start64

	/* Paging on, with the tables above; returns in compatibility mode. */
	.globl enter_long_mode
enter_long_mode:
	mov $(CR4_PAE_OSFXSR | CR4_PCE), %eax
	mov %eax, %cr4
	mov $pml4, %eax
	mov %eax, %cr3
	mov $MSR_EFER_NR, %ecx
	mov $EFER_LME_SCE, %eax
	xor %edx, %edx
	wrmsr
	lgdt gdt_pointer
	mov $CR0_PE_WP_PG_NE_ET, %eax
	mov %eax, %cr0
	ret

	.code64
start64:
	mov $SEL_DATA, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	xor %eax, %eax
	mov %eax, %fs
	mov %eax, %gs
	mov $boot_stack_end, %esp
	mov boot_info, %edi
	call main
1:	hlt
	jmp 1b

	/* A stub for each vector: error code where the CPU pushes none, vector. */
	.text
	.balign 16
	.globl trap_stubs
trap_stubs:
vector = 0
	.rept 256
	.balign 16
	.if !((vector == 8) || (vector >= 10 && vector <= 14) || (vector == 17) || (vector == 21))
	push $0
	.endif
	push $vector
	jmp trap_entry
vector = vector + 1
	.endr

trap_entry:
	push %rax
	push %rbx
	push %rcx
	push %rdx
	push %rsi
	push %rdi
	push %rbp
	push %r8
	push %r9
	push %r10
	push %r11
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, %rdi
	cld
	call trap_dispatch
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rbp
	pop %rdi
	pop %rsi
	pop %rdx
	pop %rcx
	pop %rbx
	pop %rax
	add $16, %rsp
	iretq

	/* Between these two, a fault lands in trapped_return. */
	.macro MAY_TRAP name
	.globl \name
\name:
	movq $trapped_return, trap_fixup
	.endm

	.macro NOT_TRAPPED
	movq $0, trap_fixup
	xor %eax, %eax
	ret
	.endm

	/* int @name(u32 index, u64 *val) */
	.macro READ_SAFE name, instruction
	MAY_TRAP \name
	mov %edi, %ecx
	\instruction
	shl $32, %rdx
	or %rdx, %rax
	mov %rax, (%rsi)
	NOT_TRAPPED
	.endm

	READ_SAFE rdmsr_safe, rdmsr

	/* int wrmsr_safe(u32 msr, u64 val) */
	MAY_TRAP wrmsr_safe
	mov %edi, %ecx
	mov %esi, %eax
	mov %rsi, %rdx
	shr $32, %rdx
	wrmsr
	NOT_TRAPPED

	READ_SAFE rdpmc_safe, rdpmc

	/* int ptwrite_safe(void): one PTWRITE, #UD where there is none. */
	MAY_TRAP ptwrite_safe
	ptwrite %rax
	NOT_TRAPPED

	/* trap_dispatch() left the vector, plus one, in %rax. */
trapped_return:
	ret

	.data
	.balign 8
	.globl gdt, gdt_limit, gdt_pointer
gdt:
	.quad 0
	.quad 0x00af9b000000ffff	/* SEL_CODE64 */
	.quad 0x00cf93000000ffff	/* SEL_DATA */
	.quad 0x00cffb000000ffff	/* SEL_USER32 */
	.quad 0x00cff3000000ffff	/* SEL_USER_DATA */
	.quad 0x00affb000000ffff	/* SEL_USER64 */
	.quad 0x00cf9b000000ffff	/* SEL_CODE32 */
	.quad 0x00009b000000ffff	/* SEL_CODE16, base by code16_set_base() */
	.quad 0, 0			/* SEL_TSS */
	.quad 0, 0			/* SEL_CALL_GATE */
	.quad 0				/* SEL_TSS32 */
	.quad 0				/* SEL_TASK32 */
	.set gdt_limit, . - gdt - 1
	.balign 8
gdt_pointer:
	.word gdt_limit
	.quad gdt

	.bss
	.balign 4096
	.globl pml4, pml4_other
pml4:		.skip 4096
pml4_other:	.skip 4096
pdpt_low:	.skip 4096
pdpt_low_top:	.skip 4096
pdpt_kernel:	.skip 4096
pd_edge:	.skip 4096
pd_identity:	.skip 4 * 4096
boot_stack:	.skip KERNEL_STACK_SIZE
	.globl boot_stack_end
boot_stack_end:
boot_info:	.skip 8
	.globl trap_fixup
trap_fixup:	.skip 8
	.section .note.GNU-stack, "", @progbits
