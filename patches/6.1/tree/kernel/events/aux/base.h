/* SPDX-License-Identifier: GPL-2.0-only */
/* Interfaces of newer kernels, which the files of AUX areas are written to. */
#ifndef _KERNEL_EVENTS_AUX_BASE_H
#define _KERNEL_EVENTS_AUX_BASE_H

#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/workqueue.h>

#define system_dfl_wq	system_unbound_wq

/* Begin a record: its header, and what belongs to sample_id_all at its end. */
static inline void perf_event_header__init(struct perf_event_header *record,
					   struct perf_sample_data *ids,
					   u32 type, u16 misc, u16 size,
					   struct perf_event *owner)
{
	record->size = size;
	record->misc = misc;
	record->type = type;
	perf_event_header__init_id(record, ids, owner);
}

/* Context: process; the mapping is being created, so mmap_lock is held. */
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t more)
{
	vma->vm_flags |= more;
}

/*
 * Check what attr.aux_action asks for, and let the event begin paused if so.
 *
 * Return: 0; -EINVAL for both pause and resume; -EOPNOTSUPP if the PMU cannot pause,
 * or if the event's own data go into the trace (aux_output)
 */
static inline int perf_aux_init_action(struct perf_event *event)
{
	const struct perf_event_attr *wanted = &event->attr;
	int actions = wanted->aux_pause + wanted->aux_resume;
	bool can_pause = event->pmu->capabilities & PERF_PMU_CAP_AUX_PAUSE;

	if (actions && wanted->aux_output)
		return -EOPNOTSUPP;
	if (actions > 1)
		return -EINVAL;
	if (wanted->aux_start_paused && !can_pause)
		return -EOPNOTSUPP;

	/* Other PMUs have state of their own in that place. */
	if (wanted->aux_start_paused)
		event->hw.aux_paused = 1;
	return 0;
}

#endif /* _KERNEL_EVENTS_AUX_BASE_H */
