// SPDX-License-Identifier: GPL-2.0-only
/*
 * To be preloaded: a program finds itself in a cpuset without CPU 0. It runs on CPU 1, and no
 * other can be chosen.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CPU	1

static int run_there(pid_t pid)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(CPU, &set);
	return syscall(SYS_sched_setaffinity, pid, sizeof(set), &set) < 0 ? -1 : 0;
}

__attribute__((constructor)) static void begin(void)
{
	run_there(0);
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	if (size < sizeof(*set) || !CPU_ISSET(CPU, set)) {
		errno = EINVAL;
		return -1;
	}
	return run_there(pid);
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	memset(set, 0, size);
	CPU_SET(CPU, set);
	return 0;
}
