// SPDX-License-Identifier: GPL-2.0-only
/* Events that pause and resume the trace of the AUX event that leads their group. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aux_harness.h"

#define ROUNDS		100000
/* Instructions: in the first tenth of the work, and never */
#define EARLY		20000
#define NEVER		1000000000000ULL
/* In turns, which do not fall together, and a few of each, or they are throttled */
#define OPEN		210000
#define CLOSE		68000
#define DATA_PAGES	16
/* Seconds */
#define PATIENCE	10
#define AREA		(4UL << 20)

FIXTURE(aux_pause)
{
	struct aux_event trace;
	int pause, resume;
};

#define AUX_FIXTURE aux_pause
#include "aux_variants.h"

FIXTURE_SETUP(aux_pause)
{
	const char *why;

	aux_use(variant->pmu);
	self->trace.fd = -1;
	self->pause = -1;
	self->resume = -1;
	why = aux_missing_pause() ?: aux_missing_rate();
	if (why)
		SKIP(return, "%s", why);
}

FIXTURE_TEARDOWN(aux_pause)
{
	close(self->resume);
	close(self->pause);
	aux_close(&self->trace);
}

static int open_group(struct aux_event *trace, bool paused, int *pause, __u64 pause_after,
		      int *resume, __u64 resume_after)
{
	struct perf_event_attr attr;
	int ret;

	aux_attr(&attr);
	aux_set_action(&attr, paused ? AUX_START_PAUSED : 0);
	ret = aux_open_mapped(trace, &attr, 0, -1, DATA_PAGES) ?:
	      aux_map_area(trace, AREA, PROT_READ | PROT_WRITE);
	if (ret)
		return ret;

	aux_sampler_attr(&attr, pause_after);
	aux_set_action(&attr, AUX_PAUSE);
	*pause = aux_open_in_group(&attr, 0, -1, trace->fd);
	aux_sampler_attr(&attr, resume_after);
	aux_set_action(&attr, AUX_RESUME);
	*resume = aux_open_in_group(&attr, 0, -1, trace->fd);
	return *pause < 0 || *resume < 0 ? -1 : 0;
}

TEST_F(aux_pause, start_paused_traces_nothing)
{
	double end = aux_seconds() + PATIENCE;
	__u64 counted = 0;

	ASSERT_EQ(open_group(&self->trace, true, &self->pause, NEVER, &self->resume, NEVER), 0);
	/*
	 * The group runs only if its leader does. An event of software in it may begin to
	 * count half a second after it was opened.
	 */
	do {
		EXPECT_EQ(aux_trace(&self->trace, ROUNDS), 0);
		ASSERT_EQ(read(self->pause, &counted, sizeof(counted)), sizeof(counted));
	} while (!counted && aux_seconds() < end);
	EXPECT_GT(counted, 0);
}

TEST_F(aux_pause, resume_starts_the_trace)
{
	__u64 wanted = ROUNDS / (aux_by_time() ? 100 : 8), traced = 0;

	ASSERT_EQ(open_group(&self->trace, true, &self->pause, NEVER, &self->resume, EARLY), 0);
	/* If a busy machine's timer is late, there is less trace of time. */
	for (unsigned int i = 0; i < (aux_by_time() ? 10 : 1) && traced <= wanted; i++)
		traced = aux_trace(&self->trace, ROUNDS);
	EXPECT_GT(traced, wanted);
}

/* Without any pause; nothing stays open. */
static __u64 trace_of_all_work(struct aux_event *trace)
{
	int pause = -1, resume = -1;
	__u64 all = 0;

	if (!open_group(trace, false, &pause, NEVER, &resume, NEVER))
		all = aux_trace(trace, ROUNDS);
	close(resume);
	close(pause);
	aux_close(trace);
	return all;
}

TEST_F(aux_pause, pause_ends_the_trace)
{
	__u64 all = trace_of_all_work(&self->trace), some;

	if (aux_by_time())
		SKIP(return, "the trace is of time, and the events count instructions");
	ASSERT_EQ(open_group(&self->trace, false, &self->pause, EARLY, &self->resume, NEVER), 0);
	some = aux_trace(&self->trace, ROUNDS);
	EXPECT_GT(some, 0);
	EXPECT_LT(some, all / 4);
}

/*
 * One event opens the trace, the other closes it a while later: it is open for
 * a sixth of the time, in many pieces.
 */
TEST_F(aux_pause, both_take_turns)
{
	__u64 all = trace_of_all_work(&self->trace), some;
	unsigned int records = 0;
	struct aux_record record;

	if (aux_by_time())
		SKIP(return, "the trace is of time, and the events count instructions");
	ASSERT_EQ(open_group(&self->trace, true, &self->pause, CLOSE, &self->resume, OPEN), 0);
	some = aux_trace(&self->trace, ROUNDS);
	TH_LOG("%llu bytes of %llu", some, all);
	/* Less if it is opened but once, more if it is not closed. */
	EXPECT_GT(some, all / 20);
	EXPECT_LT(some, all / 3);
	while (aux_next(&self->trace, &record))
		records += record.header.type == PERF_RECORD_AUX;
	EXPECT_GT(records, 0);

	/* What is disabled while it is paused, or not, can be enabled again. */
	EXPECT_GT(aux_trace(&self->trace, ROUNDS), some);
}

/* Whether an event counts as much again as makes it overflow twice, within PATIENCE. */
static bool overflows(int fd, __u64 period)
{
	__u64 begin = aux_count_of(fd), count = begin;
	double end = aux_seconds() + PATIENCE;

	while (count < begin + 2 * period && aux_seconds() < end) {
		aux_work(ROUNDS);
		count = aux_count_of(fd);
	}
	return count >= begin + 2 * period;
}

/* A member that outlives the AUX event may be enabled again: it counts, and pauses nothing. */
TEST_F(aux_pause, closed_trace_is_not_paused)
{
	ASSERT_EQ(open_group(&self->trace, false, &self->pause, EARLY, &self->resume, EARLY), 0);
	aux_trace(&self->trace, ROUNDS);
	aux_close(&self->trace);
	EXPECT_EQ(ioctl(self->pause, PERF_EVENT_IOC_ENABLE, 0), 0);
	EXPECT_EQ(ioctl(self->resume, PERF_EVENT_IOC_ENABLE, 0), 0);
	EXPECT_TRUE(overflows(self->pause, EARLY));
	EXPECT_TRUE(overflows(self->resume, EARLY));
}

TEST_HARNESS_MAIN
