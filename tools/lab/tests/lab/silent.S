/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A kernel that hangs before it says a word: an ELF image with the PVH entry
 * note, whose entry turns interrupts off and halts.
 */
	.section .note.pvh, "a", @note
	.long	4, 4, 18		/* XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz	"Xen"
	.long	_start

	.text
	.globl	_start
_start:
	cli
1:	hlt
	jmp	1b
