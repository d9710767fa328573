/* SPDX-License-Identifier: GPL-2.0-only */
/* Control groups for the tests of AUX areas. */
#ifndef AUX_UTIL_CGROUP_H
#define AUX_UTIL_CGROUP_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/types.h>

#define CGROUP_PATH	288

/*
 * Where the hierarchy is mounted that has a controller. It is not mounted here: another mount
 * would change options of all of them. Returns false if it is not.
 */
bool cgroup_find(const char *controller, char *root);
/* A new group below a root, for cgroup_remove() */
bool cgroup_make(const char *root, char *group);
/* Return 0 or -errno */
int cgroup_remove(const char *group);
int cgroup_write(const char *group, const char *file, const char *text);
int cgroup_enter(const char *group, pid_t pid);
/* What follows a word in a file of one line, or of a line for each word; false without it. */
bool cgroup_read(const char *group, const char *file, const char *word, long long *value);

/* An event of what the tasks of a group do on a CPU; the directory of the group is open. */
int cgroup_open_event(struct perf_event_attr *attr, int directory, int cpu, int leader);

#endif
