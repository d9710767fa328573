// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory control groups: an AUX area belongs to the group of the process that
 * creates it, and cannot be larger than the group allows.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "aux_harness.h"
#include "aux_util_cgroup.h"

#define DATA_PAGES	8
#define AREA		(64LL << 20)
/* Page tables, the array of pages, a process; and what a CPU has charged in advance */
#define BESIDES		((4LL << 20) + 64 * (long long)aux_page_size())

FIXTURE(aux_memcg)
{
	char root[CGROUP_PATH];
	/* the root gives its children no memory controller of itself */
	bool enabled_here;
	/* to the group, of a mapped area */
	long long charge;
};

#define AUX_FIXTURE aux_memcg
#include "aux_variants.h"

/* The group of the test, which its children enter. */
static char group[CGROUP_PATH];

static long long charged(void)
{
	long long bytes = -1;

	cgroup_read(group, "memory.current", "", &bytes);
	return bytes;
}

/* In a child: enter the group, and map an area. Returns 0 or -errno. */
static int map_in_group(long long size)
{
	struct aux_event event;

	/* What other CPUs have charged in advance would count, too. */
	if (aux_pin(0, sched_getcpu()) || cgroup_enter(group, 0))
		return -EIO;
	if (aux_open_mapped(&event, NULL, 0, -1, DATA_PAGES))
		return -ENODEV;
	/* Not read-only: some hardware would need contiguous memory. */
	return aux_map_area(&event, size, PROT_READ | PROT_WRITE);
}

static long long charge_of_area(uid_t unused)
{
	return map_in_group(AREA) ? -1 : charged();
}

static long long map_area(uid_t unused)
{
	return map_in_group(AREA);
}

static long long map_small_area(uid_t unused)
{
	return map_in_group(AREA / 4);
}

static void clean_up(FIXTURE_DATA(aux_memcg) *self)
{
	cgroup_remove(group);
	if (self->enabled_here)
		cgroup_write(self->root, "cgroup.subtree_control", "-memory");
}

/* Nothing is left to undo if this skips. */
FIXTURE_SETUP(aux_memcg)
{
	aux_use(variant->pmu);
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	if (!aux_has_cap(CAP_IPC_LOCK))
		SKIP(return, "to lock so much memory needs CAP_IPC_LOCK");
	if (!cgroup_find("memory", self->root))
		SKIP(return, "cgroup2 is not mounted");
	if (!cgroup_read(self->root, "cgroup.controllers", "memory", NULL))
		SKIP(return, "cgroup2 has no memory controller (CONFIG_MEMCG)");
	self->enabled_here = !cgroup_read(self->root, "cgroup.subtree_control", "memory", NULL);
	if (self->enabled_here && cgroup_write(self->root, "cgroup.subtree_control", "+memory"))
		SKIP(return, "cannot enable the memory controller in %s", self->root);
	if (!cgroup_make(self->root, group)) {
		clean_up(self);
		SKIP(return, "cannot make a group in %s", self->root);
	}
	self->charge = aux_ask_child(charge_of_area, 0);
	if (self->charge >= 0 && self->charge < BESIDES) {
		clean_up(self);
		SKIP(return, "this kernel charges an area to no control group");
	}
}

FIXTURE_TEARDOWN(aux_memcg)
{
	clean_up(self);
}

TEST_F(aux_memcg, area_is_charged)
{
	EXPECT_GE(self->charge, AREA - BESIDES);
	EXPECT_LT(charged(), BESIDES);
}

TEST_F(aux_memcg, limit_is_kept)
{
	long long killed = -1;
	char limit[32];

	snprintf(limit, sizeof(limit), "%lld", AREA / 2);
	ASSERT_EQ(cgroup_write(group, "memory.max", limit), 0);
	EXPECT_EQ(aux_ask_child(map_area, 0), -ENOMEM);
	EXPECT_TRUE(cgroup_read(group, "memory.events", "oom_kill ", &killed));
	EXPECT_EQ(killed, 0);
	EXPECT_LT(charged(), BESIDES);
	EXPECT_EQ(aux_ask_child(map_small_area, 0), 0);
}

TEST_HARNESS_MAIN
