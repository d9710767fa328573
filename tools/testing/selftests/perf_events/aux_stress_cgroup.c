// SPDX-License-Identifier: GPL-2.0-only
/* The stress of AUX areas: events of control groups, and processes that move between these. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "aux_stress.h"
#include "aux_util.h"
#include "aux_util_cgroup.h"

/* Files of this process have lower numbers, and those of its steps the lowest. */
#define FIRST_DIRECTORY	800

static struct {
	/* the root of all groups, and two groups below it */
	char root[CGROUP_PATH], group[STRESS_CGROUPS][CGROUP_PATH];
	int directory[STRESS_CGROUPS];
	bool exist;
} cgroups;

static int open_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY), high;

	if (fd < 0)
		return -1;
	high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_DIRECTORY);
	close(fd);
	return high;
}

/* Whether a group can have events, see aux_cgroup.c */
static bool has_events(int directory)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
	};
	int fd = cgroup_open_event(&attr, directory, 0, -1);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool stress_make_cgroups(void)
{
	if (!cgroup_find("perf_event", cgroups.root))
		return false;
	for (int i = 0; i < STRESS_CGROUPS; i++) {
		if (!cgroup_make(cgroups.root, cgroups.group[i])) {
			cgroups.group[i][0] = '\0';
			return false;
		}
		cgroups.directory[i] = open_directory(cgroups.group[i]);
	}
	cgroups.exist = has_events(cgroups.directory[0]);
	return cgroups.exist;
}

bool stress_has_cgroups(void)
{
	return cgroups.exist;
}

/* Return: false if a process, or something that was forgotten, is still in one of them */
bool stress_remove_cgroups(void)
{
	bool removed = true;

	for (int i = 0; i < STRESS_CGROUPS; i++)
		removed &= !*cgroups.group[i] || !cgroup_remove(cgroups.group[i]);
	return removed;
}

int stress_cgroup_of(int directory)
{
	for (int i = 0; i < STRESS_CGROUPS; i++) {
		if (cgroups.exist && cgroups.directory[i] == directory)
			return i;
	}
	return -1;
}

int stress_enter(int number)
{
	if (!cgroups.exist)
		return -EOPNOTSUPP;
	return cgroup_enter(number < STRESS_CGROUPS ? cgroups.group[number] : cgroups.root, 0);
}

/* A trace of one group, with up to two members, of which some are not enabled; or members alone */
int stress_open_cgroup(struct stress_actor *a)
{
	int directory = cgroups.directory[stress_random(a, STRESS_CGROUPS)];
	unsigned int members = stress_random(a, 3);
	int cpu = stress_random(a, STRESS_CPUS), leader = -1, ret = 0;
	struct perf_event_attr attr;

	if (!cgroups.exist)
		return -EOPNOTSUPP;
	aux_attr(&attr);
	/* Traces of CPUs would leave no place for those of tasks. */
	for (unsigned int i = 0; i <= members && !ret; i++) {
		int fd;

		if (i || !a->per_cpu)
			attr = *a->cycles;
		attr.disabled = stress_random(a, 2);
		attr.pinned = !i && !stress_random(a, 4);
		fd = cgroup_open_event(&attr, directory, cpu, leader);
		/* A member may take the slot of the leader. */
		if (!i && fd >= 0)
			leader = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		ret = stress_keep(a, fd);
	}
	if (leader >= 0)
		close(leader);
	return ret;
}
