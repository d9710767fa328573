// SPDX-License-Identifier: GPL-2.0-only
/*
 * A data buffer that takes no records, while the trace goes on: they are lost and
 * counted, and the next record has their flags.
 */
#define _GNU_SOURCE
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aux_harness.h"

#define AREA		(4UL << 20)
#define SMALL_AREA	(64UL << 10)
#define ROUNDS		1000
#define MORE		20

FIXTURE(aux_lost)
{
	struct aux_event event;
	struct aux_log log;
};

FIXTURE_VARIANT(aux_lost)
{
	const char *pmu;
	/* Paused by ioctl; else the reader does not move data_tail. */
	bool paused;
};

FIXTURE_VARIANT_ADD(aux_lost, full_synth) { .pmu = "aux_synth", .paused = false };
FIXTURE_VARIANT_ADD(aux_lost, full_pt) { .pmu = "intel_pt", .paused = false };
FIXTURE_VARIANT_ADD(aux_lost, full_bts) { .pmu = "intel_bts", .paused = false };
FIXTURE_VARIANT_ADD(aux_lost, paused_synth) { .pmu = "aux_synth", .paused = true };
FIXTURE_VARIANT_ADD(aux_lost, paused_pt) { .pmu = "intel_pt", .paused = true };
FIXTURE_VARIANT_ADD(aux_lost, paused_bts) { .pmu = "intel_bts", .paused = true };

FIXTURE_SETUP(aux_lost)
{
	aux_use(variant->pmu);
	self->event.fd = -1;
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	ASSERT_EQ(aux_open_mapped(&self->event, NULL, 0, -1, 1), 0);
}

FIXTURE_TEARDOWN(aux_lost)
{
	aux_close(&self->event);
}

static int pause_output(struct aux_event *event, int on)
{
	return ioctl(event->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, on);
}

/*
 * Write records until there is no room for any, as long as that takes with this page
 * size. Returns false if there always is: then records are written over others.
 */
static bool fill_with_records(struct aux_event *event)
{
	__u64 head = aux_data_head(event);
	unsigned int still = 0;

	while (still < MORE && head <= event->page->data_size) {
		aux_set_tail(event, aux_head(event));
		aux_trace(event, ROUNDS);
		still = aux_data_head(event) == head ? still + 1 : 0;
		head = aux_data_head(event);
	}
	return head <= event->page->data_size;
}

/* No record gets through any more. */
static bool block_records(struct aux_event *event, bool paused)
{
	if (!paused)
		return fill_with_records(event);
	aux_trace(event, ROUNDS);
	return !pause_output(event, 1);
}

/* The next record finds room; what was written before is read. */
static void unblock_records(struct aux_event *event, struct aux_log *log, bool paused)
{
	aux_drain(event, log);
	if (paused)
		pause_output(event, 0);
}

/*
 * perf's decoder of CoreSight uses a record only if one chunk of what perf has read
 * contains all of its range. perf reads records first, then data.
 */
TEST_F_TIMEOUT(aux_lost, each_record_lies_in_one_chunk, 60)
{
	struct aux_event *e = &self->event;
	unsigned int in_one = 0, in_none = 0;
	struct aux_record record;
	__u64 border, end;

	ASSERT_EQ(aux_map_area(e, AREA, PROT_READ | PROT_WRITE), 0);
	ASSERT_TRUE(block_records(e, variant->paused));
	for (unsigned int i = 0; i < MORE; i++)
		aux_trace(e, ROUNDS);
	/* The reader reads while a transaction is open, so its range is the next chunk's. */
	aux_enable(e);
	aux_work(ROUNDS);
	unblock_records(e, &self->log, variant->paused);
	border = aux_head(e);
	aux_work(ROUNDS);
	aux_disable(e);
	end = aux_head(e);
	ASSERT_GT(end, border);

	while (aux_next(e, &record)) {
		if (record.header.type != PERF_RECORD_AUX)
			continue;
		if (record.aux.offset + record.aux.size <= border ||
		    (record.aux.offset >= border && record.aux.offset + record.aux.size <= end))
			in_one++;
		else
			in_none++;
	}
	EXPECT_GE(in_one, 1);
	EXPECT_EQ(in_none, 0);
}

static __u64 read_lost(struct aux_event *event)
{
	__u64 values[3] = { };

	if (read(event->fd, values, sizeof(values)) != sizeof(values))
		return -1ULL;
	return values[2];
}

TEST_F_TIMEOUT(aux_lost, lost_records_are_counted, 60)
{
	struct aux_event *e = &self->event;
	struct perf_event_attr attr;
	__u64 lost;

	aux_close(e);
	aux_attr(&attr);
	attr.read_format |= PERF_FORMAT_LOST;
	ASSERT_EQ(aux_open_mapped(e, &attr, 0, -1, 1), 0);
	ASSERT_EQ(aux_map_area(e, AREA, PROT_READ | PROT_WRITE), 0);
	EXPECT_EQ(read_lost(e), 0);
	ASSERT_TRUE(block_records(e, variant->paused));
	aux_trace(e, ROUNDS);
	lost = read_lost(e);
	EXPECT_GT(lost, 0);

	unblock_records(e, &self->log, variant->paused);
	aux_trace(e, ROUNDS);
	aux_drain(e, &self->log);
	EXPECT_EQ(self->log.lost, lost);
	EXPECT_EQ(read_lost(e), lost);
}

TEST_F_TIMEOUT(aux_lost, flags_are_not_lost, 60)
{
	struct aux_event *e = &self->event;
	__u64 head;

	ASSERT_EQ(aux_map_area(e, SMALL_AREA, PROT_READ | PROT_WRITE), 0);
	if (variant->paused)
		pause_output(e, 1);
	else
		ASSERT_TRUE(fill_with_records(e));
	aux_set_tail(e, aux_head(e));
	aux_enable(e);
	head = aux_fill(e);

	unblock_records(e, &self->log, variant->paused);
	ASSERT_FALSE(self->log.flags_seen & PERF_AUX_FLAG_TRUNCATED);
	aux_set_tail(e, head);
	aux_disable(e);
	aux_trace(e, ROUNDS);
	aux_drain(e, &self->log);
	EXPECT_TRUE(self->log.flags_seen & PERF_AUX_FLAG_TRUNCATED);
	EXPECT_EQ(self->log.end, aux_head(e));
}

TEST_HARNESS_MAIN
