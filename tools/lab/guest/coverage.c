// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel has counted of its own code, if it is built with gcov: one
 * file for each object, which the host adds to those of other guests.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"

#define GCOV		"/sys/kernel/debug/gcov"
#define SUFFIX		".gcda"
#define MAX_DEPTH	32
/* As in tools/lab/lib/lab/compiling/coverage.py */
#define LOCKED_MARK	"locked-down"

static const char *target;
static bool is_locked;

static void copy(const char *from, const char *to)
{
	static char data[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	ssize_t len = -1;

	/* A kernel that is locked down lets nobody read its counters. */
	if (in < 0 && errno == EPERM) {
		is_locked = true;
		return;
	}
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	while (in >= 0 && out >= 0 && (len = read(in, data, sizeof(data))) > 0) {
		if (write_all(out, data, len))
			break;
	}
	if (len)
		fatal("cannot keep what the kernel has counted");
	close(in);
	close(out);
}

/* A file's name is its path, with '#' in place of '/', as gcov does. */
static int keep(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	size_t len = strlen(path), skip = strlen(GCOV) + 1;
	char to[4096];
	int start;

	(void)st;
	(void)ftw;
	if (type != FTW_F || len < skip + strlen(SUFFIX) ||
	    strcmp(path + len - strlen(SUFFIX), SUFFIX))
		return 0;
	start = snprintf(to, sizeof(to), "%s/", target);
	snprintf(to + start, sizeof(to) - start, "#%s", path + skip);
	for (char *c = to + start; (c = strchr(c, '/')); )
		*c = '#';
	copy(path, to);
	return 0;
}

/* Tell the host why no counter is there. */
static void mark_locked(void)
{
	char path[4096];
	int mark;

	snprintf(path, sizeof(path), "%s/" LOCKED_MARK, target);
	mark = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (mark < 0)
		fatal("cannot tell why nothing was counted");
	close(mark);
}

void keep_coverage(const struct spec *spec)
{
	target = spec->coverage;
	if (target && nftw(GCOV, keep, MAX_DEPTH, FTW_PHYS))
		fatal("cannot read what the kernel has counted");
	if (is_locked)
		mark_locked();
}
