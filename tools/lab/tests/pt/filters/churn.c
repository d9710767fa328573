// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks map, unmap, fork and execute other programs, while events with filters of
 * their files come and go. The kernel's KASAN reports any use of freed memory.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filters.h"

#define TARGETS		3
#define OWNERS		2
#define EVENTS		100
#define MAPPINGS	200
#define PATIENCE	200.0
#define CODE		(PROT_READ | PROT_EXEC)

/* What the owners of events have done; shared. */
struct done {
	unsigned int events, filters, gone;
	int error;
};

/* Each mapping of code is compared with the filters of all events of the task. */
static void map_and_unmap(const char *path)
{
	struct object object = make_object(path);

	for (;;) {
		map_object(&object, 0, 3, CODE);
		map_object(&object, 2, 3, CODE);
		unmap_object(&object);
	}
}

/* The events of children have filters of their parents, and ranges of their own. */
static void fork_and_map(const char *path)
{
	struct object object = make_object(path);

	for (;;) {
		pid_t pid = fork();

		for (unsigned int i = 0; !pid && i < MAPPINGS; i++) {
			map_object(&object, 0, 3, CODE);
			unmap_object(&object);
		}
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

void become(int argc, char **argv)
{
	struct object object = make_object(argv[2]);

	map_object(&object, 0, 2, CODE);
	execv("/proc/self/exe", argv);
	(void)argc;
	_exit(1);
}

static pid_t start_target(unsigned int kind, const char *path)
{
	char *args[] = { "filters", "become", (char *)path, NULL };
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	switch (kind) {
	case 0:
		map_and_unmap(path);
		break;
	case 1:
		fork_and_map(path);
		break;
	}
	execv("/proc/self/exe", args);
	_exit(1);
}

static int try_filter(struct aux_event *event, unsigned int nr, const char *path)
{
	switch (nr % 4) {
	case 0:
		return set_filter(event, "filter 0x1000/0x2000@%s,stop 0/0x1000@%s", path, path);
	case 1:
		/* The path takes locks that exec takes, too. */
		return set_filter(event, "%s", "filter 0/0x5000@/proc/self/exe");
	case 2:
		return set_filter(event, "filter 0xffffffff81000000/0x1000,filter 0/0x800@%s",
				  path);
	default:
		return set_filter(event, "%s", "");
	}
}

/*
 * One event, from its begin to its end. Some have an area, and run; others are
 * gone again at once.
 */
static int open_event(struct aux_event *event, pid_t pid, unsigned int nr)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	attr.mmap = 1;
	/* Those of a CPU are inherited, those of all cannot be mapped then. */
	attr.inherit = nr & 1;
	if (nr % 8 > 1) {
		*event = (struct aux_event) { .fd = aux_open(&attr, pid, nr & 1) };
		return event->fd < 0 ? -errno : 0;
	}
	return aux_open_mapped(event, &attr, pid, attr.inherit ? (int)(nr / 8 % 2) : -1, 1) ?:
	       aux_map_area(event, 16UL << 10, PROT_READ);
}

static void one_event(pid_t pid, unsigned int nr, const char *path, struct done *done)
{
	struct aux_event event;
	int ret = open_event(&event, pid, nr);

	/* It became another program meanwhile, or is still traced by who is just closing. */
	if (ret == -EACCES || ret == -EBUSY) {
		done->gone++;
		ret = 0;
	} else if (!ret) {
		done->events++;
		for (unsigned int i = 0; i < 1 + nr % 3 && !ret; i++) {
			ret = try_filter(&event, nr + i, path) ?: aux_enable(&event);
			done->filters += !ret;
		}
		/* Somebody is to be born meanwhile, and to be at it still. */
		usleep(nr & 1 ? 20000 : 0);
	}
	if (ret)
		done->error = ret;
	aux_close(&event);
}

static pid_t start_owner(const pid_t *targets, const char *path, struct done *done)
{
	double begin = aux_seconds();
	unsigned int nr = 0;
	pid_t pid = fork();

	if (pid)
		return pid;
	while (done->events < EVENTS && !done->error && aux_seconds() - begin < PATIENCE) {
		one_event(targets[nr % TARGETS], nr, path, done);
		nr++;
	}
	_exit(0);
}

void test_churn(const char *directory)
{
	struct done *done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				 -1, 0);
	pid_t targets[TARGETS], owners[OWNERS];
	unsigned int events = 0, filters = 0, i;
	bool alive = true;
	cpu_set_t both;
	char path[100];

	CPU_ZERO(&both);
	CPU_SET(0, &both);
	CPU_SET(1, &both);
	sched_setaffinity(0, sizeof(both), &both);
	snprintf(path, sizeof(path), "%s/object", directory);
	for (i = 0; i < TARGETS; i++)
		targets[i] = start_target(i, path);
	for (i = 0; i < OWNERS; i++)
		owners[i] = start_owner(targets, path, &done[i]);
	for (i = 0; i < OWNERS; i++)
		waitpid(owners[i], NULL, 0);
	for (i = 0; i < TARGETS; i++) {
		alive = alive && !waitpid(targets[i], NULL, WNOHANG);
		kill(targets[i], SIGKILL);
		waitpid(targets[i], NULL, 0);
	}
	for (i = 0; i < OWNERS; i++) {
		events += done[i].events;
		filters += done[i].filters;
		if (done[i].error)
			diag("an event or its filter: %s", strerror(-done[i].error));
		alive = alive && !done[i].error;
	}
	point(alive && events >= OWNERS * EVENTS && filters > events,
	      "%u events of tasks that map, fork and exec, %u changes of filters", events, filters);
}
