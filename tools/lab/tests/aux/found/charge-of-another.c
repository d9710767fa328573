// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another user maps the AUX area of an event, beside the data buffer that root has mapped. Its pages
 * are charged to that user and given back to root. The user may lock fewer pages as long as it has a
 * process; what root has locked is below zero then, which counts as all that it may.
 *
 * Since: 45bfb2e50471 ("perf: Add AUX area to ring buffer for raw data streams")
 * Fixed by: aux-output
 * Says: pages stay charged to a user
 */
#include <sys/wait.h>

#include "event.h"

static void map_as_nobody(int event)
{
	become_nobody();
	map(event, 16, PROT_READ | PROT_WRITE);
	_exit(0);
}

int main(void)
{
	struct perf_event_attr trace = trace_attr();
	int event = open_event(&trace, -1), status = 0;

	map(event, 0, 0);
	if (fork() == 0)
		map_as_nobody(event);
	/* Without a child, there is none to wait for. */
	return wait(&status) < 0 || status;
}
