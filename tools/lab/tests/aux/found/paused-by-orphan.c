// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event that pauses an AUX event is enabled again after that was closed, and overflows: the
 * kernel warns.
 *
 * Since: 18d92bb57c39 ("perf/core: Add aux_pause, aux_resume, aux_start_paused")
 * Fixed by: fix-pause-closed, aux-pause
 * Says: perf_event_aux_pause
 */
#include <sys/ioctl.h>

#include "event.h"

int main(void)
{
	struct perf_event_attr trace = trace_attr();
	struct perf_event_attr cycles = cycles_attr();
	int leader = open_event(&trace, -1), pauses;

	set_action(&cycles, AUX_PAUSE);
	pauses = open_event(&cycles, leader);
	close(leader);
	if (ioctl(pauses, PERF_EVENT_IOC_ENABLE, 0))
		return 1;
	work();
	return 0;
}
