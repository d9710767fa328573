/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arithmetic of the AUX area: geometry, room, watermarks, chunks, records.
 *
 * Nothing here needs a kernel: no lock, no allocation, no global state. The
 * same file is compiled in user space and tested there, by tables and against
 * a simple model.
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
 * struct perf_aux_request - what a mapping of an AUX area asks for
 * @map_offset: where in the file the mapping begins, in bytes
 * @map_size: its length in bytes
 * @aux_offset: perf_event_mmap_page::aux_offset, as user space wrote it
 * @aux_size: perf_event_mmap_page::aux_size, likewise
 * @data_end: the first byte of the file behind user page and data pages
 * @have_offset: offset of the area that is mapped already
 * @have_size: its size; 0: there is none
 */
struct perf_aux_request {
	u64	map_offset;
	u64	map_size;
	u64	aux_offset;
	u64	aux_size;
	u64	data_end;
	u64	have_offset;
	u64	have_size;
};

/**
 * perf_aux_check_request - whether an AUX area may be mapped like this
 * @r: the request
 * @page_shift: log2 of the size of a page
 *
 * The order of the checks does not show, for all of them fail alike.
 *
 * Return: 0 or -EINVAL
 */
static inline int perf_aux_check_request(const struct perf_aux_request *r,
					 unsigned int page_shift)
{
	u64 pages = r->map_size >> page_shift;

	/* The area lies behind the data, where user page and mmap() agree. */
	if (r->aux_offset < r->data_end || r->aux_offset != r->map_offset)
		return -EINVAL;

	/* Offsets in the area are taken from counters with a mask. */
	if (r->aux_size != r->map_size || !is_power_of_2(pages))
		return -EINVAL;

	/* One area for a buffer: who maps it again must mean the same one. */
	if (r->have_size &&
	    (r->have_offset != r->map_offset || r->have_size != r->map_size))
		return -EINVAL;

	return 0;
}

/**
 * perf_aux_watermark - how much new data is worth waking the reader
 * @requested: perf_event_attr::aux_watermark; 0: the default
 * @size: bytes in the area
 *
 * Return: bytes; half of the area by default, as far as the attribute's type
 * could have said it
 */
static inline u64 perf_aux_watermark(u32 requested, u64 size)
{
	return requested ?: min_t(u64, U32_MAX, size / 2);
}

/**
 * perf_aux_room - how much may be written behind the head
 * @head: bytes ever written
 * @tail: bytes that the reader has consumed, as it says
 * @size: bytes in the area, a power of two
 *
 * One byte always stays free. A tail that cannot be, ahead of the head or
 * more than an area behind, leaves no room: a reader that lies loses its own
 * data only.
 *
 * Return: bytes, less than @size
 */
static inline u64 perf_aux_room(u64 head, u64 tail, u64 size)
{
	u64 unread = head - tail;

	return unread < size ? size - 1 - unread : 0;
}

/**
 * perf_aux_mark - the last multiple of a watermark
 * @head: bytes ever written
 * @watermark: bytes, not 0
 *
 * Return: a multiple of @watermark, not above @head
 */
static inline u64 perf_aux_mark(u64 head, u64 watermark)
{
	u64 over;

	div64_u64_rem(head, watermark, &over);
	return head - over;
}

/**
 * perf_aux_crossed - whether new data passed a watermark
 * @head: bytes ever written
 * @mark: the last multiple of @watermark that was passed; moved on
 * @watermark: bytes, not 0
 *
 * However many multiples are passed at once, the reader is woken once.
 *
 * Return: whether to wake it
 */
static inline bool perf_aux_crossed(u64 head, u64 *mark, u64 watermark)
{
	u64 over;

	if (head - *mark < watermark)
		return false;

	div64_u64_rem(head - *mark, watermark, &over);
	*mark = head - over;
	return true;
}

/**
 * perf_aux_max_order - the largest chunk worth asking the allocator for
 * @contiguous: the PMU wants physically contiguous chunks
 * @overwrite: the area is never read while it is written
 * @pages: pages in the area
 * @watermark_order: the order that holds a watermark of data
 * @limit: the largest order that there is
 *
 * A PMU that is given a chunk raises its interrupt at the chunk's end, so in
 * full-trace mode it should not be longer than the watermark.
 *
 * Return: log2 of a number of pages
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

/**
 * struct perf_aux_range - what a PERF_RECORD_AUX says
 * @offset: perf_event.h: where in the stream the new data begins
 * @size: bytes of new data
 * @flags: PERF_AUX_FLAG_*
 */
struct perf_aux_range {
	u64	offset;
	u64	size;
	u64	flags;
};

/**
 * perf_aux_merge - one range in place of two
 * @old: a range that found no room in the data buffer, or an empty one
 * @add: the range that follows it
 * @overwrite: the newer range tells where the data is, whatever was before
 *
 * What lies between the two, if anything, was skipped by the PMU and holds
 * its padding. The format of the data is a number and no set of flags: it is
 * that of the newest data.
 */
static inline void perf_aux_merge(struct perf_aux_range *old,
				  const struct perf_aux_range *add,
				  bool overwrite)
{
	u64 format = PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK;

	/* A range without data says nothing of the format of what was before. */
	if (add->size || !old->size)
		old->flags = (old->flags & ~format) | (add->flags & format);
	old->flags |= add->flags & ~format;

	if (!old->size || (overwrite && add->size)) {
		old->offset = add->offset;
		old->size = add->size;
	} else if (add->size) {
		old->size = add->offset + add->size - old->offset;
	}
}

/**
 * perf_mlock_split - who pays for locked pages
 * @used: pages that the user's allowance pays for, these among them
 * @allowance: pages that each user may lock without a limit of the process
 * @pages: how many are to be locked
 *
 * Return: how many of them are beyond the allowance and count against
 * RLIMIT_MEMLOCK
 */
static inline unsigned long perf_mlock_split(unsigned long used,
					     unsigned long allowance,
					     unsigned long pages)
{
	return used > allowance ? min(pages, used - allowance) : 0;
}

#endif /* _KERNEL_EVENTS_AUX_ARITH_H */
