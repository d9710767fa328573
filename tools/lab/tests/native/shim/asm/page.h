/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_ASM_PAGE_H
#define SHIM_ASM_PAGE_H

#include <linux/types.h>

#define PAGE_SHIFT	12
#define PAGE_SIZE	(1UL << PAGE_SHIFT)

static inline bool __is_canonical_address(u64 address, u8 bits)
{
	unsigned int unused = 64 - bits;

	return (u64)((long)(address << unused) >> unused) == address;
}

#endif
