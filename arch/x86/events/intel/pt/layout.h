/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: positions in an AUX area
 *
 * Where hardware writes, and where it has to stop. The area consists of
 * regions, chunks of pages that are contiguous in memory. Hardware is told only
 * of regions: it interrupts, and stops, at their ends. Positions count all bytes
 * that were ever written; modulo the size of the area, a power of two, they are
 * offsets in it::
 *
 *	region   0        1        2    3    4             5
 *	     +--------+--------+----+----+-------------+--------+
 *	     |########|########|####|..==|=====########|########|
 *	     +--------+--------+----+----+-------------+--------+
 *	                            | |       |        |
 *	                         STOP tail    head     INT, if the reader
 *	                                               waits for a byte of 4
 *
 *	=== written, not read    ### may be written    ... not before it is read
 *
 * Full-trace mode: hardware may write up to the tail. It stops (STOP) at the last
 * end of a region that is not behind that, and interrupts (INT) at the first one
 * that is not before the position of the wakeup. If that would be where it stops,
 * or behind, it interrupts one region earlier: what the reader has freed
 * meanwhile is found then, before anything is lost.
 *
 * A region that the tail is in cannot be used until it is all read.
 *
 * Nothing here needs a kernel; the file is compiled and tested in user space too.
 */
#ifndef _INTEL_PT_LAYOUT_H
#define _INTEL_PT_LAYOUT_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "regs.h"

/**
 * struct pt_layout - the regions of an area
 * @first: the first page of each region; at [@nr] there is the number of pages
 * @nr: number of regions
 */
struct pt_layout {
	const u32	*first;
	unsigned int	nr;
};

static inline u64 pt_area_size(const struct pt_layout *layout)
{
	return (u64)layout->first[layout->nr] << TOPA_REGION_SHIFT;
}

static inline u64 pt_region_start(const struct pt_layout *layout,
				  unsigned int region)
{
	return (u64)layout->first[region] << TOPA_REGION_SHIFT;
}

static inline u64 pt_region_size(const struct pt_layout *layout,
				 unsigned int region)
{
	return pt_region_start(layout, region + 1) -
	       pt_region_start(layout, region);
}

/**
 * pt_region_at - the region of a position
 * @layout: of the area
 * @position: any
 *
 * Return: its number
 */
static inline unsigned int pt_region_at(const struct pt_layout *layout,
					u64 position)
{
	u32 page = (position & (pt_area_size(layout) - 1)) >> TOPA_REGION_SHIFT;
	unsigned int low = 0, high = layout->nr - 1, middle;

	/* first[low] <= page, and first[high + 1] > page */
	while (low < high) {
		middle = low + (high - low + 1) / 2;
		if (layout->first[middle] <= page)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/**
 * pt_offset_in - where in its region a position is
 * @layout: of the area
 * @region: of the position, from pt_region_at()
 * @position: any
 *
 * Return: bytes
 */
static inline u64 pt_offset_in(const struct pt_layout *layout,
			       unsigned int region, u64 position)
{
	return (position & (pt_area_size(layout) - 1)) -
	       pt_region_start(layout, region);
}

/**
 * struct pt_marks - where hardware stops and interrupts
 * @stop: region at whose end it stops; it interrupts there as well
 * @intr: region at whose end it interrupts earlier; @stop if it does not
 * @stop_at: the position at which it stops
 */
struct pt_marks {
	unsigned int	stop;
	unsigned int	intr;
	u64		stop_at;
};

/**
 * pt_place_marks - decide where hardware stops and interrupts
 * @layout: of the area
 * @head: the position at which it begins
 * @room: perf_output_handle::size, bytes that may be written and leave one free:
 *	that one may be written too, if a region ends there
 * @wakeup: perf_output_handle::wakeup, the position that the reader waits for
 * @marks: result
 *
 * Return: false if it cannot begin, for no end of a region is free
 */
static inline bool pt_place_marks(const struct pt_layout *layout, u64 head,
				  u64 room, u64 wakeup, struct pt_marks *marks)
{
	unsigned int last = layout->nr - 1, region;
	u64 tail = head + room + 1, byte, end;

	region = pt_region_at(layout, tail);
	marks->stop_at = tail - pt_offset_in(layout, region, tail);
	if (marks->stop_at <= head)
		return false;
	marks->stop = region ? region - 1 : last;

	/* The last byte that the reader waits for, not earlier than the next. */
	byte = max(wakeup, head + 1) - 1;
	region = pt_region_at(layout, byte);
	end = byte - pt_offset_in(layout, region, byte) +
	      pt_region_size(layout, region);
	if (end >= marks->stop_at) {
		region = marks->stop ? marks->stop - 1 : last;
		end = marks->stop_at - pt_region_size(layout, marks->stop);
	}
	marks->intr = end > head ? region : marks->stop;
	return true;
}

/**
 * pt_written - how much hardware has written
 * @layout: of the area
 * @head: the position at which it began
 * @now: the offset in the area at which it would go on
 * @marks: as it was told
 * @stopped: whether it came to where it stops: then it is still in that region, at
 *	its end (Intel SDM, "ToPA STOP")
 *
 * Return: bytes
 */
static inline u64 pt_written(const struct pt_layout *layout, u64 head, u64 now,
			     const struct pt_marks *marks, bool stopped)
{
	/* All of the area and nothing of it are the same offset. */
	return stopped ? marks->stop_at - head :
			 (now - head) & (pt_area_size(layout) - 1);
}

#endif /* _INTEL_PT_LAYOUT_H */
