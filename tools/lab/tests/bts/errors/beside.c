// SPDX-License-Identifier: GPL-2.0-only
/* perf_event_open(2) beside an event that exists, and that nobody has enabled. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "errors.h"

#define PERIOD	10000

static int open_thread(void)
{
	return open_trace(NULL, 0, ANYWHERE);
}

static int open_thread_on_cpu(void)
{
	return open_trace(NULL, 0, 0);
}

static int open_cpu(void)
{
	return open_trace(NULL, EVERYBODY, 0);
}

static int open_other_cpu(void)
{
	return open_trace(NULL, EVERYBODY, 1);
}

static int open_pt(void)
{
	int fd;

	aux_use("intel_pt");
	fd = open_thread();
	aux_use("intel_bts");
	return fd;
}

static int open_sampler(struct perf_event_attr *attr)
{
	int fd = aux_open(attr, 0, ANYWHERE);

	return fd < 0 ? -errno : fd;
}

static int open_lbr(void)
{
	struct perf_event_attr attr;

	lbr_attr(&attr, PERIOD);
	return open_sampler(&attr);
}

static int open_each_branch(void)
{
	struct perf_event_attr attr;

	sampler_attr(&attr, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1);
	attr.exclude_kernel = 1;
	return open_sampler(&attr);
}

int meet_beside(int (*first)(void), int (*second)(void))
{
	int one, ret;

	if (close_trace(second()))
		return BROKEN;
	one = first();
	if (one < 0)
		return BROKEN;
	ret = close_trace(second());
	close(one);
	return ret;
}

#define CPU_AND_TASK	"for a CPU beside an event of a task, or the other way round"
#define TWICE		"for a CPU or a task that has such an event"

const struct refusal by_trace[] = {
	{ OPEN, CPU_AND_TASK, "a task, then a CPU", .beside = { open_thread, open_other_cpu } },
	{ OPEN, CPU_AND_TASK, "a CPU, then a task", .beside = { open_cpu, open_thread } },
	{ OPEN, TWICE, "a CPU, and again", .beside = { open_cpu, open_cpu } },
	{ OPEN, TWICE, "a task, and again", .beside = { open_thread, open_thread } },
	{ OPEN, TWICE, "a task on a CPU, then anywhere",
	  .beside = { open_thread_on_cpu, open_thread } },
	{ }
};

#define LBR		"beside last branch records"
#define EACH_BRANCH	"beside samples of each branch by the core PMU"

const struct refusal by_others[] = {
	{ OPEN, LBR, "last branch records, then a trace", .beside = { open_lbr, open_thread } },
	{ OPEN, LBR, "a trace, then last branch records", .beside = { open_thread, open_lbr } },
	{ OPEN, EACH_BRANCH, "samples of each branch, then a trace",
	  .beside = { open_each_branch, open_thread } },
	{ OPEN, EACH_BRANCH, "a trace, then samples of each branch",
	  .beside = { open_thread, open_each_branch } },
	{ }
};

#define PT	"beside Intel PT, on processors that cannot use both"

const struct refusal by_pt[] = {
	{ OPEN, PT, "Intel PT, then BTS", .beside = { open_pt, open_thread } },
	{ OPEN, PT, "BTS, then Intel PT", .beside = { open_thread, open_pt } },
	{ }
};
