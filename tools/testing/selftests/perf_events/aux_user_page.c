// SPDX-License-Identifier: GPL-2.0-only
/*
 * The user page is written by whoever maps it. Whatever is in it, the kernel
 * writes within the area, and a reader that sets it right gets its trace.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "aux_util.h"

#define DATA_PAGES	16
#define AREA_PAGES	16
#define ROUNDS		100000
#define SCRIBBLES	200

FIXTURE(aux_user_page)
{
	struct aux_event event;
	struct aux_log log;
	size_t size;
};

FIXTURE_SETUP(aux_user_page)
{
	self->event.fd = -1;
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	ASSERT_EQ(aux_open_mapped(&self->event, NULL, 0, -1, DATA_PAGES), 0);
	self->size = AREA_PAGES * aux_page_size();
	ASSERT_EQ(aux_map_area(&self->event, self->size, PROT_READ | PROT_WRITE), 0);
}

FIXTURE_TEARDOWN(aux_user_page)
{
	aux_close(&self->event);
}

/* Trace for a while, as far as there is room; the new head. */
static __u64 trace(struct aux_event *event)
{
	aux_enable(event);
	aux_work(ROUNDS / 10);
	aux_disable(event);
	return aux_head(event);
}

/* With all of the area free, it can be traced, and each byte is in a record. */
static bool works(struct aux_event *event)
{
	struct aux_log log = { };
	__u64 before, head;

	aux_drain(event, &log);
	before = trace(event);
	aux_set_tail(event, before);
	aux_drain(event, &log);

	memset(&log, 0, sizeof(log));
	log.end = before;
	head = trace(event);
	aux_drain(event, &log);
	return head > before && log.end == head && !log.holes;
}

/* It is the kernel's to write, and never read by it. */
TEST_F(aux_user_page, head_is_told_only)
{
	static const __u64 lies[] = { 0, 1, UINT64_MAX, 1ULL << 63, 0x123456789a };
	__u64 head = trace(&self->event);

	ASSERT_GT(head, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(lies); i++) {
		__u64 before = head;

		self->event.page->aux_head = lies[i];
		aux_set_tail(&self->event, before);
		head = trace(&self->event);
		EXPECT_GT(head, before);
		EXPECT_LE(head, before + self->size);
	}
	aux_drain(&self->event, &self->log);
	EXPECT_EQ(self->log.end, head);
	EXPECT_EQ(self->log.holes, 0);
}

/* A tail that no reader has: at most the area is written before the trace is off. */
TEST_F_TIMEOUT(aux_user_page, tail_is_anything, 60)
{
	const __u64 lies[] = {
		UINT64_MAX, 1ULL << 63, self->size * 3 + 1, UINT64_MAX - self->size, 1,
	};
	__u64 head = trace(&self->event);

	for (unsigned int i = 0; i < ARRAY_SIZE(lies); i++) {
		struct aux_log log = { .end = head };
		__u64 now;

		aux_drain(&self->event, &self->log);
		aux_set_tail(&self->event, head + lies[i]);
		now = trace(&self->event);
		EXPECT_GE(now, head);
		aux_drain(&self->event, &log);
		/* What is told of is what head says. */
		EXPECT_EQ(log.end, now);
		EXPECT_EQ(log.holes, 0);
		head = now;
	}
	EXPECT_TRUE(works(&self->event));
}

/* Of the data buffer, whose reader may be as wrong: what finds no room is lost, and counted. */
TEST_F_TIMEOUT(aux_user_page, data_tail_is_anything, 60)
{
	static const __u64 lies[] = { UINT64_MAX, 1ULL << 63, 1 << 20, 4097 };

	for (unsigned int i = 0; i < ARRAY_SIZE(lies); i++) {
		__u64 head = __atomic_load_n(&self->event.page->data_head, __ATOMIC_ACQUIRE);

		__atomic_store_n(&self->event.page->data_tail, head + lies[i], __ATOMIC_RELEASE);
		aux_set_tail(&self->event, aux_head(&self->event));
		trace(&self->event);
		head = __atomic_load_n(&self->event.page->data_head, __ATOMIC_ACQUIRE);
		__atomic_store_n(&self->event.page->data_tail, head, __ATOMIC_RELEASE);
	}
	EXPECT_TRUE(works(&self->event));
}

/* Read once, by mmap() of the area: nothing moves when they change. */
TEST_F(aux_user_page, geometry_is_read_once)
{
	struct perf_event_mmap_page *page = self->event.page;
	void *map;

	ASSERT_GT(trace(&self->event), 0);
	page->aux_offset = 0;
	page->aux_size = UINT64_MAX;
	page->data_offset ^= UINT64_MAX;
	page->data_size ^= UINT64_MAX;
	aux_set_tail(&self->event, aux_head(&self->event));
	trace(&self->event);
	/* Nor can another area be had by them. */
	map = aux_map_raw(&self->event, self->event.data_len, self->size, PROT_READ, MAP_SHARED);
	EXPECT_EQ(map, MAP_FAILED);
	page->data_offset ^= UINT64_MAX;
	page->data_size ^= UINT64_MAX;
	page->aux_offset = self->event.data_len;
	page->aux_size = self->size;
	map = aux_map_raw(&self->event, self->event.data_len, self->size, PROT_READ, MAP_SHARED);
	ASSERT_NE(map, MAP_FAILED);
	EXPECT_EQ(memcmp(map, self->event.area, self->size), 0);
	munmap(map, self->size);
	EXPECT_TRUE(works(&self->event));
}

static bool enough;

/* Writes words that are not its own, at any time. */
static void *scribble(void *arg)
{
	struct perf_event_mmap_page *page = arg;
	__u64 random = 88172645463325252ULL;

	while (!__atomic_load_n(&enough, __ATOMIC_RELAXED)) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		__atomic_store_n(&page->aux_tail, random, __ATOMIC_RELAXED);
		__atomic_store_n(&page->aux_head, ~random, __ATOMIC_RELAXED);
		__atomic_store_n(&page->data_tail, random >> 3, __ATOMIC_RELAXED);
		__atomic_store_n(&page->data_head, random << 3, __ATOMIC_RELAXED);
		__atomic_store_n(&page->lock, (__u32)random, __ATOMIC_RELAXED);
		__atomic_store_n(&page->aux_size, random & ~4095ULL, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST_F_TIMEOUT(aux_user_page, everything_at_any_time, 60)
{
	struct perf_event_mmap_page before;
	struct aux_event *e = &self->event;
	pthread_t writer;
	__u64 data_head;

	before = *e->page;
	__atomic_store_n(&enough, false, __ATOMIC_RELAXED);
	ASSERT_EQ(pthread_create(&writer, NULL, scribble, e->page), 0);
	for (unsigned int i = 0; i < SCRIBBLES; i++) {
		aux_enable(e);
		aux_work(ROUNDS / 100);
		aux_disable(e);
	}
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
	ASSERT_EQ(pthread_join(writer, NULL), 0);

	/* As a reader finds it that maps anew: what the kernel writes next is true. */
	e->page->aux_size = before.aux_size;
	e->page->aux_offset = before.aux_offset;
	aux_unmap(e);
	ASSERT_EQ(aux_map_data(e, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(e, self->size, PROT_READ | PROT_WRITE), 0);
	data_head = __atomic_load_n(&e->page->data_head, __ATOMIC_ACQUIRE);
	__atomic_store_n(&e->page->data_tail, data_head, __ATOMIC_RELEASE);
	EXPECT_TRUE(works(e));
}

TEST_HARNESS_MAIN
