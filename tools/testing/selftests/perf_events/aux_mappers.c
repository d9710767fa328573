// SPDX-License-Identifier: GPL-2.0-only
/* Several processes that map one area: each reads it, and the last one ends it. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "aux_util.h"

#define DATA_PAGES	64
#define AREA		(2UL << 20)
#define ROUNDS		20000
#define MAPPERS		4

/* What the mappers say to the test. */
struct shared {
	unsigned int mapped, wrong, go;
};

FIXTURE(aux_mappers)
{
	struct aux_event event;
	struct shared *shared;
	pid_t worker, child[MAPPERS];
};

FIXTURE_SETUP(aux_mappers)
{
	self->event.fd = -1;
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(self->shared, MAP_FAILED);
	self->worker = aux_worker(-1);
	ASSERT_GT(self->worker, 0);
	ASSERT_EQ(aux_open_mapped(&self->event, NULL, self->worker, -1, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&self->event, AREA, PROT_READ), 0);
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
	for (unsigned int i = 0; i < 2000; i++) {
		if (__atomic_load_n(what, __ATOMIC_ACQUIRE) >= value)
			return true;
		usleep(10000);
	}
	return false;
}

/* Map it, say so, unmap it when it is time; in between the trace must be there. */
static void map_and_look(struct aux_event *event, struct shared *shared, unsigned int number)
{
	struct aux_event mine = { .fd = event->fd };
	__u64 before;

	if (aux_map_data(&mine, DATA_PAGES) || aux_map_area(&mine, AREA, PROT_READ))
		__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&shared->mapped, 1, __ATOMIC_RELEASE);
	if (!reaches(&shared->go, number + 1) || !mine.area)
		_exit(1);
	/* Those before it have unmapped it. */
	before = aux_head(&mine);
	for (unsigned int i = 0; i < 1000 && aux_head(&mine) == before; i++)
		usleep(10000);
	if (aux_head(&mine) == before || !aux_has_trace(mine.area, AREA))
		__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
	aux_unmap(&mine);
	_exit(0);
}

TEST_F_TIMEOUT(aux_mappers, the_last_one_ends_it, 120)
{
	struct aux_event *e = &self->event;

	ASSERT_EQ(aux_enable(e), 0);
	for (unsigned int i = 0; i < MAPPERS; i++) {
		self->child[i] = fork();
		if (!self->child[i])
			map_and_look(e, self->shared, i);
	}
	ASSERT_TRUE(reaches(&self->shared->mapped, MAPPERS));
	/* Who has mapped it first goes first. */
	aux_unmap(e);
	EXPECT_EQ(aux_map_data(e, 2 * DATA_PAGES), -EINVAL);
	for (unsigned int i = 0; i < MAPPERS; i++) {
		__atomic_store_n(&self->shared->go, i + 1, __ATOMIC_RELEASE);
		ASSERT_EQ(waitpid(self->child[i], NULL, 0), self->child[i]);
		self->child[i] = 0;
	}
	EXPECT_EQ(self->shared->wrong, 0);

	/* Nothing is left of it: another size can be had, and is traced to. */
	ASSERT_EQ(aux_map_data(e, 2 * DATA_PAGES), 0);
	EXPECT_EQ(aux_head(e), 0);
	ASSERT_EQ(aux_map_area(e, AREA / 2, PROT_READ), 0);
	aux_disable(e);
	ASSERT_EQ(aux_enable(e), 0);
	for (unsigned int i = 0; i < 1000 && !aux_head(e); i++)
		usleep(10000);
	EXPECT_GT(aux_head(e), 0);
}

/* A process that dies with the mapping has unmapped it. */
TEST_F_TIMEOUT(aux_mappers, killed_while_mapped, 120)
{
	struct aux_event *e = &self->event;

	ASSERT_EQ(aux_enable(e), 0);
	for (unsigned int i = 0; i < MAPPERS; i++) {
		self->child[i] = fork();
		if (!self->child[i])
			map_and_look(e, self->shared, MAPPERS);
	}
	ASSERT_TRUE(reaches(&self->shared->mapped, MAPPERS));
	aux_unmap(e);
	for (unsigned int i = 0; i < MAPPERS; i++) {
		EXPECT_EQ(aux_map_data(e, 2 * DATA_PAGES), -EINVAL);
		aux_end_worker(self->child[i]);
		self->child[i] = 0;
	}
	ASSERT_EQ(aux_map_data(e, 2 * DATA_PAGES), 0);
	EXPECT_EQ(aux_map_area(e, AREA / 2, PROT_READ | PROT_WRITE), 0);
}

/* The area is read-only or not for all, as the first one has mapped it. */
TEST_F(aux_mappers, mode_is_that_of_the_first)
{
	struct aux_event *e = &self->event;
	void *map = aux_map_raw(e, e->data_len, AREA, PROT_READ | PROT_WRITE, MAP_SHARED);
	struct aux_log log = { };

	/* It may be mapped so; what it is does not change. */
	ASSERT_EQ(aux_enable(e), 0);
	for (unsigned int i = 0; i < 1000 && !log.aux; i++) {
		usleep(10000);
		aux_disable(e);
		aux_drain(e, &log);
		aux_enable(e);
	}
	EXPECT_GT(log.aux, 0);
	EXPECT_TRUE(log.flags & PERF_AUX_FLAG_OVERWRITE);
	if (map != MAP_FAILED)
		munmap(map, AREA);
}

TEST_HARNESS_MAIN
