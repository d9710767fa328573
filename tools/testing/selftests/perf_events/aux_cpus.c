// SPDX-License-Identifier: GPL-2.0-only
/* A trace and the CPUs: its task moves between them, and they come and go. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "aux_util.h"

#define CPU_1_ONLINE	"/sys/devices/system/cpu/cpu1/online"
#define DATA_PAGES	64
#define AREA		(4UL << 20)
#define ROUNDS		2000
#define MOVES		200
#define SWITCHES	4

FIXTURE(aux_cpus)
{
	struct aux_event event;
	struct aux_log log;
	bool is_off;
	pid_t worker;
};

static int switch_cpu_1(const char *to)
{
	int fd = open(CPU_1_ONLINE, O_WRONLY);
	int ret = fd < 0 || write(fd, to, 1) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return ret;
}

FIXTURE_SETUP(aux_cpus)
{
	self->event.fd = -1;
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	if (aux_pin(0, 1) || aux_pin(0, 0))
		SKIP(return, "needs CPUs 0 and 1");
}

FIXTURE_TEARDOWN(aux_cpus)
{
	aux_end_worker(self->worker);
	if (self->is_off)
		switch_cpu_1("1");
	aux_close(&self->event);
}

static int trace(struct aux_event *event, pid_t pid, int cpu)
{
	return aux_open_mapped(event, NULL, pid, cpu, DATA_PAGES) ?:
	       aux_map_area(event, AREA, PROT_READ | PROT_WRITE) ?:
	       aux_enable(event);
}

/* Take what there is, so that there is room; whether all of it was in records. */
static bool take(struct aux_event *event, struct aux_log *log)
{
	__u64 head = aux_head(event);

	aux_drain(event, log);
	/* What has come meanwhile is told of next time. */
	aux_set_tail(event, log->end < head ? log->end : head);
	return !log->holes && log->end >= head;
}

/* Whatever CPU it runs on writes to the same area, one after the other. */
TEST_F_TIMEOUT(aux_cpus, trace_follows_its_task, 120)
{
	ASSERT_EQ(trace(&self->event, 0, -1), 0);
	for (unsigned int i = 0; i < MOVES; i++) {
		__u64 before = aux_head(&self->event);

		ASSERT_EQ(aux_pin(0, i % 2 ? 0 : 1), 0);
		aux_work(ROUNDS);
		sched_yield();
		ASSERT_EQ(aux_pin(0, i % 2), 0);
		EXPECT_GT(aux_head(&self->event), before);
		aux_drain(&self->event, &self->log);
		aux_set_tail(&self->event, self->log.end);
	}
	aux_disable(&self->event);
	EXPECT_TRUE(take(&self->event, &self->log));
	EXPECT_EQ(self->log.itrace, 1);
	EXPECT_FALSE(self->log.flags_seen & ~(__u64)PERF_AUX_FLAG_OVERWRITE);
}

/* The task goes on elsewhere, and so does its trace. */
TEST_F_TIMEOUT(aux_cpus, task_trace_outlives_a_cpu, 120)
{
	if (geteuid() || access(CPU_1_ONLINE, W_OK))
		SKIP(return, "no CPU that can be taken off");
	self->worker = aux_worker(-1);
	ASSERT_GT(self->worker, 0);
	ASSERT_EQ(trace(&self->event, self->worker, -1), 0);
	for (unsigned int i = 0; i < SWITCHES; i++) {
		__u64 before;

		self->is_off = !self->is_off;
		ASSERT_EQ(switch_cpu_1(self->is_off ? "0" : "1"), 0);
		aux_drain(&self->event, &self->log);
		aux_set_tail(&self->event, self->log.end);
		aux_enable(&self->event);
		before = aux_head(&self->event);
		for (unsigned int j = 0; j < 100 && aux_head(&self->event) == before; j++)
			usleep(10000);
		EXPECT_GT(aux_head(&self->event), before);
	}
	aux_disable(&self->event);
	EXPECT_TRUE(take(&self->event, &self->log));
	EXPECT_EQ(self->log.itrace, 1);
}

/* What it had traced can be read while its CPU is off; a new event traces when it is back. */
TEST_F_TIMEOUT(aux_cpus, cpu_trace_ends_with_its_cpu, 120)
{
	__u64 head;

	if (geteuid() || access(CPU_1_ONLINE, W_OK))
		SKIP(return, "no CPU that can be taken off");
	self->worker = aux_worker(-1);
	ASSERT_GT(self->worker, 0);
	for (unsigned int i = 0; i < SWITCHES / 2; i++) {
		ASSERT_EQ(trace(&self->event, -1, 1), 0);
		ASSERT_EQ(aux_pin(self->worker, 1), 0);
		for (unsigned int j = 0; j < 100 && !aux_head(&self->event); j++)
			usleep(10000);
		self->is_off = true;
		ASSERT_EQ(switch_cpu_1("0"), 0);
		head = aux_head(&self->event);
		EXPECT_GT(head, 0);
		aux_drain(&self->event, &self->log);
		EXPECT_EQ(self->log.end, head);
		EXPECT_EQ(self->log.holes, 0);
		aux_enable(&self->event);
		aux_disable(&self->event);
		ASSERT_EQ(switch_cpu_1("1"), 0);
		self->is_off = false;
		aux_enable(&self->event);
		EXPECT_GE(aux_head(&self->event), head);
		aux_close(&self->event);
		self->log = (struct aux_log) { };
	}
}

/* To open one where there is none is an error of the caller, not of the kernel. */
TEST_F(aux_cpus, no_trace_of_a_cpu_that_is_off)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	EXPECT_EQ(aux_open(&attr, -1, 1 << 20), -1);
	EXPECT_EQ(errno, EINVAL);
	if (geteuid() || access(CPU_1_ONLINE, W_OK))
		SKIP(return, "no CPU that can be taken off");
	self->is_off = true;
	ASSERT_EQ(switch_cpu_1("0"), 0);
	EXPECT_EQ(aux_open(&attr, -1, 1), -1);
	EXPECT_EQ(errno, ENODEV);
}

TEST_HARNESS_MAIN
