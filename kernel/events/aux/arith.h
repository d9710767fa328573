/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arithmetic of the AUX area: geometry, room, watermarks and chunks.
 *
 * These functions take no lock, allocate nothing and use no global state, so
 * that user-space tests can compile this file as well.
 */
#ifndef _KERNEL_EVENTS_AUX_ARITH_H
#define _KERNEL_EVENTS_AUX_ARITH_H

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <uapi/linux/perf_event.h>

/**
 * struct perf_aux_request - parameters of an mmap() of an AUX area
 * @map_offset: offset of the mapping in the file, in bytes
 * @map_size: length of the mapping, in bytes
 * @aux_offset: perf_event_mmap_page::aux_offset, written by user space
 * @aux_size: perf_event_mmap_page::aux_size, written by user space
 * @data_end: file offset of the first byte after user page and data pages
 */
struct perf_aux_request {
	u64	map_offset;
	u64	map_size;
	u64	aux_offset;
	u64	aux_size;
	u64	data_end;
};

/**
 * perf_aux_check_request - check the geometry of an AUX mapping
 * @r: the request
 * @page_shift: log2 of the page size
 *
 * Return: 0 or -EINVAL
 */
static inline int perf_aux_check_request(const struct perf_aux_request *r,
					 unsigned int page_shift)
{
	u64 pages = r->map_size >> page_shift;

	/* The area begins after the data; user page and mmap() must agree. */
	if (r->aux_offset < r->data_end || r->aux_offset != r->map_offset)
		return -EINVAL;

	/* Offsets in the area are computed by masking byte counters. */
	if (r->aux_size != r->map_size || !is_power_of_2(pages))
		return -EINVAL;

	return 0;
}

/**
 * perf_aux_watermark - number of bytes after which the reader is woken
 * @requested: perf_event_attr::aux_watermark, or 0 for the default
 * @size: size of the area in bytes
 *
 * Return: bytes. The default is half of the area, but no more than the u32
 * attribute can express.
 */
static inline u64 perf_aux_watermark(u32 requested, u64 size)
{
	return requested ?: min_t(u64, U32_MAX, size / 2);
}

/**
 * perf_aux_room - number of bytes that may be written at the head
 * @head: number of bytes ever written
 * @tail: number of bytes ever consumed, as user space reports it
 * @size: size of the area in bytes, a power of two
 *
 * One byte always stays free. An impossible tail, ahead of the head or more
 * than @size behind it, leaves no room: a reader with a wrong tail stops only
 * its own trace.
 *
 * Return: bytes, less than @size
 */
static inline u64 perf_aux_room(u64 head, u64 tail, u64 size)
{
	u64 unread = head - tail;

	return unread < size - 1 ? size - 1 - unread : 0;
}

/**
 * perf_aux_next_wakeup - the next head at which to wake the reader
 * @head: number of bytes ever written
 * @watermark: bytes, not 0
 *
 * Return: the smallest multiple of @watermark that is above @head
 */
static inline u64 perf_aux_next_wakeup(u64 head, u64 watermark)
{
	u64 over;

	div64_u64_rem(head, watermark, &over);
	return head - over + watermark;
}

/**
 * perf_aux_crossed - check whether new data passed a watermark
 * @head: number of bytes ever written
 * @wakeup: the next head at which to wake the reader; updated
 * @watermark: bytes, not 0; read only if a watermark was passed
 *
 * One wakeup is enough if several multiples were passed at once.
 *
 * Return: true if the reader is to be woken
 */
static inline bool perf_aux_crossed(u64 head, u64 *wakeup,
				    const u64 *watermark)
{
	if (head < *wakeup)
		return false;

	*wakeup = perf_aux_next_wakeup(head, *watermark);
	return true;
}

/**
 * perf_aux_max_order - order of the largest chunk to allocate
 * @contiguous: the PMU prefers or needs physically contiguous chunks
 * @overwrite: the area is in overwrite mode
 * @pages: number of pages in the area
 * @watermark_order: order of an allocation that holds a watermark of data
 * @limit: MAX_PAGE_ORDER
 *
 * A PMU may interrupt at the end of a chunk only. In full-trace mode, a chunk is
 * therefore not larger than the watermark, rounded up to a power of two pages.
 *
 * Return: log2 of the number of pages
 */
static inline unsigned int perf_aux_max_order(bool contiguous, bool overwrite,
					      unsigned long pages,
					      unsigned int watermark_order,
					      unsigned int limit)
{
	if (!contiguous)
		return 0;
	return min3(overwrite ? (unsigned int)ilog2(pages) : watermark_order,
		    (unsigned int)ilog2(pages), limit);
}

#endif /* _KERNEL_EVENTS_AUX_ARITH_H */
