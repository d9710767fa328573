// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file of an address filter is looked up under perf_event_context::mutex. A link in /proc takes
 * exec_update_lock, under which perf_event_open() takes the mutex: a deadlock, which lockdep sees.
 * Without lockdep, nothing is to be seen of it here.
 *
 * Since: 375637bc5249 ("perf/core: Introduce address range filtering")
 * Fixed by: fix-filter-lock
 * Says: possible circular locking dependency detected
 */
#include <sys/ioctl.h>

#include "event.h"

int main(void)
{
	struct perf_event_attr trace = trace_attr();
	int event = open_event(&trace, -1);

	return ioctl(event, PERF_EVENT_IOC_SET_FILTER, "filter 0/4096@/proc/self/exe") ? 1 : 0;
}
