/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KERNEL_EVENTS_AUX_SAMPLE_H
#define _KERNEL_EVENTS_AUX_SAMPLE_H

#include <linux/perf_event.h>

#ifdef CONFIG_PERF_AUX

unsigned long perf_aux_sample_size(struct perf_event *event,
				   struct perf_sample_data *sample,
				   unsigned long room);
void perf_aux_sample_write(struct perf_event *event,
			   struct perf_output_handle *record, unsigned long size);

#else /* !CONFIG_PERF_AUX */

static inline unsigned long
perf_aux_sample_size(struct perf_event *event, struct perf_sample_data *sample,
		     unsigned long room)
{
	sample->aux_size = 0;
	return 0;
}

static inline void perf_aux_sample_write(struct perf_event *event,
					 struct perf_output_handle *record,
					 unsigned long size) { }

#endif /* CONFIG_PERF_AUX */

#endif /* _KERNEL_EVENTS_AUX_SAMPLE_H */
