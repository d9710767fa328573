// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into a process, this lets its time of day jump twice a second, each time by CLOCK_DAYS
 * days from where it would be; with a negative number it goes back. Clocks that count from the
 * machine's start stay as they are.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define DAY	(24 * 3600)
/* So many jumps away at most, in half seconds of the machine's clock: a date remains a date. */
#define JUMPS	20000

static time_t jumped(void)
{
	const char *days = getenv("CLOCK_DAYS");
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (days ? atol(days) : 0) * DAY *
	       ((now.tv_sec * 2 + now.tv_nsec / 500000000L) % JUMPS);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int ret = syscall(SYS_clock_gettime, clock, now);

	if (!ret && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		now->tv_sec += jumped();
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
