// SPDX-License-Identifier: GPL-2.0
/*
 * How long there is no trace while a snapshot of AUX areas is made.
 *
 * perf record disables the AUX area event on one CPU after the other, copies the
 * areas, and enables the event again. So the traces of a snapshot do not end at
 * the same time, and what happens meanwhile is in no snapshot. perf record -v
 * tells how long both took.
 */
#include <time.h>

#include "debug.h"
#include "snapshot-window.h"

static struct {
	struct timespec begin, stopped;
	unsigned int nr;
} window;

static double microseconds(const struct timespec *from, const struct timespec *to)
{
	return (to->tv_sec - from->tv_sec) * 1e6 + (to->tv_nsec - from->tv_nsec) / 1e3;
}

/**
 * snapshot_window__begin - the first CPU is about to be stopped
 *
 * Context: may be a signal handler.
 */
void snapshot_window__begin(void)
{
	clock_gettime(CLOCK_MONOTONIC, &window.begin);
}

/**
 * snapshot_window__stopped - the last CPU has been stopped
 *
 * Context: may be a signal handler.
 */
void snapshot_window__stopped(void)
{
	clock_gettime(CLOCK_MONOTONIC, &window.stopped);
}

/**
 * snapshot_window__end - all CPUs trace again; tell how long they did not
 */
void snapshot_window__end(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	pr_debug("AUX area tracing snapshot %u: stopped within %.0f us, no trace for %.0f us\n",
		 ++window.nr, microseconds(&window.begin, &window.stopped),
		 microseconds(&window.begin, &now));
}
