// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locked memory: what perf grants each user beside RLIMIT_MEMLOCK is not taken
 * from what others may lock, as the buffers that io_uring registers, nor do
 * these take it from perf.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "aux_harness.h"

#define NOBODY		65534
/* Of a user who may lock less than what perf grants */
#define FEW_PAGES	16
#define REPEAT		3

FIXTURE(aux_mlock_uring)
{
	struct aux_event event;
	int ring;
	/* bytes: perf's grant; the largest area that it pays for */
	size_t allowance, area;
};

#define AUX_FIXTURE aux_mlock_uring
#include "aux_variants.h"

static int uring_open(void)
{
	struct io_uring_params params = { };

	return syscall(SYS_io_uring_setup, 1, &params);
}

static long long open_as(uid_t uid)
{
	return aux_become(uid) || uring_open() < 0 ? -errno : 0;
}

/* A kernel may not have io_uring, or refuse it by a sysctl; a container, by a rule of its own. */
static const char *uring_missing(void)
{
	return aux_ask_child(open_as, NOBODY) ? "users without rights may not use io_uring" : NULL;
}

/* These return 0 or -errno. */
static int uring_register(int ring, void *buffer, size_t len)
{
	struct iovec iov = { .iov_base = buffer, .iov_len = len };

	return syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &iov, 1) ? -errno : 0;
}

static int uring_unregister(int ring)
{
	int ret = syscall(SYS_io_uring_register, ring, IORING_UNREGISTER_BUFFERS, NULL, 0);

	return ret ? -errno : 0;
}

/* Without rights, and with a limit of locked memory. */
static int become_nobody(size_t limit)
{
	struct rlimit memlock = { limit, limit };

	return setrlimit(RLIMIT_MEMLOCK, &memlock) || aux_become(NOBODY);
}

static void *anonymous(size_t len)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* The area, a data page and the user page are within the allowance. */
static int map_granted(struct aux_event *event, size_t area)
{
	return aux_map_data(event, 1) ?: aux_map_area(event, area, PROT_READ | PROT_WRITE);
}

FIXTURE_SETUP(aux_mlock_uring)
{
	size_t rest;

	aux_use(variant->pmu);
	self->event.fd = -1;
	self->event.page = NULL;
	self->event.area = NULL;
	self->ring = -1;
	if (aux_missing_users())
		SKIP(return, "%s", aux_missing_users());
	if (uring_missing())
		SKIP(return, "%s", uring_missing());
	self->allowance = aux_allowance();
	ASSERT_GT(self->allowance, FEW_PAGES * aux_page_size());
	rest = self->allowance - 2 * aux_page_size();
	for (self->area = aux_page_size(); self->area * 2 <= rest; self->area *= 2)
		;
	ASSERT_GE(self->area, FEW_PAGES * aux_page_size());
}

FIXTURE_TEARDOWN(aux_mlock_uring)
{
	close(self->ring);
	aux_close(&self->event);
}

/* For good: each test is a process of its own. */
static int start_as_nobody(struct aux_event *event, int *ring, size_t limit)
{
	struct perf_event_attr attr;

	if (become_nobody(limit))
		return -1;
	aux_attr(&attr);
	event->fd = aux_open(&attr, 0, -1);
	*ring = uring_open();
	return event->fd < 0 || *ring < 0 ? -1 : 0;
}

TEST_F(aux_mlock_uring, area_leaves_room_for_buffers)
{
	size_t limit = FEW_PAGES * aux_page_size();
	void *buffer = anonymous(2 * limit);

	ASSERT_NE(buffer, MAP_FAILED);
	ASSERT_EQ(start_as_nobody(&self->event, &self->ring, limit), 0);
	for (unsigned int i = 0; i < REPEAT; i++) {
		ASSERT_EQ(map_granted(&self->event, self->area), 0);
		EXPECT_EQ(aux_status(getpid(), "VmPin"), 0);
		/* All that the limit allows, and no page more. */
		EXPECT_EQ(uring_register(self->ring, buffer, limit + aux_page_size()), -ENOMEM);
		ASSERT_EQ(uring_register(self->ring, buffer, limit), 0);
		aux_unmap(&self->event);
		EXPECT_EQ(uring_unregister(self->ring), 0);
	}
}

TEST_F(aux_mlock_uring, buffers_leave_room_for_area)
{
	size_t limit = self->allowance;
	void *buffer = anonymous(limit);

	ASSERT_NE(buffer, MAP_FAILED);
	ASSERT_EQ(start_as_nobody(&self->event, &self->ring, limit), 0);
	for (unsigned int i = 0; i < REPEAT; i++) {
		ASSERT_EQ(uring_register(self->ring, buffer, limit), 0);
		EXPECT_EQ(map_granted(&self->event, self->area), 0);
		/* The buffers alone are pinned. */
		EXPECT_EQ(aux_status(getpid(), "VmPin"), (long long)limit >> 10);
		EXPECT_EQ(uring_unregister(self->ring), 0);
		EXPECT_EQ(aux_status(getpid(), "VmPin"), 0);
		aux_unmap(&self->event);
	}
}

TEST_HARNESS_MAIN
