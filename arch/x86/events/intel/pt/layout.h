/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: positions in an AUX area
 *
 * An area consists of regions, which are contiguous in memory. The hardware can
 * interrupt and stop only at the end of a region. A position is the number of
 * bytes written before it since the buffer exists. Modulo the size of the area, a
 * power of two, it is an offset in the area::
 *
 *	region   0        1        2    3    4             5
 *	     +--------+--------+----+----+-------------+--------+
 *	     |########|########|####|..==|=====########|########|
 *	     +--------+--------+----+----+-------------+--------+
 *	                            | |       |        |
 *	                         STOP tail    head     INT, if the reader
 *	                                               waits for a byte of 4
 *
 *	=== not read yet    ### may be written    ... read, but not yet usable
 *
 * In full-trace mode, the hardware may write up to the tail. It stops (STOP) at
 * the last end of a region that is not after the tail. It interrupts (INT) at the
 * first end of a region that is not before the wakeup position, but at least one
 * region before STOP: the driver can then use what the reader has released
 * meanwhile, before data are lost.
 *
 * The region that contains the tail is used when the reader has read all of it.
 *
 * This file calls no kernel function, so that user-space tests can compile it.
 */
#ifndef _INTEL_PT_LAYOUT_H
#define _INTEL_PT_LAYOUT_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "regs.h"

/**
 * struct pt_layout - the regions of an area
 * @first: number of the first page of each region; @first[@nr] is the number of
 *	pages
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
 * pt_region_at - find the region that contains a position
 * @layout: the regions of the area
 * @position: the position
 *
 * Return: number of the region
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
 * pt_offset_in - offset of a position in its region
 * @layout: the regions of the area
 * @region: from pt_region_at()
 * @position: the position
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
 * struct pt_marks - where the hardware interrupts and stops
 * @stop: it stops and interrupts at the end of this region
 * @intr: it also interrupts at the end of this region, which comes first; @stop
 *	if there is none
 * @stop_at: position of the end of @stop
 * @tail: position up to which the reader has released the area
 * @wakeup: position at which to wake the reader
 * @until: with the same @tail and @wakeup, the marks are right for heads below this
 */
struct pt_marks {
	unsigned int	stop;
	unsigned int	intr;
	u64		stop_at;
	u64		tail;
	u64		wakeup;
	u64		until;
};

/**
 * pt_marks_hold - check whether marks are right for the next transaction, too
 * @marks: from pt_place_marks(), for a head that was not larger; or zeroed
 * @head: as in pt_place_marks()
 * @room: as in pt_place_marks()
 * @wakeup: as in pt_place_marks()
 *
 * That is so if a task is scheduled in again, nothing was read meanwhile, and the
 * hardware has not come to the end of a region that is marked.
 *
 * Return: false if the marks have to be placed again
 */
static inline bool pt_marks_hold(const struct pt_marks *marks, u64 head,
				 u64 room, u64 wakeup)
{
	return head + room + 1 == marks->tail && wakeup == marks->wakeup &&
	       head < marks->until;
}

/**
 * pt_place_marks - decide where the hardware interrupts and stops
 * @layout: the regions of the area
 * @head: position at which the hardware begins
 * @room: perf_output_handle::size, which leaves one byte free. The hardware may
 *	write that byte, too, if it is the last one of a region.
 * @wakeup: perf_output_handle::wakeup, position at which to wake the reader
 * @marks: result
 *
 * Return: false if there is no room up to the end of a region
 */
static inline bool pt_place_marks(const struct pt_layout *layout, u64 head,
				  u64 room, u64 wakeup, struct pt_marks *marks)
{
	unsigned int last = layout->nr - 1, region;
	u64 tail = head + room + 1, byte, end;

	marks->tail = tail;
	marks->wakeup = wakeup;
	region = pt_region_at(layout, tail);
	marks->stop_at = tail - pt_offset_in(layout, region, tail);
	if (marks->stop_at <= head)
		return false;
	marks->stop = region ? region - 1 : last;

	/* The byte whose region must interrupt at its end. */
	byte = max(wakeup, head + 1) - 1;
	region = pt_region_at(layout, byte);
	end = byte - pt_offset_in(layout, region, byte) +
	      pt_region_size(layout, region);
	if (end >= marks->stop_at) {
		region = marks->stop ? marks->stop - 1 : last;
		end = marks->stop_at - pt_region_size(layout, marks->stop);
	}
	if (end > head) {
		marks->intr = region;
		marks->until = end;
	} else {
		marks->intr = marks->stop;
		marks->until = marks->stop_at;
	}
	return true;
}

/**
 * pt_written - number of bytes that the hardware has written
 * @layout: the regions of the area
 * @head: position at which the hardware began
 * @now: offset in the area of the next byte
 * @marks: from pt_place_marks()
 * @stopped: the hardware has reached @marks->stop_at; it is then still in the
 *	region with STOP, at its end (Intel SDM, "ToPA STOP")
 *
 * Return: bytes
 */
static inline u64 pt_written(const struct pt_layout *layout, u64 head, u64 now,
			     const struct pt_marks *marks, bool stopped)
{
	/* @now is the same for nothing and for all of the area. */
	return stopped ? marks->stop_at - head :
			 (now - head) & (pt_area_size(layout) - 1);
}

#endif /* _INTEL_PT_LAYOUT_H */
