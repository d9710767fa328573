// SPDX-License-Identifier: GPL-2.0-only
/* nothing.c - a filter of perf script that leaves out every sample: what decoding alone takes. */
#include <perf/perf_dlfilter.h>

int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	(void)data;
	(void)sample;
	(void)ctx;
	return 1;
}
