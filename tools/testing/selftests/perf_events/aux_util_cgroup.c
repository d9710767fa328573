// SPDX-License-Identifier: GPL-2.0-only
/* Control groups for the tests of AUX areas. */
#define _GNU_SOURCE
#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aux_util_cgroup.h"
#include "aux_util.h"

/* Whether the controller is of a mount of cgroup1; else it is cgroup2's. */
static bool has_controller(const struct mntent *mount, const char *controller)
{
	return !strcmp(mount->mnt_type, "cgroup") && hasmntopt(mount, controller);
}

bool cgroup_find(const char *controller, char *root)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *mount;

	*root = '\0';
	while (mounts && (mount = getmntent(mounts))) {
		bool own = has_controller(mount, controller);

		if (own || (!*root && !strcmp(mount->mnt_type, "cgroup2")))
			snprintf(root, CGROUP_PATH, "%s", mount->mnt_dir);
		if (own)
			break;
	}
	if (mounts)
		endmntent(mounts);
	return *root;
}

bool cgroup_make(const char *root, char *group)
{
	snprintf(group, CGROUP_PATH, "%.256s/aux_test.XXXXXX", root);
	return mkdtemp(group);
}

int cgroup_remove(const char *group)
{
	return rmdir(group) ? -errno : 0;
}

int cgroup_write(const char *group, const char *file, const char *text)
{
	char path[CGROUP_PATH + 64];

	snprintf(path, sizeof(path), "%s/%s", group, file);
	return aux_write_file(path, text);
}

int cgroup_enter(const char *group, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	return cgroup_write(group, "cgroup.procs", text);
}

bool cgroup_read(const char *group, const char *file, const char *word, long long *value)
{
	char path[CGROUP_PATH + 64], line[256];
	bool found = false;
	char *at;
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", group, file);
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

int cgroup_open_event(struct perf_event_attr *attr, int directory, int cpu, int leader)
{
	return syscall(SYS_perf_event_open, attr, directory, cpu, leader,
		       PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);
}
