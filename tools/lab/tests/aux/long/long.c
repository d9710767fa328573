// SPDX-License-Identifier: GPL-2.0-only
/*
 * More than 4 GiB through one AUX area, by a PMU without hardware: aux_head is
 * exact, and the reader is woken at each transaction that passes a multiple of
 * the watermark, and at no other. Loads the module that its argument names;
 * prints TAP.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aux_bench.h"
#include "aux_util.h"
#include "points.h"

#define MiB		0x100000UL
#define GiB		0x40000000UL
/* So many that records alone never wake the reader. */
#define DATA_PAGES	128
#define AREA		(16 * MiB)
#define TOTAL		(4 * GiB + 512 * MiB)

struct setting {
	const char *name;
	/* a transaction writes so much */
	__u64 step;
	__u32 watermark;
	bool epoll;
};

static const struct setting SETTINGS[] = {
	{ "poll, some transactions for each multiple", MiB - 24, 3233301, false },
	{ "epoll, some transactions for each multiple", MiB - 24, 3233301, true },
	{ "poll, some multiples in each transaction", 2 * MiB + 8, 700001, false },
	{ "epoll, half of the area", MiB, 0, true },
};

struct reader {
	struct aux_event event;
	int epoll;
};

struct counts {
	__u64 written, transactions, wrong;
	/* looks at the reader after which it should be woken, and was */
	__u64 expected, woken;
	__u64 signals;
};

static unsigned int signals;

static void on_signal(int signal)
{
	(void)signal;
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

/* A real-time signal is queued: none is taken for another. */
static void ask_for_signals(int fd)
{
	struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = gettid() };

	signals = 0;
	signal(SIGRTMIN, on_signal);
	if (fcntl(fd, F_SETSIG, SIGRTMIN) || fcntl(fd, F_SETOWN_EX, &owner) ||
	    fcntl(fd, F_SETFL, O_ASYNC))
		err(1, "signals");
}

static void open_reader(struct reader *reader, const struct setting *s)
{
	struct epoll_event wanted = { .events = EPOLLIN };
	struct perf_event_attr attr;

	aux_attr(&attr);
	attr.config = s->step;
	attr.aux_watermark = s->watermark;
	attr.watermark = 1;
	attr.wakeup_watermark = INT_MAX;
	reader->event = (struct aux_event){ .fd = aux_open(&attr, 0, -1) };
	if (reader->event.fd < 0)
		err(1, "perf_event_open(%s)", aux_pmu_name());
	if (aux_map_data(&reader->event, DATA_PAGES) ||
	    aux_map_area(&reader->event, AREA, PROT_READ | PROT_WRITE))
		errx(1, "%s: no buffer", aux_pmu_name());
	reader->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (reader->epoll < 0 || epoll_ctl(reader->epoll, EPOLL_CTL_ADD, reader->event.fd, &wanted))
		err(1, "epoll");
	ask_for_signals(reader->event.fd);
}

static bool is_woken(const struct reader *reader, bool epoll)
{
	struct pollfd fd = { .fd = reader->event.fd, .events = POLLIN };
	struct epoll_event got;

	return epoll ? epoll_wait(reader->epoll, &got, 1, 0) == 1
		     : poll(&fd, 1, 0) == 1 && fd.revents & POLLIN;
}

/*
 * Run the event for a moment: one transaction, or more if the task was switched
 * out meanwhile. Each has a record and passes a multiple of the watermark or not;
 * all of them write the same, one behind the other.
 */
static void transact(struct reader *reader, const struct setting *s, struct counts *counts)
{
	struct aux_log log = {
		.end = counts->written,
		.watermark = s->watermark ? s->watermark : AREA / 2,
	};
	bool woken;

	if (aux_enable(&reader->event) || aux_disable(&reader->event))
		err(1, "%s", s->name);
	woken = is_woken(reader, s->epoll);
	aux_drain(&reader->event, &log);
	aux_set_tail(&reader->event, log.end);

	counts->transactions += log.aux;
	counts->written += log.aux * s->step;
	counts->expected += log.crossings > 0;
	counts->woken += woken;
	counts->signals += log.crossings;
	counts->wrong += !log.aux || log.holes || log.flags_seen || log.end != counts->written ||
			 woken != (log.crossings > 0) ||
			 aux_head(&reader->event) != counts->written;
}

static void run(const struct setting *s)
{
	struct counts counts = { };
	struct reader reader;

	open_reader(&reader, s);
	while (counts.written < TOTAL && !counts.wrong)
		transact(&reader, s, &counts);

	point(!counts.wrong, "%s: %llu of %llu transactions have a wrong record, head or wakeup",
	      s->name, counts.wrong, counts.transactions);
	point(counts.written >= TOTAL, "%s: %llu bytes are written", s->name, counts.written);
	point(counts.woken == counts.expected && counts.expected > TOTAL / AREA / 2,
	      "%s: %llu of %llu wakeups", s->name, counts.woken, counts.expected);
	point(signals == counts.signals, "%s: %u of %llu signals", s->name, signals,
	      counts.signals);
	close(reader.epoll);
	aux_close(&reader.event);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(1, "usage: long MODULE");
	aux_bench_load(argv[1]);
	aux_use("aux_bench");
	for (size_t i = 0; i < sizeof(SETTINGS) / sizeof(SETTINGS[0]); i++)
		run(&SETTINGS[i]);
	return end_points();
}
