// SPDX-License-Identifier: GPL-2.0-only
/* Others that use the performance monitor. */
#include <string.h>

#include "company.h"

void sampler_attr(struct perf_event_attr *attr, __u64 config, __u64 period)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_HARDWARE;
	attr->config = config;
	attr->sample_period = period;
	attr->sample_type = PERF_SAMPLE_TID;
	attr->exclude_hv = 1;
}

void lbr_attr(struct perf_event_attr *attr, __u64 period)
{
	sampler_attr(attr, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, period);
	attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	attr->exclude_kernel = 1;
}
