// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace that goes round a small area many times while others interrupt, or
 * nobody does. Its own interrupts are all that moves aux_head on: the traced
 * task never sleeps.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../beside.h"
#include "company.h"

#define AREA		(64UL << 10)
#define LAPS		24
#define DATA_PAGES	8
#define CYCLES		20000000
#define PATIENCE	30.0
#define MOST_OTHERS	4

/* Others that count on the CPU of the trace. */
enum other { WATCHDOG, SAMPLER, PRECISE, BRANCHES };

static const struct {
	const char *name;
	unsigned int others;
	size_t area;
} companies[] = {
	{ "alone" },
	{ "alone, in two pages", .area = 8UL << 10 },
	{ "beside a watchdog", 1 << WATCHDOG },
	{ "beside samples", 1 << SAMPLER },
	{ "beside PEBS", 1 << PRECISE },
	{ "beside last branch records", 1 << BRANCHES },
	{ "beside a watchdog and samples", 1 << WATCHDOG | 1 << SAMPLER },
	{ "beside all of them", 1 << WATCHDOG | 1 << SAMPLER | 1 << BRANCHES },
};

static int open_other(enum other other, pid_t pid, struct aux_event *event)
{
	struct perf_event_attr attr;

	switch (other) {
	case WATCHDOG:
		return open_watchdog(event, CYCLES, DATA_PAGES);
	case SAMPLER:
		sampler_attr(&attr, PERF_COUNT_HW_INSTRUCTIONS, 50000);
		break;
	case PRECISE:
		sampler_attr(&attr, PERF_COUNT_HW_INSTRUCTIONS, 100000);
		attr.precise_ip = 1;
		break;
	default:
		lbr_attr(&attr, 20000);
		break;
	}
	return aux_open_mapped(event, &attr, pid, -1, DATA_PAGES);
}

struct round {
	struct aux_event trace, other[MOST_OTHERS];
	unsigned int nr, samples[MOST_OTHERS], enabled;
	struct aux_log log;
	__u64 head;
};

static int open_round(struct round *round, unsigned int others, size_t area, pid_t pid)
{
	int ret = aux_open_mapped(&round->trace, NULL, pid, -1, DATA_PAGES) ?:
		  aux_map_area(&round->trace, area, PROT_READ | PROT_WRITE);

	for (enum other other = WATCHDOG; other <= BRANCHES && !ret; other++)
		if (others & 1 << other)
			ret = open_other(other, pid, &round->other[round->nr++]);
	return ret ?: aux_enable(&round->trace);
}

/* Read what there is; where that was all of the area, the event has to be enabled again. */
static bool read_round(struct round *round)
{
	unsigned int dataless = round->log.dataless;
	__u64 flags = round->log.flags_seen;

	round->log.flags_seen = 0;
	aux_drain(&round->trace, &round->log);
	round->head = aux_head(&round->trace);
	aux_set_tail(&round->trace, round->head);
	if (round->log.flags_seen & PERF_AUX_FLAG_TRUNCATED || round->log.dataless > dataless) {
		round->enabled++;
		aux_enable(&round->trace);
	}
	round->log.flags_seen |= flags;
	for (unsigned int i = 0; i < round->nr; i++)
		round->samples[i] += drain_samples(&round->other[i]);
	return round->head >= LAPS * round->trace.area_len;
}

static bool all_sampled(const struct round *round)
{
	bool all = true;

	for (unsigned int i = 0; i < round->nr; i++)
		all = all && round->samples[i] >= 3;
	return all;
}

static void close_round(struct round *round)
{
	for (unsigned int i = 0; i < round->nr; i++)
		aux_close(&round->other[i]);
	aux_close(&round->trace);
}

static void test_company(const char *name, unsigned int others, size_t area, pid_t pid)
{
	double begin = aux_seconds();
	struct round round = { };
	int ret = open_round(&round, others, area, pid);

	while (!ret && !(read_round(&round) && all_sampled(&round)) &&
	       aux_seconds() - begin < PATIENCE)
		usleep(200);
	if (ret)
		diag("%s", strerror(-ret));
	for (unsigned int i = 0; i < round.nr; i++)
		diag("other %u: %u samples", i, round.samples[i]);
	diag("%llu bytes to %llu, %u records, %u times full, flags %#llx, %u holes, %u empty",
	     round.log.end, round.head, round.log.aux, round.enabled, round.log.flags_seen,
	     round.log.holes, round.log.empty);
	point(!ret && round.head >= LAPS * area && all_sampled(&round),
	      "%s: a trace goes round, and others interrupt", name);
	point(!round.log.holes && !round.log.empty && round.log.end <= round.head &&
	      !(round.log.flags_seen & ~PERF_AUX_FLAG_TRUNCATED),
	      "%s: records without a hole, none empty, none of anything wrong", name);
	close_round(&round);
}

void test_wraps(bool lbr, bool pebs)
{
	unsigned int missing = (lbr ? 0 : 1 << BRANCHES) | (pebs ? 0 : 1 << PRECISE);
	pid_t pid = aux_worker(0);

	/* The reader is elsewhere. */
	aux_pin(0, 1);
	for (unsigned int i = 0; i < sizeof(companies) / sizeof(*companies); i++)
		if (!(companies[i].others & missing))
			test_company(companies[i].name, companies[i].others,
				     companies[i].area ?: AREA, pid);
	aux_end_worker(pid);
}
