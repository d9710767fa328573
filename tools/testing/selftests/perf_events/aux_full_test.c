// SPDX-License-Identifier: GPL-2.0-only
/*
 * A full AUX area: the trace stops at aux_tail, says so, is really off, wakes
 * its reader, and starts again when the reader has made room.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "aux_harness.h"

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
	const char *pmu;
	bool per_task;
	/* of those on which the test may run */
	int cpu;
};

FIXTURE_VARIANT_ADD(aux_full, per_task_synth) { .pmu = "aux_synth", .per_task = true, .cpu = 0 };
FIXTURE_VARIANT_ADD(aux_full, per_task_pt) { .pmu = "intel_pt", .per_task = true, .cpu = 0 };
FIXTURE_VARIANT_ADD(aux_full, per_task_bts) { .pmu = "intel_bts", .per_task = true, .cpu = 0 };
FIXTURE_VARIANT_ADD(aux_full, per_task_cpu_1_synth)
{
	.pmu = "aux_synth", .per_task = true, .cpu = 1,
};

FIXTURE_VARIANT_ADD(aux_full, per_task_cpu_1_pt) { .pmu = "intel_pt", .per_task = true, .cpu = 1 };
FIXTURE_VARIANT_ADD(aux_full, per_task_cpu_1_bts)
{
	.pmu = "intel_bts", .per_task = true, .cpu = 1,
};

FIXTURE_VARIANT_ADD(aux_full, per_cpu_0_synth) { .pmu = "aux_synth", .cpu = 0 };
FIXTURE_VARIANT_ADD(aux_full, per_cpu_0_pt) { .pmu = "intel_pt", .cpu = 0 };
FIXTURE_VARIANT_ADD(aux_full, per_cpu_0_bts) { .pmu = "intel_bts", .cpu = 0 };
FIXTURE_VARIANT_ADD(aux_full, per_cpu_1_synth) { .pmu = "aux_synth", .cpu = 1 };
FIXTURE_VARIANT_ADD(aux_full, per_cpu_1_pt) { .pmu = "intel_pt", .cpu = 1 };
FIXTURE_VARIANT_ADD(aux_full, per_cpu_1_bts) { .pmu = "intel_bts", .cpu = 1 };

FIXTURE_SETUP(aux_full)
{
	const char *why;
	struct perf_event_attr attr;
	int cpu;

	aux_use(variant->pmu);
	why = variant->per_task ? aux_missing() : aux_missing_cpu();
	self->event.fd = -1;
	self->event.page = NULL;
	self->event.area = NULL;
	if (why)
		SKIP(return, "%s", why);
	cpu = aux_cpu(variant->cpu);
	if (cpu < 0)
		SKIP(return, "one CPU only");
	ASSERT_EQ(aux_pin(0, cpu), 0);

	aux_attr(&attr);
	/* Only being full wakes the reader. */
	attr.aux_watermark = UINT32_MAX;
	ASSERT_EQ(aux_open_mapped(&self->event, &attr, variant->per_task ? 0 : -1,
				  variant->per_task ? -1 : cpu, DATA_PAGES), 0);
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
/* Of its worker, in which an event that is off shows that it is */
#define OVER_SECONDS	0.1
#define REFRESH_SECONDS	4
/* Empty looks at a buffer for one at the clock of the worker; records at a time */
#define LOOKS		256
/* Instructions, or nanoseconds where no counter counts them */
#define PERIOD		20000
#define SHORT_PERIOD	200

static double seconds_of(pid_t worker)
{
	struct timespec time = { };
	clockid_t clock;

	if (!clock_getcpuclockid(worker, &clock))
		clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

#include "aux_fixture.h"

/*
 * A reader that takes data as it comes and enables the event after each time,
 * as perf record does, may do so when the area is full already and the event
 * is about to be disabled: it must not end up off, with nobody to enable it.
 */
TEST_F(aux, reader_on_another_cpu_is_never_too_early)
{
	struct aux_event event = { };
	struct perf_event_attr attr;
	struct aux_log log = { };
	unsigned int reads = 0;
	double begin, last = 0;
	__u64 head, tail = 0;
	pid_t worker;

	if (aux_cpu(1) < 0)
		SKIP(return, "one CPU only");
	ASSERT_EQ(aux_pin(0, aux_cpu(0)), 0);

	worker = aux_worker(aux_cpu(1));
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

/* Samples that have come; each raises the limit of PERF_EVENT_IOC_REFRESH by one, if @refresh. */
static unsigned int take_samples(struct aux_event *event, bool refresh)
{
	struct aux_record record;
	unsigned int samples = 0;

	/* An event without a limit may write as fast as this reads. */
	for (unsigned int i = 0; i < LOOKS && aux_next(event, &record); i++) {
		if (record.header.type != PERF_RECORD_SAMPLE)
			continue;
		samples++;
		if (refresh)
			ioctl(event->fd, PERF_EVENT_IOC_REFRESH, 1);
	}
	return samples;
}

/* Wait for so many samples, while the worker runs for so long. Returns how many came. */
static unsigned int wait_for_samples(struct aux_event *event, pid_t worker, double seconds,
				     unsigned int enough)
{
	double begin = seconds_of(worker);
	unsigned int samples = 0;

	while (samples < enough && seconds_of(worker) - begin < seconds)
		samples += take_samples(event, false);
	return samples;
}

/* Raise the limit with each sample, until the event is off. Returns the number of samples. */
static unsigned int refresh_each(struct aux_event *event, pid_t worker)
{
	double begin = aux_seconds(), last = seconds_of(worker);
	unsigned int samples = 0, more;

	for (unsigned int i = 1; samples < READS && aux_seconds() - begin < REFRESH_SECONDS; i++) {
		more = take_samples(event, true);
		samples += more;
		if (i % LOOKS && !more)
			continue;
		if (more)
			last = seconds_of(worker);
		else if (seconds_of(worker) - last > STILL_SECONDS)
			break;
	}
	return samples;
}

static const struct {
	unsigned int limit;
	__u64 period;
} limits[] = { { 1, PERIOD }, { 2, SHORT_PERIOD } };

/*
 * An event that has reached the limit of PERF_EVENT_IOC_REFRESH is about to be
 * disabled when its last record is there. Whoever raises the limit then must
 * not end up with an event that is off, nor with one that has no limit: what is
 * left of the limit comes, and nothing more.
 */
TEST(refresh_is_never_too_early)
{
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		unsigned int samples, limit = limits[i].limit;
		struct aux_event event = { };
		struct perf_event_attr attr;
		pid_t worker;

		if (aux_cpu(1) < 0)
			SKIP(return, "one CPU only");
		ASSERT_EQ(aux_pin(0, aux_cpu(0)), 0);
		worker = aux_worker(aux_cpu(1));
		aux_sampler_attr(&attr, limits[i].period);
		attr.disabled = 1;
		if (aux_open_mapped(&event, &attr, worker, -1, DATA_PAGES)) {
			aux_end_worker(worker);
			ASSERT_TRUE(errno == EACCES || errno == EPERM);
			SKIP(return, "no rights to sample");
		}
		ASSERT_EQ(ioctl(event.fd, PERF_EVENT_IOC_REFRESH, limit), 0);
		samples = refresh_each(&event, worker);
		EXPECT_EQ(wait_for_samples(&event, worker, STILL_SECONDS, limit), limit)
			TH_LOG("off after %u samples, with a limit of %u", samples, limit);
		EXPECT_EQ(wait_for_samples(&event, worker, OVER_SECONDS, 1), 0)
			TH_LOG("goes on after %u samples, with no limit", samples);
		EXPECT_GT(samples, 10);
		aux_end_worker(worker);
		aux_close(&event);
	}
}

TEST_HARNESS_MAIN
