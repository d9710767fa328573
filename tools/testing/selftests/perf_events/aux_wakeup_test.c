// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watermarks: the reader of an AUX area is woken once for each record that
 * passes a multiple of the watermark, by poll() and by signal.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "aux_harness.h"

#define DATA_PAGES	128
#define AREA		(256UL << 10)
#define LAPS		4
#define ROUNDS		500
#define MAX_STEPS	100000

static unsigned int signals;

FIXTURE(aux_wakeup)
{
	struct aux_event event;
	struct aux_log log;
};

FIXTURE_VARIANT(aux_wakeup)
{
	const char *pmu;
	/* perf_event_attr::aux_watermark; what it means */
	unsigned int requested, watermark;
	/* The PMU can interrupt there, so no multiple is passed in silence. */
	bool prompt;
};

FIXTURE_VARIANT_ADD(aux_wakeup, default_is_half_synth) { "aux_synth", 0, AREA / 2, true };
FIXTURE_VARIANT_ADD(aux_wakeup, default_is_half_pt) { "intel_pt", 0, AREA / 2, true };
FIXTURE_VARIANT_ADD(aux_wakeup, default_is_half_bts) { "intel_bts", 0, AREA / 2, true };
FIXTURE_VARIANT_ADD(aux_wakeup, quarter_synth) { "aux_synth", AREA / 4, AREA / 4, true };
FIXTURE_VARIANT_ADD(aux_wakeup, quarter_pt) { "intel_pt", AREA / 4, AREA / 4, true };
FIXTURE_VARIANT_ADD(aux_wakeup, quarter_bts) { "intel_bts", AREA / 4, AREA / 4, true };
FIXTURE_VARIANT_ADD(aux_wakeup, eighth_synth) { "aux_synth", AREA / 8, AREA / 8, true };
FIXTURE_VARIANT_ADD(aux_wakeup, eighth_pt) { "intel_pt", AREA / 8, AREA / 8, true };
FIXTURE_VARIANT_ADD(aux_wakeup, eighth_bts) { "intel_bts", AREA / 8, AREA / 8, true };
FIXTURE_VARIANT_ADD(aux_wakeup, two_pages_synth) { "aux_synth", 8192, 8192, true };
FIXTURE_VARIANT_ADD(aux_wakeup, two_pages_pt) { "intel_pt", 8192, 8192, true };
FIXTURE_VARIANT_ADD(aux_wakeup, two_pages_bts) { "intel_bts", 8192, 8192, true };
FIXTURE_VARIANT_ADD(aux_wakeup, odd_synth) { "aux_synth", 33333, 33333, false };
FIXTURE_VARIANT_ADD(aux_wakeup, odd_pt) { "intel_pt", 33333, 33333, false };
FIXTURE_VARIANT_ADD(aux_wakeup, odd_bts) { "intel_bts", 33333, 33333, false };
FIXTURE_VARIANT_ADD(aux_wakeup, more_than_the_area_synth) { "aux_synth", 700000, 700000, false };
FIXTURE_VARIANT_ADD(aux_wakeup, more_than_the_area_pt) { "intel_pt", 700000, 700000, false };
FIXTURE_VARIANT_ADD(aux_wakeup, more_than_the_area_bts) { "intel_bts", 700000, 700000, false };

FIXTURE_SETUP(aux_wakeup)
{
	struct perf_event_attr attr;

	aux_use(variant->pmu);
	self->event.fd = -1;
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	aux_attr(&attr);
	attr.aux_watermark = variant->requested;
	self->log.watermark = variant->watermark;
	ASSERT_EQ(aux_open_mapped(&self->event, &attr, 0, -1, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&self->event, AREA, PROT_READ | PROT_WRITE), 0);
}

FIXTURE_TEARDOWN(aux_wakeup)
{
	aux_close(&self->event);
}

static void on_signal(int signal)
{
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

/* A real-time signal is queued: none is taken for another. */
static int ask_for_signals(int fd)
{
	struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = gettid() };

	signals = 0;
	signal(SIGRTMIN, on_signal);
	return fcntl(fd, F_SETSIG, SIGRTMIN) || fcntl(fd, F_SETOWN_EX, &owner) ||
	       fcntl(fd, F_SETFL, O_ASYNC);
}

static unsigned int woken(struct aux_event *event)
{
	struct pollfd fd = { .fd = event->fd, .events = POLLIN };

	return poll(&fd, 1, 0) == 1 && fd.revents & POLLIN;
}

/* The area is full if the PMU cannot stop within it: go on, the reader has made room. */
static void start_again(struct aux_event *event)
{
	aux_disable(event);
	aux_enable(event);
}

/* Some laps around the area, the reader at its heels; how often poll() says so. */
static unsigned int trace_laps(struct aux_event *event, struct aux_log *log)
{
	unsigned int polls = 0;

	aux_enable(event);
	for (unsigned int i = 0; i < MAX_STEPS && aux_head(event) < LAPS * AREA; i++) {
		aux_work(ROUNDS);
		polls += woken(event);
		aux_drain(event, log);
		aux_set_tail(event, aux_head(event));
		if (log->flags_seen & PERF_AUX_FLAG_TRUNCATED)
			start_again(event);
		log->flags_seen = 0;
	}
	aux_disable(event);
	polls += woken(event);
	aux_drain(event, log);
	return polls;
}

TEST_F_TIMEOUT(aux_wakeup, count_is_exact, 120)
{
	struct aux_log *log = &self->log;
	unsigned int polls, whole;

	polls = trace_laps(&self->event, log);
	whole = aux_head(&self->event) / variant->watermark;
	TH_LOG("%u of %u multiples woke, %u without data: %u polls",
	       (unsigned int)log->crossings, whole, log->dataless, polls);

	ASSERT_GE(aux_head(&self->event), LAPS * AREA);
	EXPECT_EQ(log->holes, 0);
	EXPECT_EQ(log->end, aux_head(&self->event));
	/* A record without data wakes too, by itself or with the one before. */
	EXPECT_LE(polls, log->crossings + log->dataless);
	if (variant->prompt) {
		EXPECT_EQ(log->dataless, 0);
		/* Two wakeups that come together are one for poll(). */
		if (!aux_skips() && !aux_by_time())
			EXPECT_EQ(polls, log->crossings);
		EXPECT_GE(log->crossings + 1, whole);
	}
}

/* For each time that poll() would return, and for those that come together. */
TEST_F_TIMEOUT(aux_wakeup, each_sends_a_signal, 120)
{
	struct aux_log *log = &self->log;
	unsigned int polls;

	ASSERT_EQ(ask_for_signals(self->event.fd), 0);
	polls = trace_laps(&self->event, log);
	TH_LOG("%u wakeups, %u without data: %u polls, %u signals",
	       (unsigned int)log->crossings, log->dataless, polls, signals);
	EXPECT_GE(signals, log->crossings);
	EXPECT_LE(signals, log->crossings + log->dataless);
	EXPECT_LE(polls, signals);
}

/* A blocked poll() returns once a watermark is passed, and not before. */
TEST_F_TIMEOUT(aux_wakeup, blocked_poll_returns, 60)
{
	struct pollfd fd = { .fd = self->event.fd, .events = POLLIN };
	pid_t pid, ended = 0;
	int status = 0;

	ASSERT_EQ(aux_enable(&self->event), 0);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(poll(&fd, 1, 20000) == 1 && fd.revents & POLLIN ? 0 : 1);
	while (aux_head(&self->event) < AREA / 2 + AREA / 4) {
		ended = waitpid(pid, &status, WNOHANG);
		if (ended)
			break;
		aux_work(ROUNDS);
	}
	aux_disable(&self->event);
	aux_drain(&self->event, &self->log);
	/* A full area wakes its reader, too: a busy machine may get there before this looks. */
	if (aux_head(&self->event) < variant->watermark &&
	    !(self->log.flags_seen & PERF_AUX_FLAG_TRUNCATED)) {
		/* Whoever is woken, wrongly, needs a moment until it has ended. */
		usleep(100000);
		if (!ended)
			ended = waitpid(pid, NULL, WNOHANG);
		EXPECT_EQ(ended, 0);
		if (!ended) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
		return;
	}
	if (!ended)
		waitpid(pid, &status, 0);
	EXPECT_EQ(status, 0);
}

#include "aux_fixture.h"

/* What a child writes wakes whoever waits on its parent's event, here by epoll. */
TEST_F(aux, child_wakes_the_reader)
{
	struct epoll_event wanted = { .events = EPOLLIN }, got = { };
	struct aux_event event = { .fd = -1 };
	struct perf_event_attr attr;
	int epoll, own;
	pid_t pid;

	/* This process traces nothing where it is. */
	if (aux_cpu(1) < 0)
		SKIP(return, "one CPU only");
	ASSERT_EQ(aux_pin(0, aux_cpu(1)), 0);
	/* With one that is not inherited, the child has events of its own. */
	aux_sampler_attr(&attr, 0);
	own = aux_open(&attr, 0, -1);
	ASSERT_GE(own, 0);
	aux_attr(&attr);
	attr.inherit = 1;
	attr.disabled = 0;
	ASSERT_EQ(aux_open_mapped(&event, &attr, 0, aux_cpu(0), DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&event, 4 * aux_page_size(), PROT_READ | PROT_WRITE), 0);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	ASSERT_GE(epoll, 0);
	ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, event.fd, &wanted), 0);
	EXPECT_EQ(epoll_wait(epoll, &got, 1, 0), 0);

	pid = aux_worker(aux_cpu(0));
	ASSERT_GE(pid, 0);
	EXPECT_EQ(epoll_wait(epoll, &got, 1, 15000), 1);
	EXPECT_TRUE(got.events & EPOLLIN);
	EXPECT_GE(aux_head(&event), 2 * aux_page_size());
	aux_end_worker(pid);
	close(epoll);
	close(own);
	aux_close(&event);
}

TEST_HARNESS_MAIN
