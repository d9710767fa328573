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
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aux_util.h"

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
	__u64 transactions, expected, woken, wrong, records;
};

static unsigned int points, failed;
static unsigned int signals;

static void on_signal(int signal)
{
	(void)signal;
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

static void point(bool good, const char *setting, const char *what, __u64 got, __u64 wanted)
{
	failed += !good;
	printf("%sok %u - %s: %s: %llu of %llu\n", good ? "" : "not ", ++points, setting, what,
	       got, wanted);
}

static void load(const char *module)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		err(1, "%s", module);
	close(fd);
	setenv("AUX_PMU", "aux_bench", 1);
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

/* One transaction; what the reader should find is computed from what it writes. */
static void transact(struct reader *reader, const struct setting *s, struct counts *counts)
{
	__u64 watermark = s->watermark ? s->watermark : AREA / 2;
	__u64 before = counts->transactions * s->step, after = before + s->step;
	bool expected = after / watermark != before / watermark, woken;
	struct aux_log log = { .end = before };

	if (aux_enable(&reader->event) || aux_disable(&reader->event))
		err(1, "%s", s->name);
	woken = is_woken(reader, s->epoll);
	aux_drain(&reader->event, &log);
	aux_set_tail(&reader->event, after);

	counts->transactions++;
	counts->expected += expected;
	counts->woken += woken;
	counts->records += log.aux == 1 && !log.holes && log.end == after && !log.flags;
	counts->wrong += woken != expected || aux_head(&reader->event) != after;
}

static void run(const struct setting *s)
{
	struct counts counts = { };
	struct reader reader;

	open_reader(&reader, s);
	while (counts.transactions * s->step < TOTAL)
		transact(&reader, s, &counts);

	point(!counts.wrong, s->name, "transactions with another head or wakeup than they should",
	      counts.wrong, counts.transactions);
	point(counts.woken == counts.expected && counts.expected > TOTAL / AREA / 2, s->name,
	      "wakeups", counts.woken, counts.expected);
	point(signals == counts.expected, s->name, "signals", signals, counts.expected);
	point(counts.records == counts.transactions, s->name, "records", counts.records,
	      counts.transactions);
	close(reader.epoll);
	aux_close(&reader.event);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(1, "usage: long MODULE");
	load(argv[1]);
	for (size_t i = 0; i < sizeof(SETTINGS) / sizeof(SETTINGS[0]); i++)
		run(&SETTINGS[i]);
	printf("1..%u\n", points);
	return failed ? 1 : 0;
}
