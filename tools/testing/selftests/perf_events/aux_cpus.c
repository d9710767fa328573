// SPDX-License-Identifier: GPL-2.0-only
/* A trace and the CPUs: its task moves between them, and they come and go. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
	if (!access(CPU_1_ONLINE, W_OK))
		ASSERT_EQ(aux_restore_at_end(CPU_1_ONLINE, "1"), 0);
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

		aux_work(ROUNDS);
		ASSERT_EQ(aux_pin(0, i % 2 ? 0 : 1), 0);
		EXPECT_GT(aux_head(&self->event), before);
		aux_drain(&self->event, &self->log);
		aux_set_tail(&self->event, self->log.end);
	}
	aux_disable(&self->event);
	EXPECT_TRUE(take(&self->event, &self->log));
	EXPECT_EQ(self->log.itrace, 1);
	EXPECT_FALSE(self->log.flags_seen & ~(__u64)PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK);
}

/* Field 39 of /proc/PID/stat: the CPU that a task runs on, or has run on last. */
static int cpu_of(pid_t pid)
{
	char path[32], text[1024] = "", *at;
	FILE *file;
	int cpu = -1;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return -1;
	/* What is behind the name of the program, which may have spaces */
	at = fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	for (int field = 2; at && field < 39; field++)
		at = strchr(at + 1, ' ');
	if (at)
		cpu = atoi(at);
	fclose(file);
	return cpu;
}

/* Whether more trace comes, given some time; its reader makes room for that. */
static bool goes_on(struct aux_event *event, struct aux_log *log)
{
	__u64 before = aux_head(event);

	for (unsigned int i = 0; i < 1000 && aux_head(event) == before; i++) {
		aux_drain(event, log);
		aux_set_tail(event, log->end);
		aux_enable(event);
		usleep(10000);
	}
	return aux_head(event) != before;
}

/* A task whose CPU goes runs on elsewhere, and so does its trace. */
TEST_F_TIMEOUT(aux_cpus, task_trace_outlives_a_cpu, 120)
{
	if (geteuid() || access(CPU_1_ONLINE, W_OK))
		SKIP(return, "no CPU that can be taken off");
	self->worker = aux_worker(-1);
	ASSERT_GT(self->worker, 0);
	ASSERT_EQ(trace(&self->event, self->worker, -1), 0);
	for (unsigned int i = 0; i < SWITCHES / 2; i++) {
		ASSERT_EQ(aux_pin(self->worker, 1), 0);
		EXPECT_TRUE(goes_on(&self->event, &self->log));
		EXPECT_EQ(cpu_of(self->worker), 1);
		self->is_off = true;
		ASSERT_EQ(switch_cpu_1("0"), 0);
		EXPECT_TRUE(goes_on(&self->event, &self->log));
		EXPECT_EQ(cpu_of(self->worker), 0);
		ASSERT_EQ(switch_cpu_1("1"), 0);
		self->is_off = false;
		EXPECT_TRUE(goes_on(&self->event, &self->log));
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
		EXPECT_TRUE(goes_on(&self->event, &self->log));
		self->is_off = true;
		ASSERT_EQ(switch_cpu_1("0"), 0);
		head = aux_head(&self->event);
		aux_drain(&self->event, &self->log);
		EXPECT_EQ(self->log.end, head);
		EXPECT_EQ(self->log.holes, 0);
		aux_enable(&self->event);
		aux_disable(&self->event);
		ASSERT_EQ(switch_cpu_1("1"), 0);
		self->is_off = false;
		aux_close(&self->event);
		self->log = (struct aux_log) { };
	}
	ASSERT_EQ(trace(&self->event, -1, 1), 0);
	ASSERT_EQ(aux_pin(self->worker, 1), 0);
	EXPECT_TRUE(goes_on(&self->event, &self->log));
}

TEST_F(aux_cpus, no_trace_of_a_cpu_that_cannot_be)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	EXPECT_EQ(aux_open(&attr, -1, 1 << 20), -1);
	EXPECT_EQ(errno, EINVAL);
}

TEST_F(aux_cpus, no_trace_of_a_cpu_that_is_off)
{
	struct perf_event_attr attr;

	if (geteuid() || access(CPU_1_ONLINE, W_OK))
		SKIP(return, "no CPU that can be taken off");
	aux_attr(&attr);
	self->is_off = true;
	ASSERT_EQ(switch_cpu_1("0"), 0);
	EXPECT_EQ(aux_open(&attr, -1, 1), -1);
	EXPECT_EQ(errno, ENODEV);
}

TEST_HARNESS_MAIN
