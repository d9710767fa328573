// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event that refers to an AUX event cannot be opened: the AUX event is never freed. As its PMU is
 * exclusive, no other event of the other kind can be opened from then on.
 *
 * Since: ab43762ef010 ("perf: Allow normal events to output AUX data")
 * Mended by: fix-leader-leak
 * Says: an event stays that is closed
 */
#include "event.h"

int main(void)
{
	struct perf_event_attr trace = { .type = pmu_type("intel_pt"), .exclude_kernel = 1 };
	int leader = open_event(&trace, -1);

	/* A task has one event of that PMU at a time: this one is refused, after it was linked. */
	set_action(&trace, AUX_PAUSE);
	open_event(&trace, leader);
	return leader < 0;
}
