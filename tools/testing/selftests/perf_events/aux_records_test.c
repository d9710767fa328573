// SPDX-License-Identifier: GPL-2.0-only
/* The records of an AUX trace: the task that they name; each one has data or flags. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "aux_harness.h"

#define DATA_PAGES	64
#define AREA		(4UL << 20)
#define SLEEPS		300
#define ROUNDS		300
#define CYCLES		20
#define MOVES		200
#define NANOSECONDS	1000000000ULL

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

/* sample_id at the end of a record, of an event that asks for all of it */
struct ids {
	__u32 pid, tid;
	__u64 time, id, stream_id;
	__u32 cpu, reserved;
	__u64 identifier;
};

static void open_with_ids(struct __test_metadata *_metadata, struct aux_event *event, pid_t pid,
			  bool inherit)
{
	struct perf_event_attr attr;

	ASSERT_EQ(aux_pin(0, aux_cpu(0)), 0);
	aux_attr(&attr);
	attr.inherit = inherit;
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	ASSERT_EQ(aux_open_mapped(event, &attr, pid, aux_cpu(0), DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(event, AREA, PROT_READ | PROT_WRITE), 0);
}

static __u64 now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NANOSECONDS + now.tv_nsec;
}

/* The next record of a trace from a time on: its ids; false if there is none. */
static bool expect_ids(struct __test_metadata *_metadata, struct aux_event *event, __u64 *from,
		       struct aux_record *record, struct ids *ids)
{
	__u64 id;

	do {
		if (!aux_next(event, record))
			return false;
	} while (record->header.type != PERF_RECORD_AUX &&
		 record->header.type != PERF_RECORD_ITRACE_START);
	memcpy(ids, (char *)record + record->header.size - sizeof(*ids), sizeof(*ids));
	ASSERT_EQ(ioctl(event->fd, PERF_EVENT_IOC_ID, &id), 0);
	EXPECT_EQ(ids->id, id);
	EXPECT_EQ(ids->identifier, id);
	EXPECT_EQ(ids->cpu, aux_cpu(0));
	EXPECT_EQ(ids->reserved, 0);
	EXPECT_GE(ids->time, *from);
	*from = ids->time;
	return true;
}

/* Records of the caller, whether its events or those of its CPU are traced */
static void expect_own_ids(struct __test_metadata *_metadata, pid_t pid)
{
	unsigned int records[2] = { };
	static struct aux_record record;
	struct aux_event event = { };
	__u64 from = now();
	struct ids ids;

	open_with_ids(_metadata, &event, pid, false);
	aux_enable(&event);
	aux_work(ROUNDS);
	aux_disable(&event);
	while (expect_ids(_metadata, &event, &from, &record, &ids)) {
		EXPECT_EQ(ids.stream_id, ids.id);
		records[record.header.type == PERF_RECORD_AUX]++;
		if (record.header.type == PERF_RECORD_AUX)
			continue;
		/* The task that runs, which enables the event */
		EXPECT_EQ(record.itrace.pid, getpid());
		EXPECT_EQ(record.itrace.tid, gettid());
		EXPECT_EQ(ids.pid, getpid());
		EXPECT_EQ(ids.tid, gettid());
	}
	EXPECT_EQ(records[0], 1);
	EXPECT_GT(records[1], 0);
	EXPECT_LE(from, now());
	aux_close(&event);
}

TEST_F(aux, ids_of_a_task)
{
	expect_own_ids(_metadata, 0);
}

TEST_F(aux, ids_of_a_cpu)
{
	if (aux_missing_cpu())
		SKIP(return, "%s", aux_missing_cpu());
	expect_own_ids(_metadata, -1);
}

/*
 * What a child writes has the ID of its parent's event. That of the stream is of the event that
 * writes; parent and child may have changed events when one was switched for the other.
 */
TEST_F(aux, ids_of_a_child)
{
	static struct aux_record record;
	struct aux_event event = { };
	unsigned int of_child = 0, of_its_event = 0;
	__u64 from = now();
	struct ids ids;
	pid_t pid;

	open_with_ids(_metadata, &event, 0, true);
	aux_enable(&event);
	pid = fork();
	if (!pid) {
		aux_work(ROUNDS);
		_exit(0);
	}
	ASSERT_EQ(waitpid(pid, NULL, 0), pid);
	aux_disable(&event);
	while (expect_ids(_metadata, &event, &from, &record, &ids)) {
		EXPECT_TRUE(ids.pid == (__u32)pid || ids.pid == (__u32)getpid());
		of_child += ids.pid == (__u32)pid;
		of_its_event += ids.stream_id != ids.id;
	}
	EXPECT_GT(of_child, 0);
	EXPECT_GT(of_its_event, 0);
	aux_close(&event);
}

TEST_HARNESS_MAIN
