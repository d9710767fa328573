// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace that goes round an area, beside events of PEBS on the same task: their
 * interrupts come with the trace's, at times in one, and none may be lost. The
 * trace's ends a record: were it not for it, the record would become longer.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../beside.h"
#include "pebs.h"

#define AREA		(128UL << 10)
#define LAPS		24
/* Bytes from interrupt to interrupt; one more page, where the last did not begin at one. */
#define WATERMARK	4096
#define LONGEST		(2 * WATERMARK)
#define DATA_PAGES	128
#define CYCLES		2000000
#define PATIENCE	30.0
#define ENOUGH		1000

static const struct {
	const char *name;
	enum batch batch;
	bool watchdog;
	__u64 period;
} companies[] = {
	{ "one interrupt each", SINGLE, false, 53 },
	{ "in batches", LARGE, false, 97 },
	{ "one interrupt each, and a watchdog", SINGLE, true, 53 },
	{ "in batches, and a watchdog", LARGE, true, 97 },
	{ "one interrupt each, at a high rate", SINGLE, true, 11 },
};

struct round {
	struct aux_event trace, pebs, counter, watchdog;
	struct pebs_samples seen;
	__u64 head, end, longest, flags;
	unsigned int records, holes;
};

/* It counts the same, but does not sample. */
static int open_counter(struct round *round, pid_t pid)
{
	struct perf_event_attr attr;

	pebs_attr(&attr, 0, SINGLE);
	attr.precise_ip = 0;
	attr.disabled = 0;
	round->counter.fd = aux_open_in_group(&attr, pid, -1, round->pebs.fd);
	return round->counter.fd < 0 ? -errno : 0;
}

/* By how much samples are of less, or more, than was counted; of less, where throttled. */
static unsigned long miscounted(const struct round *round)
{
	__u64 sampled = round->seen.count, counted;

	if (read(round->counter.fd, &counted, sizeof(counted)) != sizeof(counted))
		return -1UL;
	return sampled < counted ? counted - sampled : sampled - counted;
}

static int open_round(struct round *round, unsigned int i, pid_t pid)
{
	struct perf_event_attr attr;
	int ret;

	round->watchdog.fd = -1;
	round->pebs.fd = -1;
	round->counter.fd = -1;
	aux_attr(&attr);
	attr.aux_watermark = WATERMARK;
	ret = aux_open_mapped(&round->trace, &attr, pid, -1, DATA_PAGES) ?:
	      aux_map_area(&round->trace, AREA, PROT_READ | PROT_WRITE);
	pebs_attr(&attr, companies[i].period, companies[i].batch);
	ret = ret ?: aux_open_mapped(&round->pebs, &attr, pid, -1, DATA_PAGES) ?:
	      open_counter(round, pid);
	if (companies[i].watchdog)
		ret = ret ?: open_watchdog(&round->watchdog, CYCLES, 1);
	return ret ?: aux_enable(&round->pebs) ?: aux_enable(&round->trace);
}

/* Read what there is; where that was all of the area, the trace has to be @resumed. */
static bool read_round(struct round *round, bool resumed)
{
	__u64 head = aux_data_head(&round->trace);
	static struct aux_record record;
	bool full = false;

	while (aux_next_before(&round->trace, head, &record)) {
		if (record.header.type != PERF_RECORD_AUX)
			continue;
		round->records++;
		round->holes += record.aux.offset != round->end;
		round->end = record.aux.offset + record.aux.size;
		if (record.aux.size > round->longest)
			round->longest = record.aux.size;
		round->flags |= record.aux.flags;
		full = full || record.aux.flags & PERF_AUX_FLAG_TRUNCATED;
	}
	round->head = aux_head(&round->trace);
	aux_set_tail(&round->trace, round->head);
	if (full && resumed)
		aux_enable(&round->trace);
	pebs_read(&round->pebs, 0, &round->seen);
	return round->head >= LAPS * AREA && round->seen.samples >= ENOUGH;
}

static void test_company(unsigned int i, pid_t pid)
{
	double begin = aux_seconds();
	struct round round = { };
	int ret = open_round(&round, i, pid);
	bool round_it_went = false;

	while (!ret && !round_it_went && aux_seconds() - begin < PATIENCE) {
		usleep(200);
		round_it_went = read_round(&round, true);
	}
	if (ret) {
		diag("%s", strerror(-ret));
	} else {
		aux_disable(&round.pebs);
		aux_disable(&round.trace);
		read_round(&round, false);
	}
	diag("%llu bytes, %u records of at most %llu, flags %#llx", round.head, round.records,
	     round.longest, round.flags);
	point(round_it_went && !round.holes && round.end == round.head &&
	      round.longest <= LONGEST && !(round.flags & ~(__u64)PERF_AUX_FLAG_TRUNCATED),
	      "PEBS, %s: a trace goes round, with all its interrupts", companies[i].name);
	diag("off by %lu", miscounted(&round));
	point(pebs_complete(&round.seen, companies[i].period) &&
	      (round.seen.throttled || miscounted(&round) < companies[i].period) &&
	      (!companies[i].watchdog || drain_samples(&round.watchdog)),
	      "PEBS, %s: all samples are there beside a trace", companies[i].name);
	aux_close(&round.watchdog);
	aux_close(&round.counter);
	aux_close(&round.pebs);
	aux_close(&round.trace);
}

void test_traces(void)
{
	pid_t pid = aux_worker(0);

	/* The reader is elsewhere. */
	aux_pin(0, 1);
	for (unsigned int i = 0; i < sizeof(companies) / sizeof(*companies); i++)
		test_company(i, pid);
	aux_end_worker(pid);
}
