// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace that an event of PEBS pauses or resumes: it does so at its first
 * overflow, though nothing else wants to know of records before there are many.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pebs.h"

#define AREA		0x100000LL
#define BRANCHES	2000000UL
/* An area has room for all of them, and there are a few hundred periods. */
#define PERIOD		5003
/* One that overflows once. */
#define LATE		1500000
#define NEVER		0x10000000000ULL
#define DATA_PAGES	8
/* A packet of long TNT has so many branches, and is of so many bytes. */
#define TNT_BRANCHES	47
#define TNT_BYTES	8
#define BYTES(branches)	((branches) * TNT_BYTES / TNT_BRANCHES)
/* What a trace begins with, and ends with */
#define FRAME		512
/* Interrupts come, a few hundred of them on a slow machine. */
#define TICKS		16384

static int open_group(struct aux_event *trace, int *member, __u32 action, __u64 period)
{
	struct perf_event_attr attr;
	int ret;

	aux_attr(&attr);
	aux_set_action(&attr, action == AUX_RESUME ? AUX_START_PAUSED : 0);
	ret = aux_open_mapped(trace, &attr, 0, -1, DATA_PAGES) ?:
	      aux_map_area(trace, AREA, PROT_READ | PROT_WRITE);
	if (ret)
		return ret;
	pebs_attr(&attr, period, LARGE);
	attr.disabled = 0;
	aux_set_action(&attr, action);
	*member = aux_open_in_group(&attr, 0, -1, trace->fd);
	return *member < 0 ? -errno : 0;
}

/* Bytes of trace of the loop, or -errno. */
static long long trace_loop(__u32 action, __u64 period)
{
	struct aux_event trace = { .fd = -1 };
	int member = -1;
	long long bytes = open_group(&trace, &member, action, period);

	if (!bytes) {
		aux_enable(&trace);
		pebs_loop(BRANCHES);
		aux_disable(&trace);
		bytes = aux_head(&trace);
	}
	if (member >= 0)
		close(member);
	aux_close(&trace);
	return bytes;
}

void test_pauses(void)
{
	long long all = trace_loop(AUX_PAUSE, NEVER);
	long long first = trace_loop(AUX_PAUSE, PERIOD);
	long long rest = trace_loop(AUX_RESUME, LATE);
	long long none = trace_loop(AUX_RESUME, NEVER);

	diag("of %lld bytes of trace %lld before the first overflow, %lld after, %lld without",
	     all, first, rest, none);
	point(all >= (long long)BYTES(BRANCHES) && all < AREA && !none,
	      "a trace whose pause does not come, and one whose resume does not");
	point(first >= (long long)BYTES(PERIOD / 2) && first <= (long long)BYTES(PERIOD) + FRAME,
	      "PEBS pauses a trace at its first overflow");
	point(rest >= (long long)BYTES(BRANCHES - LATE) &&
	      rest <= (long long)BYTES(BRANCHES - LATE) + FRAME + TICKS,
	      "PEBS resumes a trace at its first overflow");
}
