// SPDX-License-Identifier: GPL-2.0-only
/*
 * A read-only AUX mapping: newest data win, whatever aux_tail says, and
 * aux_head tells where they end.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "aux_harness.h"

#define DATA_PAGES	16
#define AREA		(64UL << 10)
#define SHORT		2500
#define SLICE		50000
#define MANY		100

FIXTURE(aux_overwrite)
{
	struct aux_event event;
	struct aux_log log;
};

#define AUX_FIXTURE aux_overwrite
#define AUX_CHUNKS
#include "aux_variants.h"

FIXTURE_SETUP(aux_overwrite)
{
	aux_use(variant->pmu);
	self->event.fd = -1;
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	ASSERT_EQ(aux_open_mapped(&self->event, NULL, 0, -1, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&self->event, AREA, PROT_READ), 0);
}

FIXTURE_TEARDOWN(aux_overwrite)
{
	aux_close(&self->event);
}

static size_t count_set(const char *area, size_t from, size_t to)
{
	size_t set = 0;

	for (; from != to; from++)
		set += !!area[from % AREA];
	return set;
}

/* Of a first lap: trace before aux_head, nothing behind it. */
TEST_F(aux_overwrite, newest_data_end_at_head)
{
	char *area = self->event.area;
	size_t head, before;

	aux_trace(&self->event, SHORT);
	head = aux_head(&self->event);
	ASSERT_GT(head, 64);
	ASSERT_LT(head, AREA / 2);
	EXPECT_GT(count_set(area, head - 64, head), 16);
	EXPECT_EQ(count_set(area, head, AREA), 0);

	before = head;
	aux_trace(&self->event, SHORT);
	head = aux_head(&self->event);
	ASSERT_GT(head, before + 64);
	EXPECT_GT(count_set(area, head - 64, head), 16);
	EXPECT_EQ(count_set(area, head, AREA), 0);
}

TEST_F_TIMEOUT(aux_overwrite, goes_on_whatever_tail_says, 60)
{
	static const __u64 tails[] = { 0, 1, AREA, AREA - 1, ~0ULL, 1ULL << 63 };
	char *area = self->event.area, *copy = malloc(AREA);

	ASSERT_NE(copy, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		aux_set_tail(&self->event, tails[i]);
		memcpy(copy, area, AREA);
		/* Some times around; if a busy machine's timer is late, there is less of time. */
		for (unsigned int n = 0; n < (aux_by_time() ? 10 : 1); n++) {
			aux_trace(&self->event, MANY * SLICE / 10);
			if (count_set(area, 0, AREA) > AREA / 8)
				break;
		}
		EXPECT_NE(memcmp(copy, area, AREA), 0);
		EXPECT_GT(count_set(area, 0, AREA), AREA / 8);
		aux_drain(&self->event, &self->log);
		EXPECT_FALSE(self->log.flags_seen & PERF_AUX_FLAG_TRUNCATED);
	}
	free(copy);
}

TEST_F_TIMEOUT(aux_overwrite, records_have_something_to_say, 60)
{
	struct aux_record record;
	unsigned int seen = 0, last = 0;

	for (unsigned int i = 0; i < MANY; i++)
		aux_trace(&self->event, i % 3 ? SLICE / 50 : 0);

	while (aux_next(&self->event, &record)) {
		if (record.header.type != PERF_RECORD_AUX)
			continue;
		seen++;
		EXPECT_TRUE(record.aux.flags & PERF_AUX_FLAG_OVERWRITE);
		EXPECT_FALSE(!record.aux.size && record.aux.flags == PERF_AUX_FLAG_OVERWRITE);
		EXPECT_LE(record.aux.size, AREA);
		last = record.aux.offset;
	}
	EXPECT_GT(seen, MANY / 2);
	EXPECT_EQ(last % AREA, aux_head(&self->event) % AREA);
}

/* As nothing is waited for that could be read, nobody is woken, whatever is asked for. */
TEST_F_TIMEOUT(aux_overwrite, wakes_nobody, 60)
{
	static const __u32 watermarks[] = { 0, 64, 4096, AREA / 2, AREA };
	struct pollfd fd = { .events = POLLIN };
	struct perf_event_attr attr;

	for (size_t i = 0; i < ARRAY_SIZE(watermarks); i++) {
		aux_close(&self->event);
		aux_attr(&attr);
		attr.aux_watermark = watermarks[i];
		ASSERT_EQ(aux_open_mapped(&self->event, &attr, 0, -1, DATA_PAGES), 0);
		ASSERT_EQ(aux_map_area(&self->event, AREA, PROT_READ), 0);
		fd.fd = self->event.fd;
		/* Once around, in a few pieces: some drivers tell a position when they stop. */
		for (unsigned int n = 0; n < MANY && !aux_peek(self->event.area + AREA - 1); n++) {
			aux_trace(&self->event, SLICE);
			EXPECT_EQ(poll(&fd, 1, 0), 0)
				TH_LOG("watermark %u", watermarks[i]);
		}
		EXPECT_GT(count_set(self->event.area, 0, AREA), AREA / 8);
	}
}

TEST_HARNESS_MAIN
