/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KERNEL_EVENTS_AUX_GROUP_H
#define _KERNEL_EVENTS_AUX_GROUP_H

#include <linux/perf_event.h>

#ifdef CONFIG_PERF_AUX

bool perf_aux_wants_link(struct perf_event *event);
bool perf_aux_link(struct perf_event *event, struct perf_event *leader);
bool perf_aux_inherit_link(struct perf_event *event, struct perf_event *leader);
void perf_aux_unlink(struct perf_event *event);
void perf_aux_free_link(struct perf_event *event);

#else /* !CONFIG_PERF_AUX */

static inline bool perf_aux_wants_link(struct perf_event *event)
{
	return has_aux_action(event) || event->attr.aux_output;
}

static inline bool perf_aux_link(struct perf_event *event,
				 struct perf_event *leader)
{
	return false;
}

static inline bool perf_aux_inherit_link(struct perf_event *event,
					 struct perf_event *leader)
{
	return false;
}

static inline void perf_aux_unlink(struct perf_event *event) { }
static inline void perf_aux_free_link(struct perf_event *event) { }

#endif /* CONFIG_PERF_AUX */

#endif /* _KERNEL_EVENTS_AUX_GROUP_H */
