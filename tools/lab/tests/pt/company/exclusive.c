// SPDX-License-Identifier: GPL-2.0-only
/* What cannot be opened beside a trace, nor a trace beside it, and the errno. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "company.h"

#define NOBODY	(-1)
#define AREA	(1UL << 20)

/* Who is to be traced, and where: a task anywhere, or all on a CPU */
struct target {
	bool child;
	int cpu;
};

static const struct {
	const char *name;
	struct target first, second;
	int error;
} pairs[] = {
	{ "a CPU, and again", { .cpu = 0 }, { .cpu = 0 }, -EBUSY },
	{ "two CPUs", { .cpu = 0 }, { .cpu = 1 }, 0 },
	{ "a CPU, then a task", { .cpu = 0 }, { true, NOBODY }, -EBUSY },
	{ "a CPU, then a task on another", { .cpu = 0 }, { true, 1 }, -EBUSY },
	{ "a task, then a CPU", { true, NOBODY }, { .cpu = 1 }, -EBUSY },
	{ "a task, and again", { true, NOBODY }, { true, NOBODY }, -EBUSY },
	{ "a task on a CPU, then anywhere", { true, 0 }, { true, NOBODY }, -EBUSY },
	{ "a task on two CPUs", { true, 0 }, { true, 1 }, 0 },
};

static int open_trace(const struct target *target, pid_t child)
{
	struct perf_event_attr attr;
	int fd;

	aux_attr(&attr);
	fd = aux_open(&attr, target->child ? child : -1, target->cpu);
	return fd < 0 ? -errno : fd;
}

static int close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void test_pairs(pid_t child)
{
	for (unsigned int i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		int first = open_trace(&pairs[i].first, child);
		int second = open_trace(&pairs[i].second, child), after;

		close_fd(first);
		close_fd(second);
		/* What was refused leaves nothing. */
		after = close_fd(open_trace(&pairs[i].second, child));
		point(first >= 0 && (pairs[i].error ? second == pairs[i].error : second >= 0) &&
		      !after, "two traces: %s: %s", pairs[i].name,
		      pairs[i].error ? strerror(-pairs[i].error) : "both");
		if (second < 0 && second != pairs[i].error)
			diag("%s", strerror(-second));
	}
}

static int open_lbr(void)
{
	struct perf_event_attr attr;
	int fd;

	lbr_attr(&attr, 10000);
	fd = aux_open(&attr, 0, -1);
	return fd < 0 ? -errno : fd;
}

static void test_lbr(bool coexist, pid_t child)
{
	const struct target task = { true, NOBODY };
	int trace = open_trace(&task, child), lbr = open_lbr();

	point(trace >= 0 && (coexist ? lbr >= 0 : lbr == -EBUSY),
	      "last branch records beside a trace: %s", lbr < 0 ? strerror(-lbr) : "both");
	close_fd(lbr);
	close_fd(trace);

	lbr = open_lbr();
	trace = open_trace(&task, child);
	point(lbr >= 0 && (coexist ? trace >= 0 : trace == -EBUSY),
	      "a trace beside last branch records: %s", trace < 0 ? strerror(-trace) : "both");
	close_fd(trace);
	close_fd(lbr);
	point(!close_fd(open_trace(&task, child)) && !close_fd(open_lbr()),
	      "either of them alone, afterwards");
}

/* An event that would write to the trace; 0 or -errno. */
static int try_output(int trace, bool freq, unsigned int precise, bool output)
{
	struct perf_event_attr attr;
	int fd;

	sampler_attr(&attr, PERF_COUNT_HW_CPU_CYCLES, 10000);
	attr.freq = freq;
	attr.precise_ip = precise;
	attr.aux_output = output;
	fd = aux_open_in_group(&attr, 0, -1, trace);
	return fd < 0 ? -errno : close_fd(fd);
}

static bool all_refused(int leader, bool freq, enum pebs pebs)
{
	int output = pebs == PEBS_OUTPUT ? -EINVAL : -EOPNOTSUPP;

	return try_output(leader, freq, 0, true) == -EINVAL &&
	       try_output(leader, freq, 1, true) == output &&
	       try_output(leader, freq, 1, false) == (pebs == PEBS_NONE ? -EOPNOTSUPP : 0) &&
	       !try_output(leader, freq, 0, false);
}

/* By period and by frequency; only some processors with PEBS write records to a trace. */
static void test_aux_output(enum pebs pebs)
{
	struct perf_event_attr attr;
	bool good = true;
	int trace;

	aux_attr(&attr);
	trace = aux_open(&attr, 0, -1);
	for (unsigned int freq = 0; freq < 2; freq++) {
		good = good && all_refused(-1, freq, pebs);
		if (pebs == PEBS_OUTPUT)
			good = good && !try_output(trace, freq, 1, true) &&
			       !try_output(trace, freq, 3, true);
		else
			good = good && all_refused(trace, freq, pebs);
	}
	close_fd(trace);
	point(trace >= 0 && good, "PEBS to a trace, by period and by frequency: %s",
	      pebs == PEBS_OUTPUT ? "beside a trace that leads" : strerror(EOPNOTSUPP));
}

/* The trace is closed first: then the records have nowhere to go. */
static void test_output_outlives(void)
{
	struct aux_event trace = { .fd = -1 };
	struct perf_event_attr attr;
	__u64 count = 0;
	int ret, fd;

	ret = aux_open_mapped(&trace, NULL, 0, -1, 1) ?:
	      aux_map_area(&trace, AREA, PROT_READ | PROT_WRITE);
	sampler_attr(&attr, PERF_COUNT_HW_INSTRUCTIONS, 1009);
	attr.exclude_kernel = 1;
	attr.precise_ip = 1;
	attr.aux_output = 1;
	fd = aux_open_in_group(&attr, 0, -1, trace.fd);
	aux_enable(&trace);
	aux_work(1000);
	/* Of a trace that is on nothing may have been told yet. */
	aux_disable(&trace);
	point(!ret && fd >= 0 && read(fd, &count, sizeof(count)) == sizeof(count) && count &&
	      aux_head(&trace), "an event that writes to a trace counts");
	diag("%s, %llu counted", strerror(-ret), count);
	aux_enable(&trace);
	aux_work(1000);
	aux_close(&trace);
	aux_work(1000);
	/* What read() says of an event in the state of an error */
	point(!ret && fd >= 0 && !read(fd, &count, sizeof(count)),
	      "... and ends with the trace");
	close_fd(fd);
}

void test_exclusive(bool coexist, enum pebs pebs)
{
	pid_t child = aux_worker(1);

	test_pairs(child);
	test_lbr(coexist, child);
	test_aux_output(pebs);
	if (pebs == PEBS_OUTPUT)
		test_output_outlives();
	aux_end_worker(child);
}
