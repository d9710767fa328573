// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups that an AUX event leads, and of which a member overflows too often. Until Linux 6.15 the
 * kernel throttles that member, since then all of the group, the trace included: it goes on all
 * the same, or stays paused. What unthrottles it also sees to frequencies of members.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aux_harness.h"

#define RATE		200
/* Instructions, or nanoseconds where no counter counts them */
#define PERIOD		20000
/* Samples per second of a member that has a frequency, and how many of them are enough */
#define FREQUENCY	100
#define SAMPLES		50
#define SLOWER		4
#define DATA_PAGES	64
#define AREA		(1024UL * 1024)
#define WATERMARK	(16U << 10)
#define ROUNDS		20000
/* Records of each kind */
#define THROTTLES	10
#define LAPS		3
/* What is traced of a trace that goes on, in bytes */
#define ENOUGH		(4 * WATERMARK)
/* Seconds */
#define PATIENCE	25

FIXTURE(aux_throttle)
{
	struct aux_event trace;
	struct aux_log log;
	unsigned int throttled, unthrottled, samples;
	/* of the last sample */
	__u64 period;
	int member;
};

FIXTURE_VARIANT(aux_throttle)
{
	const char *pmu;
	bool per_cpu;
};

FIXTURE_VARIANT_ADD(aux_throttle, synth_task) { .pmu = "aux_synth" };
FIXTURE_VARIANT_ADD(aux_throttle, synth_cpu) { .pmu = "aux_synth", .per_cpu = true };
FIXTURE_VARIANT_ADD(aux_throttle, pt_task) { .pmu = "intel_pt" };
FIXTURE_VARIANT_ADD(aux_throttle, pt_cpu) { .pmu = "intel_pt", .per_cpu = true };
FIXTURE_VARIANT_ADD(aux_throttle, bts_task) { .pmu = "intel_bts" };
FIXTURE_VARIANT_ADD(aux_throttle, bts_cpu) { .pmu = "intel_bts", .per_cpu = true };

FIXTURE_SETUP(aux_throttle)
{
	self->trace.fd = -1;
	self->member = -1;
	aux_use(variant->pmu);
	if (variant->per_cpu ? aux_missing_cpu() : aux_missing())
		SKIP(return, "%s", aux_missing_cpu());
	ASSERT_EQ(aux_pin(0, aux_cpu(0)), 0);
	if (aux_limit_samples(RATE))
		SKIP(return, "may not lower perf_event_max_sample_rate");
}

FIXTURE_TEARDOWN(aux_throttle)
{
	close(self->member);
	aux_close(&self->trace);
}

static int open_leader(FIXTURE_DATA(aux_throttle) *self, bool per_cpu, __u32 action)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	attr.aux_watermark = WATERMARK;
	aux_set_action(&attr, action);
	return aux_open_mapped(&self->trace, &attr, per_cpu ? -1 : 0,
			       per_cpu ? aux_cpu(0) : -1, DATA_PAGES) ?:
	       aux_map_area(&self->trace, AREA, PROT_READ | PROT_WRITE);
}

/* A member whose records go to the leader's buffer */
static int add(FIXTURE_DATA(aux_throttle) *self, bool per_cpu, struct perf_event_attr *attr)
{
	int fd;

	attr->sample_type = PERF_SAMPLE_PERIOD;
	fd = aux_open_in_group(attr, per_cpu ? -1 : 0, per_cpu ? aux_cpu(0) : -1, self->trace.fd);
	if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, self->trace.fd)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* A member that overflows each PERIOD */
static int add_member(FIXTURE_DATA(aux_throttle) *self, bool per_cpu, __u32 action)
{
	struct perf_event_attr attr;

	aux_sampler_attr(&attr, PERIOD);
	aux_set_action(&attr, action);
	return add(self, per_cpu, &attr);
}

static void note(FIXTURE_DATA(aux_throttle) *self, const struct aux_record *record)
{
	self->throttled += record->header.type == PERF_RECORD_THROTTLE;
	self->unthrottled += record->header.type == PERF_RECORD_UNTHROTTLE;
	if (record->header.type == PERF_RECORD_SAMPLE) {
		memcpy(&self->period, record->bytes, sizeof(self->period));
		self->samples++;
	}
	aux_note(&self->trace, &self->log, record);
}

/* Read what there is. */
static void read_all(FIXTURE_DATA(aux_throttle) *self)
{
	static struct aux_record record;

	while (aux_next(&self->trace, &record))
		note(self, &record);
	aux_set_tail(&self->trace, aux_head(&self->trace));
}

/* Work a while, and read. Returns by how much the head has moved. */
static __u64 work_and_read(FIXTURE_DATA(aux_throttle) *self)
{
	__u64 before = aux_head(&self->trace);

	aux_work(ROUNDS);
	read_all(self);
	return aux_head(&self->trace) - before;
}

/* ... until the member has overflowed some more times. */
static bool are_sampled(FIXTURE_DATA(aux_throttle) *self, unsigned int times)
{
	double end = aux_seconds() + PATIENCE;
	unsigned int enough = self->samples + times;

	while (self->samples < enough && aux_seconds() < end)
		work_and_read(self);
	return self->samples >= enough;
}

/* Be in the kernel until a sample has a shorter period. */
static bool is_sampled_within(FIXTURE_DATA(aux_throttle) *self, __u64 period)
{
	double end = aux_seconds() + PATIENCE;
	static char zeros[8 << 20];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (self->period >= period && aux_seconds() < end &&
	       read(fd, zeros, sizeof(zeros)) == sizeof(zeros))
		read_all(self);
	close(fd);
	return self->period < period;
}

static bool was_throttled(FIXTURE_DATA(aux_throttle) *self)
{
	return self->throttled >= THROTTLES && self->unthrottled >= THROTTLES;
}

/*
 * Until the kernel has throttled and unthrottled often enough, and so much is traced meanwhile.
 * Returns how much is.
 */
static __u64 be_throttled(FIXTURE_DATA(aux_throttle) *self, __u64 wanted)
{
	double end = aux_seconds() + PATIENCE;
	__u64 traced = 0;

	self->throttled = 0;
	self->unthrottled = 0;
	while ((!was_throttled(self) || traced < wanted) && aux_seconds() < end) {
		traced += work_and_read(self);
		/* As perf record does, in case that the trace has found no room */
		aux_enable(&self->trace);
	}
	return traced;
}

TEST_F_TIMEOUT(aux_throttle, trace_goes_on, 120)
{
	ASSERT_EQ(open_leader(self, variant->per_cpu, 0), 0);
	self->member = add_member(self, variant->per_cpu, 0);
	ASSERT_GE(self->member, 0);
	ASSERT_EQ(aux_enable(&self->trace), 0);
	for (unsigned int i = 0; i < LAPS; i++) {
		EXPECT_GE(be_throttled(self, ENOUGH), ENOUGH);
		EXPECT_TRUE(was_throttled(self));
	}
	EXPECT_GT(self->samples, 0);
}

TEST_F_TIMEOUT(aux_throttle, nothing_is_lost, 120)
{
	ASSERT_EQ(open_leader(self, variant->per_cpu, 0), 0);
	self->member = add_member(self, variant->per_cpu, 0);
	ASSERT_GE(self->member, 0);
	ASSERT_EQ(aux_enable(&self->trace), 0);
	be_throttled(self, ENOUGH);
	EXPECT_TRUE(was_throttled(self));
	aux_disable(&self->trace);
	work_and_read(self);
	EXPECT_EQ(self->log.holes, 0);
	EXPECT_EQ(self->log.lost, 0);
	EXPECT_EQ(self->log.end, aux_head(&self->trace));
	EXPECT_EQ(self->log.itrace, 1);
	EXPECT_FALSE(self->log.flags_seen & ~(__u64)PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK);
}

TEST_F_TIMEOUT(aux_throttle, start_paused_stays_paused, 120)
{
	if (aux_missing_pause())
		SKIP(return, "%s", aux_missing_pause());
	ASSERT_EQ(open_leader(self, variant->per_cpu, AUX_START_PAUSED), 0);
	self->member = add_member(self, variant->per_cpu, 0);
	ASSERT_GE(self->member, 0);
	ASSERT_EQ(aux_enable(&self->trace), 0);
	EXPECT_EQ(be_throttled(self, 0), 0);
	EXPECT_TRUE(was_throttled(self));
	EXPECT_EQ(aux_head(&self->trace), 0);
	aux_disable(&self->trace);
	EXPECT_EQ(aux_head(&self->trace), 0);
}

/* The member pauses the trace at each overflow, and is throttled while it does. */
TEST_F_TIMEOUT(aux_throttle, paused_stays_paused, 120)
{
	__u64 head;

	if (aux_missing_pause())
		SKIP(return, "%s", aux_missing_pause());
	ASSERT_EQ(open_leader(self, variant->per_cpu, 0), 0);
	self->member = add_member(self, variant->per_cpu, AUX_PAUSE);
	ASSERT_GE(self->member, 0);
	ASSERT_EQ(aux_enable(&self->trace), 0);
	be_throttled(self, 0);
	EXPECT_TRUE(was_throttled(self));
	/* What was traced until the first overflow, the head tells now at the latest. */
	aux_disable(&self->trace);
	head = aux_head(&self->trace);
	ASSERT_EQ(aux_enable(&self->trace), 0);
	be_throttled(self, 0);
	EXPECT_TRUE(was_throttled(self));
	aux_disable(&self->trace);
	EXPECT_EQ(aux_head(&self->trace), head);
}

/* ... or resumes it: after the first overflow it goes on. */
TEST_F_TIMEOUT(aux_throttle, resumed_goes_on, 120)
{
	if (aux_missing_pause())
		SKIP(return, "%s", aux_missing_pause());
	ASSERT_EQ(open_leader(self, variant->per_cpu, AUX_START_PAUSED), 0);
	self->member = add_member(self, variant->per_cpu, AUX_RESUME);
	ASSERT_GE(self->member, 0);
	ASSERT_EQ(aux_enable(&self->trace), 0);
	EXPECT_GE(be_throttled(self, ENOUGH), ENOUGH);
	EXPECT_TRUE(was_throttled(self));
	EXPECT_GE(be_throttled(self, ENOUGH), ENOUGH);
	EXPECT_TRUE(was_throttled(self));
}

/* Members of two PMUs, of which the second one may not overflow too often by itself. */
TEST_F_TIMEOUT(aux_throttle, two_members, 120)
{
	struct perf_event_attr attr;
	__u64 count = 0;
	int other;

	ASSERT_EQ(open_leader(self, variant->per_cpu, 0), 0);
	self->member = add_member(self, variant->per_cpu, 0);
	ASSERT_GE(self->member, 0);
	aux_sampler_attr(&attr, 10 * PERIOD);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	other = add(self, variant->per_cpu, &attr);
	ASSERT_GE(other, 0);
	ASSERT_EQ(aux_enable(&self->trace), 0);
	EXPECT_GE(be_throttled(self, ENOUGH), ENOUGH);
	EXPECT_TRUE(was_throttled(self));
	EXPECT_EQ(self->log.holes, 0);
	EXPECT_EQ(read(other, &count, sizeof(count)), sizeof(count));
	EXPECT_GT(count, 0);
	close(other);
}

/*
 * A member that has a frequency has more instructions between two overflows while there are many,
 * and fewer when there are few.
 */
TEST_F_TIMEOUT(aux_throttle, period_follows_the_rate, 120)
{
	struct perf_event_attr attr;

	if (variant->per_cpu)
		SKIP(return, "what other tasks do counts as well");
	ASSERT_EQ(open_leader(self, variant->per_cpu, 0), 0);
	aux_sampler_attr(&attr, FREQUENCY);
	attr.freq = 1;
	if (attr.type != PERF_TYPE_HARDWARE)
		SKIP(return, "no counter counts instructions");
	self->member = add(self, variant->per_cpu, &attr);
	ASSERT_GE(self->member, 0);
	ASSERT_EQ(aux_enable(&self->trace), 0);
	for (unsigned int i = 0; i < LAPS; i++) {
		EXPECT_TRUE(are_sampled(self, SAMPLES));
		EXPECT_TRUE(is_sampled_within(self, self->period / SLOWER));
	}
}

TEST_HARNESS_MAIN
