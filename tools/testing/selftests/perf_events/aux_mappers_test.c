// SPDX-License-Identifier: GPL-2.0-only
/* Several processes map one area: each reads the trace, and the last to unmap it ends it. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_harness.h"

#define DATA_PAGES	64
#define AREA_PAGES	16
#define MAPPERS		4

/* The number of children that have mapped the area, and the turn of the child that may go on. */
struct shared {
	unsigned int mapped, go;
};

FIXTURE(aux_mappers)
{
	struct aux_event event;
	size_t size;
	struct shared *shared;
	pid_t worker, child[MAPPERS];
};

#define AUX_FIXTURE aux_mappers
#include "aux_variants.h"

FIXTURE_SETUP(aux_mappers)
{
	struct perf_event_attr attr;

	aux_use(variant->pmu);
	self->event.fd = -1;
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(self->shared, MAP_FAILED);
	self->worker = aux_worker(-1);
	ASSERT_GT(self->worker, 0);
	aux_attr(&attr);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	ASSERT_EQ(aux_open_mapped(&self->event, &attr, self->worker, -1, DATA_PAGES), 0);
	self->size = AREA_PAGES * aux_page_size();
	ASSERT_EQ(aux_map_area(&self->event, self->size, PROT_READ), 0);
}

FIXTURE_TEARDOWN(aux_mappers)
{
	for (unsigned int i = 0; i < MAPPERS; i++)
		aux_end_worker(self->child[i]);
	aux_end_worker(self->worker);
	aux_close(&self->event);
}

static bool reaches(const unsigned int *what, unsigned int value)
{
	for (unsigned int i = 0; i < 6000; i++) {
		if (__atomic_load_n(what, __ATOMIC_ACQUIRE) >= value)
			return true;
		usleep(10000);
	}
	return false;
}

/* Whether the event is enabled, and its task runs. */
static bool is_enabled(struct aux_event *event)
{
	__u64 before = aux_time_enabled(event);

	for (unsigned int i = 0; i < 1000; i++) {
		if (aux_time_enabled(event) > before)
			return true;
		usleep(10000);
	}
	return false;
}

/* In overwrite mode the head moves when the trace stops, at the latest. */
static bool moves(struct aux_event *event)
{
	__u64 before = aux_head(event);

	if (!is_enabled(event))
		return false;
	for (unsigned int i = 0; i < 1000 && aux_head(event) == before; i++) {
		usleep(10000);
		aux_disable(event);
		aux_enable(event);
	}
	return aux_head(event) != before;
}

/*
 * In a child: map the area, say so, and wait for the child's turn. The children with earlier
 * turns have unmapped the area then, and the trace must be there all the same.
 */
static void map_and_look(FIXTURE_DATA(aux_mappers) *self, unsigned int turn)
{
	struct aux_event mine = { .fd = self->event.fd };
	bool right = !aux_map_data(&mine, DATA_PAGES) &&
		     !aux_map_area(&mine, self->size, PROT_READ);

	__atomic_fetch_add(&self->shared->mapped, 1, __ATOMIC_RELEASE);
	right = right && reaches(&self->shared->go, turn) && moves(&mine) &&
		aux_has_trace(mine.area, self->size);
	aux_unmap(&mine);
	_exit(right ? 0 : 1);
}

/* Trace, and have all children map the area; their turns are 1, 2 and so on. */
static bool start_mappers(FIXTURE_DATA(aux_mappers) *self)
{
	if (aux_enable(&self->event))
		return false;
	for (unsigned int i = 0; i < MAPPERS; i++) {
		self->child[i] = fork();
		if (!self->child[i])
			map_and_look(self, i + 1);
		if (self->child[i] < 0)
			return false;
	}
	return reaches(&self->shared->mapped, MAPPERS);
}

TEST_F_TIMEOUT(aux_mappers, the_last_one_ends_it, 120)
{
	struct aux_event *e = &self->event;

	ASSERT_TRUE(start_mappers(self));
	/* The process that has created the area unmaps it first. */
	aux_unmap(e);
	EXPECT_EQ(aux_map_data(e, 2 * DATA_PAGES), -EINVAL);
	for (unsigned int i = 0; i < MAPPERS; i++) {
		int status;

		__atomic_store_n(&self->shared->go, i + 1, __ATOMIC_RELEASE);
		ASSERT_EQ(waitpid(self->child[i], &status, 0), self->child[i]);
		self->child[i] = 0;
		EXPECT_EQ(status, 0);
	}

	/* Nothing is left of the buffer: one of another size can be mapped, and is traced to. */
	ASSERT_EQ(aux_map_data(e, 2 * DATA_PAGES), 0);
	EXPECT_EQ(aux_head(e), 0);
	ASSERT_EQ(aux_map_area(e, self->size / 2, PROT_READ), 0);
	EXPECT_TRUE(moves(e));
}

/* If a process that maps the area is killed, the area is unmapped there. */
TEST_F_TIMEOUT(aux_mappers, killed_while_mapped, 120)
{
	struct aux_event *e = &self->event;

	ASSERT_TRUE(start_mappers(self));
	aux_unmap(e);
	for (unsigned int i = 0; i < MAPPERS; i++) {
		EXPECT_EQ(aux_map_data(e, 2 * DATA_PAGES), -EINVAL);
		/* The child still waits for its turn. */
		EXPECT_EQ(waitpid(self->child[i], NULL, WNOHANG), 0);
		aux_end_worker(self->child[i]);
		self->child[i] = 0;
	}
	ASSERT_EQ(aux_map_data(e, 2 * DATA_PAGES), 0);
	EXPECT_EQ(aux_map_area(e, self->size / 2, PROT_READ | PROT_WRITE), 0);
}

/* Flags of the first record with data; the trace is off afterwards, and all records are read. */
static __u64 flags_of(struct aux_event *event)
{
	static struct aux_record record;
	__u64 flags = ~0ULL;

	for (unsigned int i = 0; i < 1000 && flags == ~0ULL; i++) {
		aux_enable(event);
		usleep(10000);
		aux_disable(event);
		while (aux_next(event, &record)) {
			if (record.header.type == PERF_RECORD_AUX && record.aux.size &&
			    flags == ~0ULL)
				flags = record.aux.flags;
		}
	}
	return flags;
}

/* A later mapping may be writable where the first one is not, and the other way round. */
TEST_F(aux_mappers, mode_is_that_of_the_first)
{
	struct aux_event *e = &self->event;
	void *map;

	map = aux_map_raw(e, e->data_len, self->size, PROT_READ | PROT_WRITE, MAP_SHARED);
	ASSERT_NE(map, MAP_FAILED);
	EXPECT_EQ(flags_of(e) & PERF_AUX_FLAG_OVERWRITE, PERF_AUX_FLAG_OVERWRITE);
	munmap(map, self->size);

	aux_unmap_area(e);
	ASSERT_EQ(aux_map_area(e, self->size, PROT_READ | PROT_WRITE), 0);
	/* The head goes on from that of the last area. */
	aux_set_tail(e, aux_head(e));
	map = aux_map_raw(e, e->data_len, self->size, PROT_READ, MAP_SHARED);
	ASSERT_NE(map, MAP_FAILED);
	EXPECT_EQ(flags_of(e) & PERF_AUX_FLAG_OVERWRITE, 0);
	munmap(map, self->size);
}

TEST_HARNESS_MAIN
