/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers that assembly and C share: segment selectors, virtual aliases of the
 * first GiB, and the memory that the tests use for tables and trace output.
 */
#ifndef LAYOUT_H
#define LAYOUT_H

/* The order of 0x08..0x28 is what SYSCALL, SYSRET, SYSENTER, SYSEXIT demand. */
#define SEL_CODE64	0x08
#define SEL_DATA	0x10
#define SEL_USER32	0x1b
#define SEL_USER_DATA	0x23
#define SEL_USER64	0x2b
#define SEL_CODE32	0x30
#define SEL_CODE16	0x38
#define SEL_TSS		0x40
#define SEL_CALL_GATE	0x50
#define SEL_TSS32	0x60
#define SEL_TASK32	0x68

#define SYSCALL_CS_BASE	SEL_CODE64
#define SYSRET_CS_BASE	(SEL_USER32)
#define SYSENTER_CS	SEL_CODE64

/* Physical 0..1 GiB appears here as well as at its own address. */
#define ALIAS_4G	0x0000000100000000
#define ALIAS_LOW_TOP	0x00007f8000000000
#define ALIAS_KERNEL	0xffffffff80000000
/* The last 2 MiB below the canonical hole show this physical page. */
#define CANON_EDGE	0x0000800000000000
#define CANON_EDGE_PHYS	0x03e00000
/* Canonical, and mapped nowhere. */
#define UNMAPPED	0x0000400000000000

/* Scratch of the tests; 256 MiB of RAM are required. */
#define ARENA		0x04000000
#define ARENA_SIZE	0x08000000

#define KERNEL_STACK_SIZE	16384

#endif
