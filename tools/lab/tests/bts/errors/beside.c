// SPDX-License-Identifier: GPL-2.0-only
/* perf_event_open(2) beside an event that exists, and that nobody has enabled. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "errors.h"

#define PERIOD	10000

typedef int opener(void);

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

	setenv("AUX_PMU", "intel_pt", 1);
	fd = open_thread();
	setenv("AUX_PMU", "intel_bts", 1);
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

/* What the second meets; alone, it is allowed. */
static int beside(opener *first, opener *second)
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

static int meet_task_and_cpu(void)
{
	return beside(open_thread, open_other_cpu);
}

static int meet_cpu_and_task(void)
{
	return beside(open_cpu, open_thread);
}

static int meet_cpu_twice(void)
{
	return beside(open_cpu, open_cpu);
}

static int meet_task_twice(void)
{
	return beside(open_thread, open_thread);
}

static int meet_task_elsewhere(void)
{
	return beside(open_thread_on_cpu, open_thread);
}

#define CPU_AND_TASK	"for a CPU beside an event of a task, or the other way round"
#define TWICE		"for a CPU or a task that has such an event"

const struct refusal by_trace[] = {
	{ OPEN, CPU_AND_TASK, "a task, then a CPU", meet_task_and_cpu },
	{ OPEN, CPU_AND_TASK, "a CPU, then a task", meet_cpu_and_task },
	{ OPEN, TWICE, "a CPU, and again", meet_cpu_twice },
	{ OPEN, TWICE, "a task, and again", meet_task_twice },
	{ OPEN, TWICE, "a task on a CPU, then anywhere", meet_task_elsewhere },
	{ }
};

static int meet_lbr_and_trace(void)
{
	return beside(open_lbr, open_thread);
}

static int meet_trace_and_lbr(void)
{
	return beside(open_thread, open_lbr);
}

static int meet_branches_and_trace(void)
{
	return beside(open_each_branch, open_thread);
}

static int meet_trace_and_branches(void)
{
	return beside(open_thread, open_each_branch);
}

#define LBR		"beside last branch records"
#define EACH_BRANCH	"beside samples of each branch by the core PMU"

const struct refusal by_others[] = {
	{ OPEN, LBR, "last branch records, then a trace", meet_lbr_and_trace },
	{ OPEN, LBR, "a trace, then last branch records", meet_trace_and_lbr },
	{ OPEN, EACH_BRANCH, "samples of each branch, then a trace", meet_branches_and_trace },
	{ OPEN, EACH_BRANCH, "a trace, then samples of each branch", meet_trace_and_branches },
	{ }
};

static int meet_pt_and_trace(void)
{
	return beside(open_pt, open_thread);
}

static int meet_trace_and_pt(void)
{
	return beside(open_thread, open_pt);
}

#define PT	"beside Intel PT, on processors that cannot use both"

const struct refusal by_pt[] = {
	{ OPEN, PT, "Intel PT, then BTS", meet_pt_and_trace },
	{ OPEN, PT, "BTS, then Intel PT", meet_trace_and_pt },
	{ }
};
