/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The position of the hardware in an area, and the two registers that hold it (Intel
 * SDM, "Trace Output").
 *
 * Inline, because each task switch of a traced task computes both.
 */
#ifndef _INTEL_PT_OUTPUT_H
#define _INTEL_PT_OUTPUT_H

#include <linux/io.h>
#include <linux/mm.h>

#include "pt.h"

static inline bool pt_has_one_region_tables(const struct pt_buffer *buf)
{
	return buf->per_table == 1;
}

/**
 * pt_output_base - compute IA32_RTIT_OUTPUT_BASE
 * @buf: the area, with the position of the hardware
 *
 * Return: the value of the register
 */
static inline u64 pt_output_base(const struct pt_buffer *buf)
{
	unsigned int table = buf->nr_tables > 1 ? buf->region / buf->per_table : 0;

	return virt_to_phys(buf->tables ? buf->tables[table] : buf->pages[0]);
}

/**
 * pt_output_ptrs - compute IA32_RTIT_OUTPUT_MASK_PTRS
 * @buf: the area, with the position of the hardware
 *
 * Return: the value of the register
 */
static inline u64 pt_output_ptrs(const struct pt_buffer *buf)
{
	u64 ptrs = FIELD_PREP(RTIT_PTRS_OFFSET, (u64)buf->offset);

	if (!buf->tables)
		return ptrs | FIELD_PREP(RTIT_PTRS_RANGE,
					 pt_area_size(&buf->layout) - 1);
	return ptrs | RTIT_PTRS_ONES |
	       FIELD_PREP(RTIT_PTRS_ENTRY, (u64)(buf->region % buf->per_table));
}

/**
 * pt_locate - compute the position of the hardware from its registers
 * @buf: the area; region and offset are updated
 * @base: IA32_RTIT_OUTPUT_BASE
 * @ptrs: IA32_RTIT_OUTPUT_MASK_PTRS
 */
static inline void pt_locate(struct pt_buffer *buf, u64 base, u64 ptrs)
{
	unsigned int table, entry;

	buf->offset = FIELD_GET(RTIT_PTRS_OFFSET, ptrs);
	/* The hardware cannot leave its one region. */
	if (!buf->tables || pt_has_one_region_tables(buf))
		return;

	table = buf->nr_tables > 1 ?
		page_private(virt_to_page(phys_to_virt(base))) : 0;
	entry = FIELD_GET(RTIT_PTRS_ENTRY, ptrs);
	buf->region = table * buf->per_table + entry;
	/* The hardware is at the link to the first table. */
	if (buf->region >= buf->layout.nr)
		buf->region = 0;
}

#endif /* _INTEL_PT_OUTPUT_H */
