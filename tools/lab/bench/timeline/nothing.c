// SPDX-License-Identifier: GPL-2.0-only
/* nothing.c - a filter of perf script that leaves out every sample: what decoding alone takes. */
#include <perf/perf_dlfilter.h>

int filter_event_early(void *state, const struct perf_dlfilter_sample *left_out, void *perf)
{
	(void)state;
	(void)left_out;
	(void)perf;
	return 1;
}
