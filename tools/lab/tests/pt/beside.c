// SPDX-License-Identifier: GPL-2.0-only
/* See beside.h. */
#include "beside.h"

int open_watchdog(struct aux_event *event, __u64 period, unsigned int data_pages)
{
	struct perf_event_attr attr;

	aux_sampler_attr(&attr, period);
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	attr.exclude_kernel = 0;
	attr.pinned = 1;
	return aux_open_mapped(event, &attr, -1, 0, data_pages);
}

unsigned int drain_samples(struct aux_event *event)
{
	static struct aux_record record;
	__u64 head = aux_data_head(event);
	unsigned int samples = 0;

	while (aux_next_before(event, head, &record))
		samples += record.header.type == PERF_RECORD_SAMPLE;
	return samples;
}
