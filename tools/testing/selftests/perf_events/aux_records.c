// SPDX-License-Identifier: GPL-2.0-only
/* The records of an AUX trace: the task that they name; each one has data or flags. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_harness.h"

#define DATA_PAGES	64
#define AREA		(4UL << 20)
#define SLEEPS		300
#define ROUNDS		300
#define CYCLES		20
#define MOVES		200

FIXTURE(aux_records)
{
	struct aux_event event;
	struct aux_log log;
	pid_t child;
	int go;
};

#define AUX_FIXTURE aux_records
#define AUX_CHUNKS
#include "aux_variants.h"

/* Be scheduled out. Where interrupts are slow, a sleep may be over before that. */
static void sleep_once(void)
{
	struct rusage before, now;

	getrusage(RUSAGE_SELF, &before);
	do {
		usleep(100);
		getrusage(RUSAGE_SELF, &now);
	} while (now.ru_nvcsw == before.ru_nvcsw);
}

/* A task that is scheduled out often. */
static void storm(int wait_for)
{
	char byte;

	if (read(wait_for, &byte, 1) != 1)
		_exit(1);
	for (unsigned int i = 0; i < SLEEPS; i++) {
		aux_work(i % 3 ? ROUNDS : 0);
		sleep_once();
	}
	_exit(0);
}

FIXTURE_SETUP(aux_records)
{
	int ends[2];

	aux_use(variant->pmu);
	self->event.fd = -1;
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	ASSERT_EQ(pipe(ends), 0);
	self->go = ends[1];
	self->child = fork();
	ASSERT_GE(self->child, 0);
	if (!self->child)
		storm(ends[0]);

	ASSERT_EQ(aux_open_mapped(&self->event, NULL, self->child, -1, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&self->event, AREA, PROT_READ | PROT_WRITE), 0);
}

FIXTURE_TEARDOWN(aux_records)
{
	aux_end_worker(self->child);
	aux_close(&self->event);
}

static int let_it_run(int go, pid_t child)
{
	int status = -1;

	if (write(go, "", 1) != 1)
		return -1;
	waitpid(child, &status, 0);
	return status;
}

TEST_F_TIMEOUT(aux_records, itrace_start_once_before_data, 60)
{
	ASSERT_EQ(aux_enable(&self->event), 0);
	ASSERT_EQ(let_it_run(self->go, self->child), 0);
	aux_drain(&self->event, &self->log);
	ASSERT_GT(self->log.aux, SLEEPS / 2);
	EXPECT_EQ(self->log.itrace, 1);
	EXPECT_FALSE(self->log.early);
	EXPECT_EQ(self->log.pid, self->child);
	EXPECT_EQ(self->log.tid, self->child);
	self->child = 0;
}

TEST_F_TIMEOUT(aux_records, each_byte_once_and_nothing_empty, 60)
{
	ASSERT_EQ(aux_enable(&self->event), 0);
	ASSERT_EQ(let_it_run(self->go, self->child), 0);
	self->child = 0;
	aux_drain(&self->event, &self->log);
	EXPECT_EQ(self->log.empty, 0);
	EXPECT_EQ(self->log.holes, 0);
	EXPECT_EQ(self->log.end, aux_head(&self->event));
	EXPECT_EQ(self->log.lost, 0);
}

#include "aux_fixture.h"

TEST_F(aux, enabled_again_starts_no_second_trace)
{
	struct aux_event event = { };
	struct aux_log log = { };

	ASSERT_EQ(aux_open_mapped(&event, NULL, 0, -1, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&event, AREA, PROT_READ | PROT_WRITE), 0);
	for (unsigned int i = 0; i < CYCLES; i++) {
		aux_enable(&event);
		aux_work(ROUNDS);
		aux_disable(&event);
	}
	aux_drain(&event, &log);
	EXPECT_EQ(log.itrace, 1);
	EXPECT_EQ(log.pid, getpid());
	EXPECT_EQ(log.tid, getpid());
	EXPECT_GE(log.aux, CYCLES);
	EXPECT_EQ(log.empty, 0);
	aux_close(&event);
}

/* The CPUs that a task runs on, one after the other, write to one area. */
TEST_F_TIMEOUT(aux, follows_its_task, 120)
{
	struct aux_event event = { };
	struct aux_log log = { };

	if (aux_cpu(1) < 0)
		SKIP(return, "one CPU only");
	ASSERT_EQ(aux_pin(0, aux_cpu(1)), 0);
	ASSERT_EQ(aux_open_mapped(&event, NULL, 0, -1, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&event, AREA, PROT_READ | PROT_WRITE), 0);
	ASSERT_EQ(aux_enable(&event), 0);
	for (unsigned int i = 0; i < MOVES; i++) {
		__u64 before = aux_head(&event);

		aux_work(10 * ROUNDS);
		ASSERT_EQ(aux_pin(0, aux_cpu(i % 2)), 0);
		EXPECT_GT(aux_head(&event), before);
		aux_drain(&event, &log);
		aux_set_tail(&event, log.end);
	}
	aux_disable(&event);
	aux_drain(&event, &log);
	EXPECT_EQ(log.holes, 0);
	EXPECT_EQ(log.end, aux_head(&event));
	EXPECT_EQ(log.itrace, 1);
	EXPECT_FALSE(log.flags_seen & ~(__u64)PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK);
	aux_close(&event);
}

TEST_F(aux, none_of_a_cpu_that_cannot_be)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	EXPECT_EQ(aux_open(&attr, -1, 1 << 20), -1);
	EXPECT_EQ(errno, EINVAL);
}

TEST_HARNESS_MAIN
