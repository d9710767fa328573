// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into a process, this lets its time of day jump: of each second, the first half is three
 * days ahead. Clocks that count from the machine's start stay as they are.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define AHEAD	(3 * 24 * 3600)
#define HALF	500000000L

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int ret = syscall(SYS_clock_gettime, clock, now);

	if (!ret && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) &&
	    now->tv_nsec < HALF)
		now->tv_sec += AHEAD;
	return ret;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec time;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &time))
		return -1;
	now->tv_sec = time.tv_sec;
	now->tv_usec = time.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *now)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	if (now)
		*now = time.tv_sec;
	return time.tv_sec;
}
