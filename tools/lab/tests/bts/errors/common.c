// SPDX-License-Identifier: GPL-2.0-only
/* What the cases share: opening, other users, files of the kernel's. */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "errors.h"

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
#define NOBODY		65534

int open_trace(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	struct perf_event_attr usual;
	int fd;

	aux_attr(&usual);
	fd = aux_open(attr ?: &usual, pid, cpu);
	return fd < 0 ? -errno : fd;
}

int close_trace(int fd)
{
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int try_open(struct perf_event_attr *attr)
{
	return close_trace(open_trace(attr, 0, ANYWHERE));
}

int try_cpu(pid_t pid, int cpu)
{
	return close_trace(open_trace(NULL, pid, cpu));
}

int write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	bool good = file && fputs(text, file) >= 0;

	/* The kernel's answer may come with the close. */
	good = file && !fclose(file) && good;
	if (!good)
		diag("%s: %s", path, strerror(errno));
	return good ? 0 : BROKEN;
}

static int (*asked)(void);

static long long ask(uid_t uid)
{
	struct rlimit none = { };
	int ret;

	if (setrlimit(RLIMIT_MEMLOCK, &none) || setgroups(0, NULL) ||
	    setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		return BROKEN;
	ret = asked();
	return ret == BROKEN ? BROKEN : -ret;
}

int as_nobody(const char *paranoid, int (*attempt)(void))
{
	char before[16] = "";
	FILE *file = fopen(PARANOID, "r");
	long long said;

	if (!file || !fgets(before, sizeof(before), file) || write_file(PARANOID, paranoid))
		return BROKEN;
	fclose(file);
	asked = attempt;
	/* -1 if the child says nothing */
	said = aux_ask_child(ask, NOBODY);
	if (write_file(PARANOID, before) || said < 0 || said == BROKEN)
		return BROKEN;
	return -said;
}
