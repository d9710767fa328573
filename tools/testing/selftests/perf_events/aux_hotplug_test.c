// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces while CPU 1 goes off and comes back, which others on the machine would notice: not run by
 * default.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aux_harness.h"

#define DATA_PAGES	64
#define AREA		(4UL << 20)
/* aux_head of a trace that is on moves at multiples of this, so that a slow machine gets there */
#define WATERMARK	(64U << 10)
#define PERIOD		20000
#define SWITCHES	4
/* How long events of the PMU "cpu" run before others of its events have their turn */
#define TURN_MS		"/sys/bus/event_source/devices/cpu/perf_event_mux_interval_ms"
/* ... at first in the test of that: so long do events of other CPUs wait as well. */
#define LONG_TURN	10
/* More events than a CPU has counters */
#define COUNTERS	48

FIXTURE(aux_hotplug)
{
	struct aux_event event;
	struct aux_log log;
	bool is_off;
	pid_t worker;
};

#define AUX_FIXTURE aux_hotplug
#include "aux_variants.h"

FIXTURE_SETUP(aux_hotplug)
{
	aux_use(variant->pmu);
	self->event.fd = -1;
	if (aux_missing_hotplug())
		SKIP(return, "%s", aux_missing_hotplug());
	if (aux_pin(0, 1) || aux_pin(0, 0))
		SKIP(return, "needs CPUs 0 and 1");
	ASSERT_EQ(aux_restore_cpu_1_at_end(), 0);
}

FIXTURE_TEARDOWN(aux_hotplug)
{
	aux_end_worker(self->worker);
	if (self->is_off)
		aux_switch_cpu_1(true);
	aux_close(&self->event);
}

static int trace(struct aux_event *event, pid_t pid, int cpu, unsigned int watermark)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	attr.aux_watermark = watermark;
	return aux_open_mapped(event, &attr, pid, cpu, DATA_PAGES) ?:
	       aux_map_area(event, AREA, PROT_READ | PROT_WRITE) ?:
	       aux_enable(event);
}

/* Whether the records tell of all that was traced. The trace is off. */
static bool is_told_of(struct aux_event *event, struct aux_log *log)
{
	aux_drain(event, log);
	return !log->holes && log->end == aux_head(event);
}

/* The CPU that a task runs on, or has run on last: field 39 of /proc/PID/stat. */
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

/* Read what is in the area until more is traced. Returns false if nothing is for 10 seconds. */
static bool goes_on(struct aux_event *event, struct aux_log *log)
{
	__u64 before = aux_head(event);

	for (unsigned int i = 0; i < 1000 && aux_head(event) == before; i++) {
		aux_read_on(event, log);
		usleep(10000);
	}
	return aux_head(event) != before;
}

/* A task whose CPU goes runs on elsewhere, and so does its trace. */
TEST_F_TIMEOUT(aux_hotplug, task_trace_outlives_a_cpu, 120)
{
	self->worker = aux_worker(-1);
	ASSERT_GT(self->worker, 0);
	ASSERT_EQ(trace(&self->event, self->worker, -1, WATERMARK), 0);
	for (unsigned int i = 0; i < SWITCHES / 2; i++) {
		ASSERT_EQ(aux_pin(self->worker, 1), 0);
		EXPECT_TRUE(goes_on(&self->event, &self->log));
		EXPECT_EQ(cpu_of(self->worker), 1);
		self->is_off = true;
		ASSERT_EQ(aux_switch_cpu_1(false), 0);
		EXPECT_TRUE(goes_on(&self->event, &self->log));
		EXPECT_EQ(cpu_of(self->worker), 0);
		ASSERT_EQ(aux_switch_cpu_1(true), 0);
		self->is_off = false;
		EXPECT_TRUE(goes_on(&self->event, &self->log));
	}
	aux_disable(&self->event);
	EXPECT_TRUE(is_told_of(&self->event, &self->log));
	EXPECT_EQ(self->log.itrace, 1);
}

/*
 * The trace of a CPU that goes off can be read meanwhile. When the CPU is back, a new
 * event traces it.
 */
TEST_F_TIMEOUT(aux_hotplug, cpu_trace_ends_with_its_cpu, 120)
{
	self->worker = aux_worker(-1);
	ASSERT_GT(self->worker, 0);
	for (unsigned int i = 0; i < SWITCHES / 2; i++) {
		ASSERT_EQ(trace(&self->event, -1, 1, WATERMARK), 0);
		ASSERT_EQ(aux_pin(self->worker, 1), 0);
		EXPECT_TRUE(goes_on(&self->event, &self->log));
		self->is_off = true;
		ASSERT_EQ(aux_switch_cpu_1(false), 0);
		EXPECT_TRUE(is_told_of(&self->event, &self->log));
		aux_enable(&self->event);
		aux_disable(&self->event);
		ASSERT_EQ(aux_switch_cpu_1(true), 0);
		self->is_off = false;
		aux_close(&self->event);
		self->log = (struct aux_log) { };
	}
	ASSERT_EQ(trace(&self->event, -1, 1, WATERMARK), 0);
	ASSERT_EQ(aux_pin(self->worker, 1), 0);
	EXPECT_TRUE(goes_on(&self->event, &self->log));
}

TEST_F(aux_hotplug, no_trace_of_a_cpu_that_is_off)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	self->is_off = true;
	ASSERT_EQ(aux_switch_cpu_1(false), 0);
	EXPECT_EQ(aux_open(&attr, -1, 1), -1);
	EXPECT_EQ(errno, ENODEV);
}

/* It has left its context when its CPU went: nothing would schedule the group. */
TEST_F(aux_hotplug, leader_whose_cpu_was_off_is_refused)
{
	/* Once there is the leader, no other event of its PMU is possible. */
	bool pauses = !aux_missing_pause();
	struct perf_event_attr attr;
	int leader;

	aux_attr(&attr);
	leader = aux_open(&attr, -1, 1);
	ASSERT_GE(leader, 0);
	ASSERT_EQ(aux_switch_cpu_1(false), 0);
	EXPECT_EQ(aux_switch_cpu_1(true), 0);
	aux_sampler_attr(&attr, PERIOD);
	EXPECT_EQ(aux_open_in_group(&attr, -1, 1, leader), -1);
	EXPECT_EQ(errno, ENODEV);
	if (pauses) {
		aux_set_action(&attr, AUX_PAUSE);
		EXPECT_EQ(aux_open_in_group(&attr, -1, 1, leader), -1);
		EXPECT_EQ(errno, ENODEV);
	}
	close(leader);
}

/* How many of the events have had a turn. */
static unsigned int had_a_turn(const int *fds)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < COUNTERS; i++) {
		struct { __u64 count, running; } now = { };

		if (read(fds[i], &now, sizeof(now)) == sizeof(now) && now.running)
			n++;
	}
	return n;
}

/* ... until all of them have, or that time has come. */
static unsigned int wait_for_turns(const int *fds, double end)
{
	unsigned int n = had_a_turn(fds);

	while (n < COUNTERS && aux_seconds() < end) {
		usleep(10000);
		n = had_a_turn(fds);
	}
	return n;
}

/* A long turn does not go on when the CPU has been off. */
TEST(events_take_turns_when_the_cpu_is_back)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fds[COUNTERS];
	char turn[16];
	double end;

	if (aux_missing_hotplug())
		SKIP(return, "%s", aux_missing_hotplug());
	ASSERT_EQ(aux_restore_cpu_1_at_end(), 0);
	fds[0] = aux_open(&attr, -1, 1);
	if (fds[0] < 0 || access(TURN_MS, W_OK))
		SKIP(return, "no counter of the PMU cpu counts instructions");
	close(fds[0]);
	ASSERT_EQ(aux_restore_at_end(TURN_MS, NULL), 0);
	/* A turn begins on each CPU. */
	snprintf(turn, sizeof(turn), "%d", LONG_TURN * 1000);
	end = aux_seconds() + LONG_TURN;
	ASSERT_EQ(aux_write_file(TURN_MS, turn), 0);
	ASSERT_EQ(aux_switch_cpu_1(false), 0);
	ASSERT_EQ(aux_switch_cpu_1(true), 0);
	ASSERT_EQ(aux_write_file(TURN_MS, "1"), 0);
	for (unsigned int i = 0; i < COUNTERS; i++) {
		fds[i] = aux_open(&attr, -1, 1);
		ASSERT_GE(fds[i], 0);
	}
	EXPECT_EQ(wait_for_turns(fds, end - 1), COUNTERS);
	for (unsigned int i = 0; i < COUNTERS; i++)
		close(fds[i]);
	/* Until then, events of other CPUs do not take turns. */
	while (aux_seconds() < end)
		usleep(10000);
}

TEST_HARNESS_MAIN
