// SPDX-License-Identifier: GPL-2.0-only
/*
 * Meets each errno that the table in Documentation/admin-guide/perf/intel-bts.rst
 * has; run in a guest, as root. Prints TAP, and in each name
 *
 *   system call | errno | condition | what was done
 *
 *   errors usual|levels|both|none
 *
 * says what the processor has: nothing unusual; no DS-CPL; BTS that can be on
 * together with Intel PT; no BTS.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "errors.h"

#define AREA		(64UL << 10)
#define DATA_PAGES	4

/* What was refused leaves nothing behind: a usual trace is possible. */
static bool is_usual(bool levels)
{
	struct aux_event event = { .fd = -1 };
	struct perf_event_attr attr;
	bool good;

	aux_attr(&attr);
	attr.exclude_kernel = levels;
	good = !aux_open_mapped(&event, &attr, 0, -1, DATA_PAGES) &&
	       !aux_map_area(&event, AREA, PROT_READ | PROT_WRITE) && !aux_enable(&event);
	aux_work(1000);
	good = good && !aux_disable(&event) && aux_head(&event);
	aux_close(&event);
	return good;
}

static int meet(const struct refusal *refusal)
{
	if (refusal->with_event)
		return meet_with_event(refusal->with_event);
	if (refusal->beside[0])
		return meet_beside(refusal->beside[0], refusal->beside[1]);
	/* The other half of it: with a little more privilege it is allowed. */
	if (refusal->enough && as_nobody(refusal->enough, refusal->meet))
		return BROKEN;
	if (refusal->paranoid)
		return as_nobody(refusal->paranoid, refusal->meet);
	return refusal->meet();
}

/* @pmu: there is one; @levels: and it can exclude some */
static void run(const struct refusal *cases, bool pmu, bool levels)
{
	for (; cases->call; cases++) {
		int ret = meet(cases);
		bool usual = !pmu || is_usual(levels);
		const char *met = ret < 0 ? strerrorname_np(-ret) : ret ? "not tried" : "allowed";

		point(ret < 0 && usual, "%s | %s | %s | %s", cases->call, met, cases->when,
		      cases->what);
		if (!usual)
			diag("afterwards, a usual trace is not possible");
	}
}

/* What is refused elsewhere is not here. */
static void run_allowed(const struct refusal *cases)
{
	for (; cases->call; cases++)
		point(!meet(cases), "allowed here: %s", cases->what);
}

int main(int argc, char **argv)
{
	const char *mode = argc == 2 ? argv[1] : "";

	setlinebuf(stdout);
	aux_use("intel_bts");
	if (!strcmp(mode, "usual")) {
		run(by_privilege, true, true);
		run(by_attr, true, true);
		run(by_trace, true, true);
		run(by_others, true, true);
		run(by_pt, true, true);
		run(by_area, true, true);
		run(by_cpu, true, true);
		run(by_memory, true, true);
	} else if (!strcmp(mode, "levels")) {
		run(by_level, true, false);
	} else if (!strcmp(mode, "both")) {
		run(by_others, true, true);
		run_allowed(by_pt);
	} else if (!strcmp(mode, "none")) {
		run(missing, false, false);
	} else {
		fprintf(stderr, "usage: errors usual|levels|both|none\n");
		return 2;
	}
	return end_points();
}
