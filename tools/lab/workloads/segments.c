// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * segments.c - a plain loop whose tracing is switched off and on many times.
 *
 * It takes the Intel PT events' file descriptors of its parent (perf record) and uses
 * PERF_EVENT_IOC_DISABLE and _ENABLE on them: first from the traced process itself, between two
 * runs of the loop, then from a second process while the loop runs. Without such a parent it only
 * computes.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define SEGMENTS	100
#define CONCURRENT	40
#define PAUSE_USEC	300
#define MAX_EVENTS	64
#define LOOP		2000

static int events[MAX_EVENTS];
static int nr_events;

static NOINLINE unsigned int plain_loop(unsigned int n)
{
	volatile unsigned int sum = 0;
	unsigned int i = 0;

	while (i < n)
		sum += i++ & 3;
	return sum;
}

/* perf's other events tell which process runs: they must go on. Only PT takes address filters. */
static int is_pt(int fd)
{
	return !ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "");
}

static void take_events(pid_t from)
{
	int pidfd = syscall(SYS_pidfd_open, from, 0);
	char path[64], link[sizeof(path) + 256], name[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", from);
	dir = opendir(path);
	if (pidfd < 0 || !dir)
		return;
	while ((entry = readdir(dir)) && nr_events < MAX_EVENTS) {
		ssize_t len;
		int fd;

		snprintf(link, sizeof(link), "%s/%s", path, entry->d_name);
		len = readlink(link, name, sizeof(name) - 1);
		if (len < 0)
			continue;
		name[len] = 0;
		if (strcmp(name, "anon_inode:[perf_event]"))
			continue;
		fd = syscall(SYS_pidfd_getfd, pidfd, atoi(entry->d_name), 0);
		CHECK(fd >= 0);
		if (is_pt(fd))
			events[nr_events++] = fd;
		else
			close(fd);
	}
	closedir(dir);
	close(pidfd);
}

static void all_events(unsigned long request)
{
	int i;

	for (i = 0; i < nr_events; i++)
		CHECK(!ioctl(events[i], request, 0));
}

static void by_itself(unsigned int segments)
{
	unsigned int i;

	for (i = 0; i < segments; i++) {
		CHECK(plain_loop(LOOP) == LOOP / 4 * 6);
		all_events(PERF_EVENT_IOC_DISABLE);
		CHECK(plain_loop(LOOP) == LOOP / 4 * 6);
		all_events(PERF_EVENT_IOC_ENABLE);
	}
}

static void by_another(unsigned int segments)
{
	unsigned int i;
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		for (i = 0; i < segments; i++) {
			all_events(PERF_EVENT_IOC_DISABLE);
			all_events(PERF_EVENT_IOC_ENABLE);
		}
		_exit(0);
	}
	/* The pause keeps the trace short while the other process is at its system calls. */
	while (!waitpid(pid, &status, WNOHANG)) {
		CHECK(plain_loop(LOOP) == LOOP / 4 * 6);
		usleep(PAUSE_USEC);
	}
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	unsigned long scale = workload_scale(argc, argv);

	take_events(getppid());
	by_itself(scale * SEGMENTS);
	by_another(scale * CONCURRENT);
	printf("segments ok (%d events)\n", nr_events);
	return 0;
}
