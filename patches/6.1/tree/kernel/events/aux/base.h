/* SPDX-License-Identifier: GPL-2.0-only */
/* Interfaces of newer kernels, which the files of AUX areas are written to. */
#ifndef _KERNEL_EVENTS_AUX_BASE_H
#define _KERNEL_EVENTS_AUX_BASE_H

#include <linux/mm.h>
#include <linux/perf_event.h>

static inline void perf_event_header__init(struct perf_event_header *header,
					   struct perf_sample_data *data,
					   u32 type, u16 misc, u16 size,
					   struct perf_event *event)
{
	*header = (struct perf_event_header) {
		.type	= type,
		.misc	= misc,
		.size	= size,
	};
	perf_event_header__init_id(header, data, event);
}

/* Context: process; the mapping is being created, so mmap_lock is held. */
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

/*
 * Check what attr.aux_action asks for, and let the event begin paused if so.
 *
 * Return: 0; -EINVAL for both pause and resume; -EOPNOTSUPP if the PMU cannot pause,
 * or if the event's own data go into the trace (aux_output)
 */
static inline int perf_aux_init_action(struct perf_event *event)
{
	struct perf_event_attr *attr = &event->attr;

	if (attr->aux_output && (attr->aux_pause || attr->aux_resume))
		return -EOPNOTSUPP;
	if (attr->aux_pause && attr->aux_resume)
		return -EINVAL;
	if (!attr->aux_start_paused)
		return 0;
	if (!(event->pmu->capabilities & PERF_PMU_CAP_AUX_PAUSE))
		return -EOPNOTSUPP;

	event->hw.aux_paused = 1;
	return 0;
}

#endif /* _KERNEL_EVENTS_AUX_BASE_H */
