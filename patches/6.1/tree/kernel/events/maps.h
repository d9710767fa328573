/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts of mappings of perf buffers; mmap.c says what each count means. */
#ifndef _KERNEL_EVENTS_MAPS_H
#define _KERNEL_EVENTS_MAPS_H

#include <linux/atomic.h>
#include <linux/perf_event.h>

#include "internal.h"

/* Whether the file of an event is mapped */
static inline bool perf_event_is_mapped(struct perf_event *event)
{
	return atomic_read(&event->mmap_count);
}

/* Whether a buffer is mapped through any file */
static inline bool perf_buffer_is_mapped(struct perf_buffer *rb)
{
	return atomic_read(&rb->mmap_count);
}

/*
 * Count a mapping of a buffer through the file of an event, whose mmap_mutex is
 * held.
 *
 * Return: false if the last mapping of the buffer is being removed
 */
static inline bool perf_count_map(struct perf_buffer *rb,
				  struct perf_event *event)
{
	if (!atomic_inc_not_zero(&rb->mmap_count))
		return false;
	atomic_inc(&event->mmap_count);
	return true;
}

#endif /* _KERNEL_EVENTS_MAPS_H */
