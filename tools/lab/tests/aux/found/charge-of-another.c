// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another user maps the AUX area of an event, beside the data buffer that root has mapped. Its pages
 * are charged to that user and given back to root. The user may lock fewer pages as long as it has a
 * process; what root has locked is below zero then, which counts as all that it may.
 *
 * Since: 45bfb2e50471 ("perf: Add AUX area to ring buffer for raw data streams")
 * Mended by: aux-output
 * Says: pages stay charged to a user
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include "event.h"

#define NOBODY	65534

int main(void)
{
	struct perf_event_attr trace = { .type = pmu_type("intel_pt"), .exclude_kernel = 1 };
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	int event = open_event(&trace, -1), status;
	pid_t child;

	map(event, 0, 0);
	child = fork();
	if (!child) {
		if (setrlimit(RLIMIT_MEMLOCK, &all) || setuid(NOBODY))
			err(2, "user");
		map(event, 16, PROT_READ | PROT_WRITE);
		_exit(0);
	}
	return child < 0 || wait(&status) != child || status;
}
