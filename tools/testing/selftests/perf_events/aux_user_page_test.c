// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each process that maps the user page can write anything to it. The kernel must go on
 * tracing, and a reader that writes the right positions again must get the whole trace.
 * Whether the kernel has written beside the buffer meanwhile, KASAN tells, not these tests.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aux_harness.h"

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

#define AUX_FIXTURE aux_user_page
#define AUX_CHUNKS
#include "aux_variants.h"

FIXTURE_SETUP(aux_user_page)
{
	aux_use(variant->pmu);
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

/* Whether an area that is free is traced to, and each byte is in a record. */
static bool works(struct aux_event *event)
{
	struct aux_log log = { };
	__u64 before, head;

	aux_drain(event, &log);
	before = aux_trace(event, ROUNDS / 10);
	aux_set_tail(event, before);
	aux_drain(event, &log);

	memset(&log, 0, sizeof(log));
	log.end = before;
	head = aux_trace(event, ROUNDS / 10);
	aux_drain(event, &log);
	return head > before && log.end == head && !log.holes;
}

/* The kernel writes aux_head, and never reads it back. */
TEST_F(aux_user_page, head_is_told_only)
{
	static const __u64 lies[] = { 0, 1, UINT64_MAX, 1ULL << 63, 0x123456789a };
	__u64 head = aux_trace(&self->event, ROUNDS / 10);

	ASSERT_GT(head, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(lies); i++) {
		__u64 before = head;

		self->event.page->aux_head = lies[i];
		aux_set_tail(&self->event, before);
		head = aux_trace(&self->event, ROUNDS / 10);
		EXPECT_GT(head, before);
		EXPECT_LE(head, before + self->size);
	}
	aux_drain(&self->event, &self->log);
	EXPECT_EQ(self->log.end, head);
	EXPECT_EQ(self->log.holes, 0);
}

/*
 * A tail that no reader has. Kernels differ in what they take for room then, but
 * never write more than there is in the area.
 */
TEST_F_TIMEOUT(aux_user_page, tail_is_anything, 60)
{
	const __u64 lies[] = {
		UINT64_MAX, 1ULL << 63, self->size * 3 + 1, UINT64_MAX - self->size, 1,
	};
	__u64 head = aux_trace(&self->event, ROUNDS / 10);

	for (unsigned int i = 0; i < ARRAY_SIZE(lies); i++) {
		struct aux_log log = { .end = head };
		__u64 now;

		aux_drain(&self->event, &self->log);
		aux_set_tail(&self->event, head + lies[i]);
		aux_enable(&self->event);
		aux_fill(&self->event);
		aux_disable(&self->event);
		now = aux_head(&self->event);
		EXPECT_LT(now - head, self->size);
		aux_drain(&self->event, &log);
		/* What is told of is what head says. */
		EXPECT_EQ(log.end, now);
		EXPECT_EQ(log.holes, 0);
		head = now;
	}
	EXPECT_TRUE(works(&self->event));
}

/* The same for data_tail: where it leaves no room for a record, none is written. */
TEST_F_TIMEOUT(aux_user_page, data_tail_is_anything, 60)
{
	static const struct {
		__u64 ahead;
		bool has_room;
	} lies[] = {
		{ 1, false }, { 8, false }, { 24, false },
		{ UINT64_MAX, true }, { 1ULL << 63, true }, { 1 << 20, true }, { 4097, true },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(lies); i++) {
		__u64 head = aux_data_head(&self->event);

		aux_set_data_tail(&self->event, head + lies[i].ahead);
		aux_set_tail(&self->event, aux_head(&self->event));
		aux_trace(&self->event, ROUNDS / 10);
		EXPECT_EQ(aux_data_head(&self->event) != head, lies[i].has_room) {
			TH_LOG("data_tail is data_head + %llu", lies[i].ahead);
		}
		aux_set_data_tail(&self->event, aux_data_head(&self->event));
	}
	EXPECT_TRUE(works(&self->event));
}

/* Map the area again, with what the page says now; errno if that is refused. */
static int map_again(struct aux_event *event, __u64 offset, __u64 size)
{
	void *map;

	event->page->aux_offset = offset;
	event->page->aux_size = size;
	map = aux_map_raw(event, offset, size, PROT_READ, MAP_SHARED);
	if (map == MAP_FAILED)
		return errno;
	munmap(map, size);
	return 0;
}

/* The area stays where it is, and as large, whatever the page says later. */
TEST_F(aux_user_page, geometry_is_that_of_the_first_mapping)
{
	struct perf_event_mmap_page *page = self->event.page;
	const __u64 offset = self->event.data_len, size = self->size;

	ASSERT_GT(aux_trace(&self->event, ROUNDS / 10), 0);
	EXPECT_EQ(map_again(&self->event, offset + size, size), EINVAL);
	EXPECT_EQ(map_again(&self->event, offset, 2 * size), EINVAL);
	EXPECT_EQ(map_again(&self->event, offset, size / 2), EINVAL);

	page->aux_offset = 0;
	page->aux_size = UINT64_MAX;
	page->data_offset ^= UINT64_MAX;
	page->data_size ^= UINT64_MAX;
	aux_set_tail(&self->event, aux_head(&self->event));
	aux_trace(&self->event, ROUNDS / 10);
	page->data_offset ^= UINT64_MAX;
	page->data_size ^= UINT64_MAX;
	EXPECT_EQ(map_again(&self->event, offset, size), 0);
	EXPECT_TRUE(works(&self->event));
}

/* For the thread that scribbles: whether to end, and the positions without its lies. */
static bool enough;
static __u64 true_head, true_data_head;

/* Any value, or half of the time one that is near the truth, which leaves some room. */
static __u64 near(__u64 random, __u64 truth, __u64 size)
{
	return random & 1 ? random : truth - (random >> 1) % (2 * size);
}

/* A thread that writes to each field of the page that the kernel or a reader uses. */
static void *scribble(void *arg)
{
	struct aux_event *event = arg;
	struct perf_event_mmap_page *page = event->page;
	__u64 random = 88172645463325252ULL;

	while (!__atomic_load_n(&enough, __ATOMIC_RELAXED)) {
		__u64 head = __atomic_load_n(&true_head, __ATOMIC_RELAXED);
		__u64 data = __atomic_load_n(&true_data_head, __ATOMIC_RELAXED);

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		__atomic_store_n(&page->aux_tail, near(random, head, event->area_len),
				 __ATOMIC_RELAXED);
		__atomic_store_n(&page->data_tail, near(random >> 8, data, event->data_len),
				 __ATOMIC_RELAXED);
		__atomic_store_n(&page->lock, (__u32)random, __ATOMIC_RELAXED);
		__atomic_store_n(&page->aux_size, random & ~4095ULL, __ATOMIC_RELAXED);
		__atomic_store_n(&page->aux_offset, ~random & ~4095ULL, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST_F_TIMEOUT(aux_user_page, everything_at_any_time, 60)
{
	struct aux_event *e = &self->event;
	double end = aux_seconds() + 20;
	unsigned int moved = 0;
	pthread_t writer;
	__u64 head = 0;

	ASSERT_EQ(pthread_create(&writer, NULL, scribble, e), 0);
	/* If both threads run on one CPU, the kernel sees few of the values. */
	for (unsigned int i = 0;
	     (i < SCRIBBLES || moved <= SCRIBBLES / 20) && aux_seconds() < end; i++) {
		sched_yield();
		aux_enable(e);
		aux_work(ROUNDS / 100);
		aux_disable(e);
		moved += aux_head(e) != head;
		head = aux_head(e);
		__atomic_store_n(&true_head, head, __ATOMIC_RELAXED);
		__atomic_store_n(&true_data_head, aux_data_head(e), __ATOMIC_RELAXED);
	}
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
	ASSERT_EQ(pthread_join(writer, NULL), 0);
	EXPECT_GT(moved, SCRIBBLES / 20);

	/* With the right positions, tracing goes on in the same buffer. */
	aux_set_tail(e, aux_head(e));
	aux_set_data_tail(e, aux_data_head(e));
	EXPECT_TRUE(works(e));
}

TEST_HARNESS_MAIN
