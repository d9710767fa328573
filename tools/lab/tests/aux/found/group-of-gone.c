// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU 1 goes offline and comes back. An event of it has left its context then, but may still lead a
 * group: with a hardware event that group moves, and the leader is installed again, beside the event
 * that has its place in the exclusive PMU. The kernel warns.
 *
 * Since: 8a58ddae2379 ("perf/core: Fix exclusive events' grouping")
 * Fixed by: fix-offline-leader
 * Says: perf_install_in_context
 */
#include <errno.h>
#include <fcntl.h>

#include "event.h"

static void switch_cpu_1(const char *on)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);

	if (fd < 0 || write(fd, on, 1) != 1)
		err(2, "CPU 1");
	close(fd);
}

int main(void)
{
	struct perf_event_attr trace = trace_attr();
	struct perf_event_attr cycles = cycles_attr();
	int gone = open_event_on(&trace, -1, 1, -1);

	switch_cpu_1("0");
	switch_cpu_1("1");
	if (open_event_on(&trace, -1, 1, -1) < 0)
		err(2, "second event");
	return open_event_on(&cycles, -1, 1, gone) >= 0 || errno != ENODEV;
}
