// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel PT in the company of others that use the performance monitor and its
 * interrupt; run in a guest, as root. Prints TAP.
 *
 *   company coexist|exclude|pebs
 *
 * says whether PT and last branch records can be on together; with pebs they
 * cannot, the processor has PEBS, and it is but tried what can be opened.
 */
#include <stdio.h>
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

int main(int argc, char **argv)
{
	bool coexist = argc > 1 && !strcmp(argv[1], "coexist");
	bool pebs = argc > 1 && !strcmp(argv[1], "pebs");

	setlinebuf(stdout);
	test_exclusive(coexist, pebs);
	if (pebs)
		return end_points();
	test_wraps(coexist);
	test_samples();
	test_contrary();
	return end_points();
}
