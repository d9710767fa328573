// SPDX-License-Identifier: GPL-2.0-only
/* Events alone: where their samples are, how many there are, and how many interrupts. */
#include <string.h>
#include <sys/prctl.h>

#include "pebs.h"

#define BRANCHES	2000000UL
#define PERIOD		1003
#define DATA_PAGES	64
/* A batch has more, and so many less interrupts are taken. */
#define BATCH		16
/* Of the loop's samples, those at branches before and after it. */
#define OUTSIDE		2

static const struct {
	const char *name;
	enum batch batch;
	unsigned int precise;
	const char *place;
} events[] = {
	{ "an interrupt each: at the branch", SINGLE, 2, pebs_jump },
	{ "an interrupt each: where it leads", SINGLE, 1, pebs_top },
	{ "in batches: at the branch", LARGE, 2, pebs_jump },
	{ "in batches: where it leads", LARGE, 1, pebs_top },
};

static void test_event(unsigned int i)
{
	struct pebs_samples seen = { };
	struct perf_event_attr attr;
	struct aux_event event;
	unsigned long before = pebs_interrupts(), pmis;
	int ret;

	pebs_attr(&attr, PERIOD, events[i].batch);
	attr.precise_ip = events[i].precise;
	ret = aux_open_mapped(&event, &attr, 0, -1, DATA_PAGES) ?: aux_enable(&event);
	if (!ret) {
		pebs_loop(BRANCHES);
		aux_disable(&event);
		pebs_read(&event, (unsigned long)events[i].place, &seen);
	}
	pmis = pebs_interrupts() - before;
	if (ret)
		diag("%s", strerror(-ret));
	diag("%lu samples, %lu interrupts", seen.samples, pmis);
	seen.elsewhere = seen.elsewhere > OUTSIDE ? seen.elsewhere : 0;
	point(pebs_complete(&seen, PERIOD) && seen.samples >= BRANCHES / PERIOD &&
	      (events[i].batch == SINGLE ? pmis >= seen.samples : pmis <= seen.samples / BATCH),
	      "samples, %s, and none is missing", events[i].name);
	aux_close(&event);
}

/* Two events that overflow at once, and are one record. */
static void test_pair(void)
{
	struct pebs_samples seen[2] = { };
	struct aux_event event[2];
	struct perf_event_attr attr;
	bool good = true;

	pebs_attr(&attr, PERIOD, LARGE);
	for (unsigned int i = 0; i < 2; i++)
		good = !aux_open_mapped(&event[i], &attr, 0, -1, DATA_PAGES) && good;
	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	pebs_loop(BRANCHES);
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
	for (unsigned int i = 0; good && i < 2; i++) {
		pebs_read(&event[i], 0, &seen[i]);
		good = pebs_complete(&seen[i], PERIOD) && seen[i].samples >= BRANCHES / PERIOD;
	}
	point(good && seen[0].samples == seen[1].samples,
	      "samples, of two events at once: none is missing");
	for (unsigned int i = 0; i < 2; i++)
		aux_close(&event[i]);
}

void test_records(void)
{
	for (unsigned int i = 0; i < sizeof(events) / sizeof(*events); i++)
		test_event(i);
	test_pair();
}
