// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event that refers to an AUX event cannot be opened: the AUX event is never freed. As its PMU is
 * exclusive, no event of a CPU can be opened from then on.
 *
 * Since: ab43762ef010 ("perf: Allow normal events to output AUX data"), and for any user since
 * 25e8920b301c ("perf/x86/intel/pt: Add sampling support")
 * Fixed by: fix-leader-leak
 * Says: an event stays that is closed
 */
#include <errno.h>

#include "event.h"

int main(void)
{
	struct perf_event_attr trace = trace_attr();
	int leader = open_event(&trace, -1);

	/* A task has one event of that PMU at a time: this one is refused, after it was linked. */
	trace.aux_sample_size = 4096;
	return leader < 0 || open_event(&trace, leader) >= 0 || errno != EBUSY;
}
