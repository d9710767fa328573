// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers that several events share by PERF_EVENT_IOC_SET_OUTPUT, and areas
 * that are unmapped while they are written.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_harness.h"

#define DATA_PAGES	32
#define AREA		(1024UL * 1024)
/* Takes so long to allocate that others come in between */
#define LARGE_AREA	(16UL << 20)
#define HOLD_USEC	5000
#define RACE_SECONDS	2.0
#define STEP_USEC	20000
#define TRIES		250
#define REPEAT		10

/* Two tasks on CPU 0, an event for each of them, one buffer by way of the first. */
FIXTURE(aux_set_output)
{
	pid_t workers[2];
	struct aux_event events[2];
	struct aux_log log;
};

#define AUX_FIXTURE aux_set_output
#include "aux_variants.h"

FIXTURE_SETUP(aux_set_output)
{
	int cpu = aux_cpu(0);
	struct perf_event_attr attr;

	aux_use(variant->pmu);
	self->events[0].fd = -1;
	self->events[1].fd = -1;
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	aux_attr(&attr);
	attr.sample_type = PERF_SAMPLE_TID;
	attr.sample_id_all = 1;
	for (int i = 0; i < 2; i++) {
		self->workers[i] = aux_worker(cpu);
		ASSERT_GT(self->workers[i], 0);
		self->events[i].fd = aux_open(&attr, self->workers[i], cpu);
		ASSERT_GE(self->events[i].fd, 0);
	}
}

FIXTURE_TEARDOWN(aux_set_output)
{
	for (int i = 0; i < 2; i++) {
		aux_end_worker(self->workers[i]);
		aux_close(&self->events[i]);
	}
}

static int map_all(struct aux_event *event)
{
	int ret = aux_map_data(event, DATA_PAGES);

	return ret ?: aux_map_area(event, AREA, PROT_READ | PROT_WRITE);
}

/* To its own buffer again, if TO is -1, which has to be a long */
static int redirect(struct aux_event *from, long to)
{
	return ioctl(from->fd, PERF_EVENT_IOC_SET_OUTPUT, to) ? -errno : 0;
}

/* Waits, as a reader, until the head has moved on by so many bytes. */
static bool moves_on(struct aux_event *event, struct aux_log *log, __u64 bytes)
{
	__u64 start = aux_head(event);

	for (unsigned int i = 0; i < TRIES; i++) {
		aux_read_on(event, log);
		if (aux_head(event) - start >= bytes)
			return true;
		usleep(STEP_USEC);
	}
	return false;
}

/* Counts AUX records of each task. */
static void count_tasks(struct aux_event *event, const pid_t *pids, unsigned int *counts)
{
	__u64 head = aux_data_head(event);
	struct aux_record record;
	__u32 tid;

	while (aux_next_before(event, head, &record)) {
		if (record.header.type != PERF_RECORD_AUX)
			continue;
		/* sample_id: pid, tid */
		memcpy(&tid, (char *)&record + record.header.size - sizeof(tid), sizeof(tid));
		counts[0] += tid == (__u32)pids[0];
		counts[1] += tid == (__u32)pids[1];
	}
}

TEST_F_TIMEOUT(aux_set_output, two_tasks_share_a_buffer, 60)
{
	struct aux_event *first = &self->events[0], *second = &self->events[1];
	unsigned int counts[2] = { };

	ASSERT_EQ(map_all(first), 0);
	ASSERT_EQ(redirect(second, first->fd), 0);
	ASSERT_EQ(aux_enable(first), 0);
	ASSERT_EQ(aux_enable(second), 0);
	EXPECT_TRUE(moves_on(first, &self->log, AREA / 2));
	EXPECT_EQ(self->log.holes, 0);

	for (unsigned int i = 0; i < TRIES && !(counts[0] && counts[1]); i++) {
		usleep(STEP_USEC);
		count_tasks(first, self->workers, counts);
		aux_set_tail(first, aux_head(first));
		aux_enable(first);
		aux_enable(second);
	}
	EXPECT_GT(counts[0], 0);
	EXPECT_GT(counts[1], 0);
}

/* A disabled event of software; of a CPU, or of this task if that is -1 */
static void dummy_attr(struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr) {
		.size = sizeof(*attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
	};
}

/* What it says if an event's output is to be that of a dummy event */
static void expect_redirect(struct __test_metadata *_metadata, struct aux_event *event,
			    struct perf_event_attr *attr, pid_t pid, int cpu, int want)
{
	struct aux_event target;

	ASSERT_EQ(aux_open_mapped(&target, attr, pid, cpu, DATA_PAGES), 0);
	EXPECT_EQ(redirect(event, target.fd), want);
	EXPECT_EQ(redirect(event, -1), 0);
	aux_close(&target);
}

/* A program of 32 bits has no other -1, and a compiler may widen an int without its sign. */
TEST_F(aux_set_output, own_buffer_again_by_an_int)
{
	struct perf_event_attr attr;
	struct aux_event target;

	dummy_attr(&attr);
	ASSERT_EQ(aux_open_mapped(&target, &attr, self->workers[0], aux_cpu(0), DATA_PAGES), 0);
	EXPECT_EQ(redirect(&self->events[0], target.fd), 0);
	EXPECT_EQ(redirect(&self->events[0], (unsigned int)-1), 0);
	aux_close(&target);
}

/* Of the same CPU, with the same clock, and if it is of a task, of the same task */
TEST_F(aux_set_output, buffer_of_another_kind_is_refused)
{
	struct aux_event own = { }, *event = &self->events[0];
	pid_t pid = self->workers[0];
	struct perf_event_attr attr;

	dummy_attr(&attr);
	expect_redirect(_metadata, event, &attr, pid, aux_cpu(0), 0);
	/* On one CPU, tasks may share a buffer. */
	expect_redirect(_metadata, event, &attr, 0, aux_cpu(0), 0);
	expect_redirect(_metadata, event, &attr, pid, -1, -EINVAL);
	if (aux_cpu(1) >= 0)
		expect_redirect(_metadata, event, &attr, pid, aux_cpu(1), -EINVAL);
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	expect_redirect(_metadata, event, &attr, pid, aux_cpu(0), -EINVAL);
	attr.use_clockid = 0;
	attr.write_backward = 1;
	expect_redirect(_metadata, event, &attr, pid, aux_cpu(0), -EINVAL);

	aux_attr(&attr);
	own.fd = aux_open(&attr, 0, -1);
	ASSERT_GE(own.fd, 0);
	dummy_attr(&attr);
	expect_redirect(_metadata, &own, &attr, 0, -1, 0);
	expect_redirect(_metadata, &own, &attr, pid, -1, -EINVAL);
	EXPECT_EQ(redirect(&own, own.fd), -EINVAL);
	aux_close(&own);
}

/* An area is written by one PMU. */
TEST_F(aux_set_output, area_of_another_pmu_is_refused)
{
	struct aux_event target, *event = &self->events[0];

	aux_use(strcmp(variant->pmu, "aux_synth") ? "aux_synth" : "aux_synth_large");
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	ASSERT_EQ(aux_open_mapped(&target, NULL, self->workers[0], aux_cpu(0), DATA_PAGES), 0);
	EXPECT_EQ(redirect(event, target.fd), -EINVAL);
	ASSERT_EQ(aux_map_data(event, DATA_PAGES), 0);
	EXPECT_EQ(redirect(&target, event->fd), -EINVAL);
	aux_close(&target);
}

/* Its children would write to the buffer from several CPUs at a time. */
TEST_F(aux_set_output, inherited_event_of_a_task_is_refused)
{
	struct aux_event target, event = { .fd = -1 };
	struct perf_event_attr attr, dummy;

	dummy_attr(&dummy);
	/* A PMU may be exclusive, so the other event is not of the same PMU. */
	ASSERT_EQ(aux_open_mapped(&target, &dummy, 0, -1, DATA_PAGES), 0);
	aux_attr(&attr);
	event.fd = aux_open(&attr, 0, -1);
	ASSERT_GE(event.fd, 0);
	EXPECT_EQ(redirect(&event, target.fd), 0);
	aux_close(&event);

	attr.inherit = 1;
	event.fd = aux_open(&attr, 0, -1);
	ASSERT_GE(event.fd, 0);
	EXPECT_EQ(redirect(&event, target.fd), -EINVAL);
	aux_close(&event);
	aux_close(&target);
}

TEST_F_TIMEOUT(aux_set_output, area_is_mapped_by_either, 60)
{
	struct aux_event *first = &self->events[0], *second = &self->events[1];
	struct aux_event other = { .fd = second->fd };
	int ret;

	ASSERT_EQ(map_all(first), 0);
	ASSERT_EQ(redirect(second, first->fd), 0);
	ret = aux_map_data(&other, DATA_PAGES);
	if (ret == -EBUSY) {
		/* Newer kernels let the user page be that of one event only. */
		other.page = first->page;
		other.data_len = first->data_len;
		first->page = NULL;
		ret = 0;
	}
	ASSERT_EQ(ret, 0);
	ASSERT_EQ(aux_map_area(&other, AREA, PROT_READ | PROT_WRITE), 0);
	ASSERT_EQ(aux_enable(second), 0);
	aux_unmap(first);

	/* The buffer is still there, and the second event writes to it. */
	EXPECT_TRUE(moves_on(&other, &self->log, AREA / 4));
	aux_unmap(&other);
}

/* Its event stays enabled; a new area is written again, and aux_head counts on. */
TEST_F_TIMEOUT(aux_set_output, unmap_area_while_running, 120)
{
	struct aux_event *e = &self->events[0];

	ASSERT_EQ(map_all(e), 0);
	ASSERT_EQ(aux_enable(e), 0);
	for (unsigned int i = 0; i < REPEAT; i++) {
		ASSERT_TRUE(moves_on(e, &self->log, 4096));
		aux_unmap_area(e);
		usleep(STEP_USEC);
		ASSERT_EQ(aux_map_area(e, AREA, PROT_READ | PROT_WRITE), 0);
	}
	EXPECT_TRUE(moves_on(e, &self->log, 4096));
}

TEST_F_TIMEOUT(aux_set_output, unmap_all_while_running, 120)
{
	struct aux_event *e = &self->events[0];

	ASSERT_EQ(map_all(e), 0);
	ASSERT_EQ(redirect(&self->events[1], e->fd), 0);
	ASSERT_EQ(aux_enable(e), 0);
	ASSERT_EQ(aux_enable(&self->events[1]), 0);
	for (unsigned int i = 0; i < REPEAT; i++) {
		ASSERT_TRUE(moves_on(e, &self->log, 4096));
		aux_unmap_area(e);
		/* What was full until then is told in the data buffer. */
		aux_drain(e, &self->log);
		aux_unmap(e);
		usleep(STEP_USEC);
		ASSERT_EQ(map_all(e), 0);
	}
}

/* Maps and unmaps the area for a while, in another process. */
static int map_in_turn(int fd, double seconds)
{
	struct aux_event mine = { .fd = fd };
	double end = aux_seconds() + seconds;

	if (aux_map_data(&mine, DATA_PAGES))
		return 1;
	while (aux_seconds() < end) {
		if (aux_map_area(&mine, AREA, PROT_READ | PROT_WRITE))
			return 2;
		aux_peek((char *)mine.area + AREA - 1);
		aux_unmap_area(&mine);
	}
	return 0;
}

TEST_F_TIMEOUT(aux_set_output, two_processes_map_and_unmap, 60)
{
	struct aux_event *e = &self->events[0];
	int status;
	pid_t pid;

	ASSERT_EQ(aux_map_data(e, DATA_PAGES), 0);
	ASSERT_EQ(aux_enable(e), 0);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(map_in_turn(e->fd, RACE_SECONDS));
	EXPECT_EQ(map_in_turn(e->fd, RACE_SECONDS), 0);
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	ASSERT_EQ(aux_map_area(e, AREA, PROT_READ | PROT_WRITE), 0);
	EXPECT_TRUE(moves_on(e, &self->log, 4096));
}

/* Maps data and unmaps them for a while, in another process. */
static void map_data_in_turn(int fd, double seconds)
{
	struct aux_event mine = { .fd = fd };
	double end = aux_seconds() + seconds;

	while (aux_seconds() < end) {
		/* A mapping that is just going may refuse the next one. */
		aux_map_data(&mine, DATA_PAGES);
		usleep(HOLD_USEC);
		aux_unmap(&mine);
	}
}

/* The first area of a buffer: where it is to be is not known yet while it is allocated. */
TEST_F_TIMEOUT(aux_set_output, data_go_while_the_area_comes, 60)
{
	struct aux_event *e = &self->events[0];
	unsigned int rounds = 0;
	double end;
	pid_t pid;
	int ret;

	ASSERT_EQ(aux_map_data(e, DATA_PAGES), 0);
	ret = aux_map_area(e, LARGE_AREA, PROT_READ | PROT_WRITE);
	aux_unmap(e);
	if (ret == -EPERM)
		SKIP(return, "needs a larger RLIMIT_MEMLOCK");

	end = aux_seconds() + 2 * RACE_SECONDS;
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		map_data_in_turn(e->fd, 2 * RACE_SECONDS);
		_exit(0);
	}
	while (aux_seconds() < end) {
		if (!aux_map_data(e, DATA_PAGES) &&
		    !aux_map_area(e, LARGE_AREA, PROT_READ | PROT_WRITE)) {
			aux_peek((char *)e->area + LARGE_AREA - 1);
			rounds++;
		}
		aux_unmap(e);
		/* So that the other one's mapping goes as well, and makes a new buffer. */
		usleep(2 * HOLD_USEC);
	}
	ASSERT_EQ(waitpid(pid, NULL, 0), pid);
	EXPECT_GT(rounds, 1);
	ASSERT_EQ(map_all(e), 0);
	ASSERT_EQ(aux_enable(e), 0);
	EXPECT_TRUE(moves_on(e, &self->log, 4096));
}

struct race {
	struct aux_event *first, *second;
	double end;
	unsigned int rounds;
};

static void *redirecting(void *arg)
{
	struct race *race = arg;

	while (aux_seconds() < race->end) {
		redirect(race->second, race->first->fd);
		redirect(race->second, -1);
	}
	return NULL;
}

static void *mapping(void *arg)
{
	struct race *race = arg;

	while (aux_seconds() < race->end) {
		/* A mapping that is just going may refuse the next one. */
		map_all(race->first);
		aux_unmap(race->first);
		race->rounds++;
	}
	return NULL;
}

TEST_F_TIMEOUT(aux_set_output, redirect_races_unmap, 60)
{
	struct race race = {
		.first = &self->events[0], .second = &self->events[1],
		.end = aux_seconds() + RACE_SECONDS,
	};
	pthread_t threads[2];

	ASSERT_EQ(aux_enable(race.first), 0);
	ASSERT_EQ(aux_enable(race.second), 0);
	ASSERT_EQ(pthread_create(&threads[0], NULL, redirecting, &race), 0);
	ASSERT_EQ(pthread_create(&threads[1], NULL, mapping, &race), 0);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);

	EXPECT_GT(race.rounds, 10);
	redirect(race.second, -1);
	ASSERT_EQ(map_all(race.first), 0);
	EXPECT_EQ(redirect(race.second, race.first->fd), 0);
	/* An area that is no more may have been full. */
	aux_disable(race.first);
	ASSERT_EQ(aux_enable(race.first), 0);
	EXPECT_TRUE(moves_on(race.first, &self->log, 4096));
}

#include "aux_fixture.h"

/*
 * Mapped again, the area of an event that was not scheduled out meanwhile is not written: it takes
 * a DISABLE, and an ENABLE goes on where the trace had stopped.
 */
TEST_F(aux, disable_and_enable_after_the_area_came_again)
{
	struct aux_event e = { .fd = -1 };
	struct perf_event_attr attr;
	struct aux_log log = { };
	__u64 head;
	pid_t pid;

	if (aux_missing_cpu())
		SKIP(return, "%s", aux_missing_cpu());
	pid = aux_worker(aux_cpu(0));
	ASSERT_GT(pid, 0);
	aux_attr(&attr);
	/* Where a machine is slow, the default is not passed for a long time. */
	attr.aux_watermark = 4096;
	ASSERT_EQ(aux_open_mapped(&e, &attr, -1, aux_cpu(0), DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&e, AREA, PROT_READ | PROT_WRITE), 0);
	ASSERT_EQ(aux_enable(&e), 0);
	for (unsigned int i = 0; i < REPEAT; i++) {
		EXPECT_TRUE(moves_on(&e, &log, 4096));
		aux_unmap_area(&e);
		head = aux_head(&e);
		ASSERT_EQ(aux_map_area(&e, AREA, PROT_READ | PROT_WRITE), 0);
		aux_set_tail(&e, head);
		ASSERT_EQ(aux_disable(&e), 0);
		EXPECT_EQ(aux_head(&e), head);
		ASSERT_EQ(aux_enable(&e), 0);
	}
	EXPECT_TRUE(moves_on(&e, &log, 4096));
	aux_disable(&e);
	aux_drain(&e, &log);
	EXPECT_EQ(log.holes, 0);
	EXPECT_EQ(log.end, aux_head(&e));
	aux_close(&e);
	aux_end_worker(pid);
}

TEST_HARNESS_MAIN
