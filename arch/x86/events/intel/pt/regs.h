/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fields of the registers and tables of Processor Trace (Intel SDM volume 3,
 * "Intel Processor Trace") beyond those in <asm/msr-index.h>.
 */
#ifndef _INTEL_PT_REGS_H
#define _INTEL_PT_REGS_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/types.h>

/*
 * IA32_RTIT_OUTPUT_MASK_PTRS: position of the next byte. For a single range, the
 * lower half is the size of the range minus one.
 */
#define RTIT_PTRS_ONES		GENMASK_ULL(6, 0)	/* always set */
#define RTIT_PTRS_ENTRY		GENMASK_ULL(31, 7)	/* in the ToPA table */
#define RTIT_PTRS_RANGE		GENMASK_ULL(31, 0)	/* single range */
#define RTIT_PTRS_OFFSET	GENMASK_ULL(63, 32)	/* in the region */

/* IA32_RTIT_CTL.ADDRn_CFG */
#define RTIT_ADDR_FILTER	1
#define RTIT_ADDR_STOP		2
#define RTIT_ADDR_CFG_BITS	4

/* Entry of a table of physical addresses (ToPA) */
#define TOPA_END		BIT_ULL(0)	/* link to a table */
#define TOPA_INT		BIT_ULL(2)
#define TOPA_STOP		BIT_ULL(4)
#define TOPA_ORDER		GENMASK_ULL(9, 6)	/* size: 4 KiB << order */
#define TOPA_ADDRESS		GENMASK_ULL(51, 12)
#define TOPA_REGION_SHIFT	12
#define TOPA_MAX_ORDER		15

/* Number of entries in a table of one page; the last one is a link */
#define TOPA_TABLE_ENTRIES	512

/*
 * Single-entry ToPA: the PMI comes before the region is full (Intel SDM, "ToPA PMI
 * and Single Output Region ToPA Implementation"). At most this many bytes are left
 * then; the SDM names no number.
 */
#define TOPA_EARLY_INT		512

static inline u64 topa_region(u64 address, unsigned int order)
{
	return (address & TOPA_ADDRESS) | FIELD_PREP(TOPA_ORDER, order);
}

static inline u64 topa_link(u64 table)
{
	return (table & TOPA_ADDRESS) | TOPA_END;
}

#endif /* _INTEL_PT_REGS_H */
