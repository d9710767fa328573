// SPDX-License-Identifier: GPL-2.0-only
/* Others that trace the same task: Intel PT, and the core PMU's samples of each branch. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bts_company.h"

#define PT		"intel_pt"
#define BTS		"intel_bts"
#define AREA		(1UL << 20)
#define DATA_PAGES	8
#define PATIENCE	20.0

/* An event of a PMU on a task, with its area, disabled; 0 or -errno. */
static int open_of(const char *pmu, struct aux_event *event, pid_t child)
{
	struct perf_event_attr attr;
	int ret;

	aux_use(pmu);
	aux_attr(&attr);
	aux_use(BTS);
	event->fd = -1;
	ret = aux_open_mapped(event, &attr, child, -1, DATA_PAGES);
	return ret ?: aux_map_area(event, AREA, PROT_READ);
}

static void close_of(struct aux_event *event)
{
	if (event->fd >= 0)
		aux_close(event);
	event->fd = -1;
}

static bool both_trace(struct aux_event *events)
{
	double begin = aux_seconds();

	aux_enable(&events[0]);
	aux_enable(&events[1]);
	while (aux_seconds() - begin < PATIENCE) {
		usleep(20000);
		aux_disable(&events[0]);
		aux_disable(&events[1]);
		if (aux_head(&events[0]) && aux_head(&events[1]))
			return true;
		aux_enable(&events[0]);
		aux_enable(&events[1]);
	}
	return false;
}

void test_pt(bool coexist, pid_t child)
{
	static const char *const orders[][2] = { { PT, BTS }, { BTS, PT } };

	for (unsigned int i = 0; i < 2; i++) {
		struct aux_event events[2];
		int errors[2];

		for (unsigned int j = 0; j < 2; j++)
			errors[j] = open_of(orders[i][j], &events[j], child);
		point(!errors[0] && errors[1] == (coexist ? 0 : -EBUSY), "%s, then %s: %s",
		      orders[i][0], orders[i][1], errors[1] ? strerror(-errors[1]) : "both");
		if (coexist)
			point(!errors[0] && !errors[1] && both_trace(events),
			      "%s, then %s: both trace", orders[i][0], orders[i][1]);
		close_of(&events[1]);
		close_of(&events[0]);
	}
}

/* The core PMU has a buffer of its own in the debug store for samples of each branch. */
static int open_branches(pid_t child)
{
	struct perf_event_attr attr;
	int fd;

	sampler_attr(&attr, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1);
	attr.exclude_kernel = 1;
	fd = aux_open(&attr, child, -1);
	return fd < 0 ? -errno : fd;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void test_samples_of_branches(pid_t child)
{
	struct aux_event trace;
	int ret = open_of(BTS, &trace, child), fd = open_branches(child);

	point(!ret && fd == -EBUSY, "samples of each branch beside a trace: %s", strerror(EBUSY));
	close_fd(fd);
	close_of(&trace);

	fd = open_branches(child);
	ret = open_of(BTS, &trace, child);
	point(fd >= 0 && ret == -EBUSY, "a trace beside samples of each branch: %s",
	      strerror(EBUSY));
	close_of(&trace);
	close_fd(fd);
}
