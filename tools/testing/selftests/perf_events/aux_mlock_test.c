// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locked memory: what a buffer charges to a user and to a process is given back
 * to them, whoever unmaps it last.
 *
 * A process sees its own part as VmPin. The user's part shows in what another
 * process of that user has pinned when it maps more than the allowance.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_harness.h"

#define DATA_PAGES	8
#define NOBODY		65534
#define OTHER		65533
#define REPEAT		5
/* Pages that the allowance always pays for */
#define SMALL_PAGES	1
#define SMALL_AREA	(64UL << 10)
#define RACES		3000

/* Bytes of an area that is larger than the allowance */
static size_t area;

/* KiB: pinned by this process; by a new process of two users, when it maps an area. */
struct counters {
	long long pinned, nobody, other;
};

FIXTURE(aux_mlock)
{
	struct aux_event event;
	struct counters start;
};

#define AUX_FIXTURE aux_mlock
#include "aux_variants.h"

static void become(uid_t uid)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	if (setrlimit(RLIMIT_MEMLOCK, &all) || aux_become(uid))
		_exit(2);
}

/* KiB that this process has pinned as a user with an area. */
static long long pinned_as(uid_t uid)
{
	struct aux_event event;

	become(uid);
	if (aux_open_mapped(&event, NULL, 0, -1, DATA_PAGES) ||
	    aux_map_area(&event, area, PROT_READ))
		return -1;
	return aux_status(getpid(), "VmPin");
}

/* The same of a new process. */
static long long probe_user(uid_t uid)
{
	return aux_ask_child(pinned_as, uid);
}

static long long own_pinned(void)
{
	return aux_status(getpid(), "VmPin");
}

FIXTURE_SETUP(aux_mlock)
{
	struct perf_event_attr attr;

	aux_use(variant->pmu);
	self->event.fd = -1;
	self->event.page = NULL;
	self->event.area = NULL;
	if (aux_missing_users())
		SKIP(return, "%s", aux_missing_users());
	area = aux_beyond_allowance();
	self->start.pinned = own_pinned();
	self->start.nobody = probe_user(NOBODY);
	self->start.other = probe_user(OTHER);
	ASSERT_GT(self->start.nobody, 0);
	aux_attr(&attr);
	self->event.fd = aux_open(&attr, 0, -1);
	ASSERT_GE(self->event.fd, 0);
}

FIXTURE_TEARDOWN(aux_mlock)
{
	aux_close(&self->event);
}

/* What another process maps of a buffer: the area alone, all, or what fork() has copied */
enum mapping { AREA_ALONE, DATA_AND_AREA, COPY_OF_AREA };

/* Has mappings until the parent goes on by closing a pipe. */
struct partner {
	pid_t pid;
	int go, done;
};

static void wait_for(int fd)
{
	char byte;

	if (read(fd, &byte, 1) < 0)
		_exit(3);
}

static void partner_main(struct aux_event *event, uid_t uid, enum mapping how,
			 int go, int done)
{
	struct aux_event mine = *event;
	long long before;

	if (uid)
		become(uid);
	before = own_pinned();
	if (how == DATA_AND_AREA && aux_map_data(&mine, DATA_PAGES))
		_exit(4);
	if (how != COPY_OF_AREA && aux_map_area(&mine, area, PROT_READ))
		_exit(5);
	if (write(done, "", 1) != 1)
		_exit(6);
	wait_for(go);
	aux_unmap_area(&mine);
	if (how == DATA_AND_AREA)
		munmap(mine.page, mine.data_len);
	_exit(own_pinned() == before ? 0 : 7);
}

static void start_partner(struct partner *p, struct aux_event *event, uid_t uid,
			  enum mapping how)
{
	int go[2], done[2];

	if (pipe(go) || pipe(done))
		exit(1);
	p->pid = fork();
	if (!p->pid) {
		close(go[1]);
		partner_main(event, uid, how, go[0], done[1]);
	}
	close(go[0]);
	close(done[1]);
	p->go = go[1];
	p->done = done[0];
	wait_for(p->done);
}

/* Lets it unmap; its exit status says whether its own counter is as before. */
static int end_partner(struct partner *p)
{
	int status = -1;

	close(p->go);
	waitpid(p->pid, &status, 0);
	close(p->done);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_start(struct __test_metadata *_metadata, const struct counters *start)
{
	EXPECT_EQ(own_pinned(), start->pinned);
	EXPECT_EQ(probe_user(NOBODY), start->nobody);
	EXPECT_EQ(probe_user(OTHER), start->other);
}

TEST_F(aux_mlock, map_and_unmap)
{
	for (unsigned int i = 0; i < REPEAT; i++) {
		ASSERT_EQ(aux_map_data(&self->event, DATA_PAGES), 0);
		ASSERT_EQ(aux_map_area(&self->event, area, PROT_READ), 0);
		EXPECT_GT(own_pinned(), self->start.pinned);
		aux_unmap(&self->event);
		EXPECT_EQ(own_pinned(), self->start.pinned);
	}
	expect_start(_metadata, &self->start);
}

TEST_F(aux_mlock, refused_mappings_charge_nothing)
{
	ASSERT_EQ(aux_map_data(&self->event, DATA_PAGES), 0);
	for (unsigned int i = 0; i < REPEAT; i++)
		EXPECT_EQ(aux_map_area(&self->event, area + aux_page_size(), PROT_READ), -EINVAL);
	EXPECT_EQ(own_pinned(), self->start.pinned);
	aux_unmap(&self->event);
	expect_start(_metadata, &self->start);
}

TEST_F(aux_mlock, more_than_there_is_charges_nothing)
{
	/* More than memory, and more pages than an int can count */
	unsigned long long sizes[] = { 1ULL << 42, 1ULL << 44 };

	if (sizes[0] > SIZE_MAX)
		SKIP(return, "no size has more than %zu bits here", sizeof(size_t) * 8);
	ASSERT_EQ(aux_map_data(&self->event, DATA_PAGES), 0);
	EXPECT_EQ(aux_map_area(&self->event, sizes[0], PROT_READ), -ENOMEM);
	EXPECT_EQ(aux_map_area(&self->event, sizes[1], PROT_READ), -ENOMEM);
	EXPECT_EQ(own_pinned(), self->start.pinned);
	aux_unmap(&self->event);
	expect_start(_metadata, &self->start);
}

static void become_limited(uid_t uid)
{
	struct rlimit none = { 0, 0 };

	become(uid);
	if (setrlimit(RLIMIT_MEMLOCK, &none))
		_exit(2);
}

static pid_t start_refused_mappings(uid_t uid)
{
	struct aux_event event;
	pid_t pid = fork();

	if (pid)
		return pid;
	become_limited(uid);
	if (aux_open_mapped(&event, NULL, 0, -1, SMALL_PAGES))
		_exit(1);
	while (aux_map_area(&event, area, PROT_READ) == -EPERM)
		;
	_exit(1);
}

/* How many small areas are refused. */
static long long map_small_areas(uid_t uid)
{
	struct aux_event event;
	long long refused = 0;

	become_limited(uid);
	if (aux_open_mapped(&event, NULL, 0, -1, SMALL_PAGES))
		return -1;
	for (unsigned int i = 0; i < RACES; i++) {
		if (aux_map_area(&event, SMALL_AREA, PROT_READ | PROT_WRITE))
			refused++;
		else
			aux_unmap_area(&event);
	}
	return refused;
}

TEST_F_TIMEOUT(aux_mlock, refused_mappings_disturb_nobody, 60)
{
	pid_t refused = start_refused_mappings(NOBODY);

	EXPECT_EQ(aux_ask_child(map_small_areas, NOBODY), 0);
	EXPECT_EQ(waitpid(refused, NULL, WNOHANG), 0);
	aux_end_worker(refused);
	expect_start(_metadata, &self->start);
}

TEST_F(aux_mlock, data_gone_before_area)
{
	ASSERT_EQ(aux_map_data(&self->event, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&self->event, area, PROT_READ), 0);
	munmap(self->event.page, self->event.data_len);
	self->event.page = NULL;
	aux_unmap_area(&self->event);
	expect_start(_metadata, &self->start);
}

TEST_F(aux_mlock, unmapped_last_by_another_process)
{
	struct partner p;

	ASSERT_EQ(aux_map_data(&self->event, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&self->event, area, PROT_READ), 0);
	start_partner(&p, &self->event, 0, DATA_AND_AREA);
	aux_unmap(&self->event);
	EXPECT_EQ(end_partner(&p), 0);
	expect_start(_metadata, &self->start);
}

/* 7.3 refuses that; in others, the child is charged for nothing and is given nothing back. */
TEST_F(aux_mlock, copied_by_fork)
{
	struct partner p;

	ASSERT_EQ(aux_map_data(&self->event, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&self->event, area, PROT_READ), 0);
	if (madvise(self->event.area, area, MADV_DOFORK)) {
		EXPECT_EQ(errno, EINVAL);
	} else {
		start_partner(&p, &self->event, 0, COPY_OF_AREA);
		aux_unmap(&self->event);
		EXPECT_EQ(end_partner(&p), 0);
	}
	aux_unmap(&self->event);
	expect_start(_metadata, &self->start);
}

TEST_F(aux_mlock, unmapped_last_by_another_user)
{
	struct partner p;

	ASSERT_EQ(aux_map_data(&self->event, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&self->event, area, PROT_READ), 0);
	start_partner(&p, &self->event, NOBODY, DATA_AND_AREA);
	aux_unmap(&self->event);
	EXPECT_EQ(end_partner(&p), 0);
	expect_start(_metadata, &self->start);
}

TEST_F(aux_mlock, area_of_another_user_than_data)
{
	struct partner p;

	ASSERT_EQ(aux_map_data(&self->event, DATA_PAGES), 0);
	start_partner(&p, &self->event, NOBODY, DATA_AND_AREA);
	EXPECT_EQ(end_partner(&p), 0);
	aux_unmap(&self->event);
	expect_start(_metadata, &self->start);
}

TEST_F(aux_mlock, area_of_another_user_unmapped_last_here)
{
	struct partner p;

	ASSERT_EQ(aux_map_data(&self->event, DATA_PAGES), 0);
	start_partner(&p, &self->event, OTHER, DATA_AND_AREA);
	EXPECT_EQ(aux_map_area(&self->event, area, PROT_READ), 0);
	/* The partner pays, and has ended before its pages are free. */
	end_partner(&p);
	aux_unmap(&self->event);
	expect_start(_metadata, &self->start);
}

TEST_HARNESS_MAIN
