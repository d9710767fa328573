// SPDX-License-Identifier: GPL-2.0-only
/*
 * A full AUX area: the trace stops at aux_tail, says so, is really off, wakes
 * its reader, and starts again when the reader has made room.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "aux_util.h"

#define DATA_PAGES	16
#define AREA_PAGES	4
#define LAPS		5
#define ROUNDS		200000

FIXTURE(aux_full)
{
	struct aux_event event;
	struct aux_log log;
	size_t size;
};

FIXTURE_VARIANT(aux_full)
{
	bool per_task;
	int cpu;
};

FIXTURE_VARIANT_ADD(aux_full, per_task) { .per_task = true, .cpu = 0 };
FIXTURE_VARIANT_ADD(aux_full, per_task_cpu_1) { .per_task = true, .cpu = 1 };
FIXTURE_VARIANT_ADD(aux_full, per_cpu_0) { .cpu = 0 };
FIXTURE_VARIANT_ADD(aux_full, per_cpu_1) { .cpu = 1 };

FIXTURE_SETUP(aux_full)
{
	struct perf_event_attr attr;

	self->event.fd = -1;
	self->event.page = NULL;
	self->event.area = NULL;
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	if (aux_pin(0, variant->cpu))
		SKIP(return, "no CPU %d", variant->cpu);

	aux_attr(&attr);
	/* Only being full wakes the reader. */
	attr.aux_watermark = UINT32_MAX;
	ASSERT_EQ(aux_open_mapped(&self->event, &attr, variant->per_task ? 0 : -1,
				  variant->per_task ? -1 : variant->cpu, DATA_PAGES), 0);
	self->size = AREA_PAGES * aux_page_size();
	ASSERT_EQ(aux_map_area(&self->event, self->size, PROT_READ | PROT_WRITE), 0);
	ASSERT_EQ(aux_enable(&self->event), 0);
}

FIXTURE_TEARDOWN(aux_full)
{
	aux_close(&self->event);
}

/* Moves on by itself, for example by the clock. */
static bool is_counting(struct aux_event *event)
{
	__u64 before = aux_time_enabled(event);

	aux_work(ROUNDS);
	return aux_time_enabled(event) != before;
}

static bool is_woken(struct aux_event *event)
{
	struct pollfd fd = { .fd = event->fd, .events = POLLIN };

	return poll(&fd, 1, 0) == 1 && fd.revents & POLLIN;
}

TEST_F_TIMEOUT(aux_full, stops_at_tail, 60)
{
	__u64 head = aux_fill(&self->event);

	ASSERT_LE(head, self->size);
	ASSERT_GE(head, self->size / 2);
	aux_work(ROUNDS);
	EXPECT_EQ(aux_head(&self->event), head);
}

TEST_F_TIMEOUT(aux_full, last_record_says_truncated, 60)
{
	__u64 head = aux_fill(&self->event);

	aux_drain(&self->event, &self->log);
	ASSERT_GT(self->log.aux, 0);
	EXPECT_TRUE(self->log.flags & PERF_AUX_FLAG_TRUNCATED);
	EXPECT_EQ(self->log.end, head);
	EXPECT_EQ(self->log.holes, 0);
}

TEST_F_TIMEOUT(aux_full, event_is_off, 60)
{
	aux_fill(&self->event);
	EXPECT_FALSE(is_counting(&self->event));
}

TEST_F_TIMEOUT(aux_full, reader_is_woken, 60)
{
	bool early = is_woken(&self->event);

	/* It may have become full since it was enabled. */
	if (early)
		EXPECT_GE(aux_head(&self->event), self->size / 2);
	aux_fill(&self->event);
	EXPECT_TRUE(early || is_woken(&self->event));
	EXPECT_FALSE(is_woken(&self->event));
}

TEST_F_TIMEOUT(aux_full, enable_resumes_after_drain, 120)
{
	__u64 head = aux_fill(&self->event), before;

	for (unsigned int lap = 0; lap < LAPS; lap++) {
		before = head;
		aux_drain(&self->event, &self->log);
		aux_set_tail(&self->event, head);
		ASSERT_EQ(aux_enable(&self->event), 0);
		head = aux_fill(&self->event);
		ASSERT_GE(head, before + self->size / 2);
		ASSERT_LE(head, before + self->size);
	}
	aux_drain(&self->event, &self->log);
	EXPECT_EQ(self->log.end, head);
	EXPECT_EQ(self->log.holes, 0);
}

TEST_F_TIMEOUT(aux_full, enable_without_drain_does_not_wedge, 120)
{
	__u64 head = aux_fill(&self->event);

	for (unsigned int i = 0; i < LAPS; i++) {
		ASSERT_EQ(aux_enable(&self->event), 0);
		aux_work(ROUNDS);
		sched_yield();
		ASSERT_EQ(aux_head(&self->event), head);
	}
	EXPECT_FALSE(is_counting(&self->event));

	aux_set_tail(&self->event, head);
	ASSERT_EQ(aux_enable(&self->event), 0);
	EXPECT_GT(aux_fill(&self->event), head);
}

#define READS		5000
#define MOST_SECONDS	12
/* Of its worker, without anything new: the event is off. */
#define STILL_SECONDS	2
/* Instructions, or nanoseconds where no counter counts them */
#define PERIOD		20000

static double seconds_of(pid_t worker)
{
	struct timespec time = { };
	clockid_t clock;

	if (!clock_getcpuclockid(worker, &clock))
		clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/*
 * A reader that takes data as it comes and enables the event after each time,
 * as perf record does, may do so when the area is full already and the event
 * is about to be disabled: it must not end up off, with nobody to enable it.
 */
TEST(reader_on_another_cpu_is_never_too_early)
{
	struct aux_event event = { };
	struct perf_event_attr attr;
	struct aux_log log = { };
	unsigned int reads = 0;
	double begin, last = 0;
	__u64 head, tail = 0;
	pid_t worker;

	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	if (aux_pin(0, 1) || aux_pin(0, 0))
		SKIP(return, "one CPU only");

	worker = aux_worker(1);
	aux_attr(&attr);
	attr.aux_watermark = UINT32_MAX;
	ASSERT_EQ(aux_open_mapped(&event, &attr, worker, -1, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&event, aux_page_size(), PROT_READ | PROT_WRITE), 0);
	ASSERT_EQ(aux_enable(&event), 0);

	begin = aux_seconds();
	while (reads < READS && aux_seconds() - begin < MOST_SECONDS) {
		head = aux_head(&event);
		aux_drain(&event, &log);
		if (head != tail) {
			aux_set_tail(&event, head);
			ASSERT_EQ(aux_enable(&event), 0);
			tail = head;
			reads++;
			last = seconds_of(worker);
		}
		if (seconds_of(worker) - last > STILL_SECONDS)
			break;
	}
	EXPECT_LE(seconds_of(worker) - last, STILL_SECONDS) {
		TH_LOG("off after %u reads of %u records, tail 0x%llx", reads, log.aux, tail);
		TH_LOG("the last one: 0x%llx+0x%llx, flags 0x%llx", log.offset, log.size,
		       log.flags);
	}
	EXPECT_GT(reads, 10);
	aux_end_worker(worker);
	aux_close(&event);
}

/*
 * An event that has reached the limit of PERF_EVENT_IOC_REFRESH is about to be
 * disabled when its last record is there. Whoever raises the limit then must
 * not end up with an event that is off.
 */
TEST(refresh_is_never_too_early)
{
	struct aux_event event = { };
	struct perf_event_attr attr;
	unsigned int records = 0;
	double begin, last = 0;
	__u64 head, tail = 0;
	pid_t worker;

	if (aux_pin(0, 1) || aux_pin(0, 0))
		SKIP(return, "one CPU only");

	worker = aux_worker(1);
	aux_sampler_attr(&attr, PERIOD);
	attr.disabled = 1;
	ASSERT_EQ(aux_open_mapped(&event, &attr, worker, -1, DATA_PAGES), 0);
	ASSERT_EQ(ioctl(event.fd, PERF_EVENT_IOC_REFRESH, 1), 0);

	begin = aux_seconds();
	while (records < READS && aux_seconds() - begin < MOST_SECONDS) {
		head = aux_data_head(&event);
		if (head != tail) {
			aux_set_data_tail(&event, head);
			ASSERT_EQ(ioctl(event.fd, PERF_EVENT_IOC_REFRESH, 1), 0);
			tail = head;
			records++;
			last = seconds_of(worker);
		}
		if (seconds_of(worker) - last > STILL_SECONDS)
			break;
	}
	EXPECT_LE(seconds_of(worker) - last, STILL_SECONDS)
		TH_LOG("off after %u records", records);
	EXPECT_GT(records, 10);
	aux_end_worker(worker);
	aux_close(&event);
}

TEST_HARNESS_MAIN
