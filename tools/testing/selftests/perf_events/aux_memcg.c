// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory control groups: an AUX area belongs to the group of the process that
 * creates it, and cannot be larger than the group allows.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <mntent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "aux_util.h"

#define DATA_PAGES	8
#define PATH_LEN	256
#define AREA		(64LL << 20)
/* Page tables, the array of pages, a process; and what a CPU has charged in advance */
#define BESIDES		((4LL << 20) + 64LL * aux_page_size())

FIXTURE(aux_memcg)
{
	char root[PATH_LEN];
	/* the root gives its children no memory controller of itself */
	bool enabled_here;
};

/* The group of the test, which its children enter. */
static char group[PATH_LEN + 32];

static bool group_write(const char *dir, const char *file, const char *text)
{
	char path[PATH_LEN + 64];
	FILE *out;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	out = fopen(path, "w");
	if (!out)
		return false;
	ok = fputs(text, out) >= 0;
	return !fclose(out) && ok;
}

/* What follows a word in a file of one line, or of a line for each word; false without it. */
static bool group_read(const char *dir, const char *file, const char *word, long long *value)
{
	char path[PATH_LEN + 64], line[256];
	bool found = false;
	char *at;
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	in = fopen(path, "r");
	while (in && !found && fgets(line, sizeof(line), in)) {
		at = strstr(line, word);
		found = at;
		if (found && value)
			*value = atoll(at + strlen(word));
	}
	if (in)
		fclose(in);
	return found;
}

static long long charged(void)
{
	long long bytes = -1;

	group_read(group, "memory.current", "", &bytes);
	return bytes;
}

/* Where cgroup2 is mounted already: another mount would change options of all of them. */
static bool find_root(char *root)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *mount = NULL;

	while (mounts && (mount = getmntent(mounts)) && strcmp(mount->mnt_type, "cgroup2"))
		;
	if (mount)
		snprintf(root, PATH_LEN, "%s", mount->mnt_dir);
	if (mounts)
		endmntent(mounts);
	return *root;
}

/* In a child: enter the group, and map an area. Returns 0 or -errno. */
static int map_in_group(long long size)
{
	struct aux_event event;

	/* What other CPUs have charged in advance would count, too. */
	if (aux_pin(0, sched_getcpu()) || !group_write(group, "cgroup.procs", "0"))
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

/* Nothing is left to undo if this skips. */
FIXTURE_SETUP(aux_memcg)
{
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	if (geteuid())
		SKIP(return, "needs root, to make a control group");
	*self->root = '\0';
	if (!find_root(self->root))
		SKIP(return, "cgroup2 is not mounted");
	if (!group_read(self->root, "cgroup.controllers", "memory", NULL))
		SKIP(return, "cgroup2 has no memory controller (CONFIG_MEMCG)");
	self->enabled_here = !group_read(self->root, "cgroup.subtree_control", "memory", NULL);
	if (self->enabled_here && !group_write(self->root, "cgroup.subtree_control", "+memory"))
		SKIP(return, "cannot enable the memory controller in %s", self->root);
	snprintf(group, sizeof(group), "%s/aux_memcg.XXXXXX", self->root);
	if (!mkdtemp(group)) {
		if (self->enabled_here)
			group_write(self->root, "cgroup.subtree_control", "-memory");
		SKIP(return, "cannot make a group in %s", self->root);
	}
}

FIXTURE_TEARDOWN(aux_memcg)
{
	rmdir(group);
	if (self->enabled_here)
		group_write(self->root, "cgroup.subtree_control", "-memory");
}

TEST_F(aux_memcg, area_is_charged)
{
	EXPECT_GE(aux_ask_child(charge_of_area, 0), AREA - BESIDES);
	EXPECT_LT(charged(), BESIDES);
}

TEST_F(aux_memcg, limit_is_kept)
{
	long long killed = -1;
	char limit[32];

	snprintf(limit, sizeof(limit), "%lld", AREA / 2);
	ASSERT_TRUE(group_write(group, "memory.max", limit));
	EXPECT_EQ(aux_ask_child(map_area, 0), -ENOMEM);
	EXPECT_TRUE(group_read(group, "memory.events", "oom_kill ", &killed));
	EXPECT_EQ(killed, 0);
	EXPECT_LT(charged(), BESIDES);
	EXPECT_EQ(aux_ask_child(map_small_area, 0), 0);
}

TEST_HARNESS_MAIN
