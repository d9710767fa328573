// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of pause and resume: the last overflow that asks wins, also one that comes
 * while another is changing the trace.
 *
 * The event is on no CPU. Its PMU only notes whether it would trace.
 */
#include <kunit/test.h>
#include <linux/perf_event.h>

#include "../../internal.h"

/* More changes than NMIs could cause */
#define MANY	1000

/**
 * struct pause_test - a trace
 * @event: that others pause and resume
 * @pmu: its PMU
 * @running: it traces
 * @changes: how often it was stopped and started
 * @undone: how many changes are undone by an overflow in their middle
 */
struct pause_test {
	struct perf_event	event;
	struct pmu		pmu;
	bool			running;
	unsigned int		changes;
	unsigned int		undone;
};

static void trace_change(struct perf_event *event, bool run)
{
	struct pause_test *t = container_of(event, struct pause_test, event);

	t->running = run;
	t->changes++;
	if (!t->undone)
		return;
	t->undone--;
	perf_aux_pause(event, run);
}

static void trace_stop(struct perf_event *event, int flags)
{
	trace_change(event, false);
}

static void trace_start(struct perf_event *event, int flags)
{
	trace_change(event, true);
}

static int pause_init(struct kunit *test)
{
	struct pause_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	t->pmu.stop = trace_stop;
	t->pmu.start = trace_start;
	t->event.pmu = &t->pmu;
	/* That there is a buffer is all that counts. */
	t->event.rb = (void *)t;
	t->running = true;
	test->priv = t;
	return 0;
}

static void expect(struct kunit *test, bool running, unsigned int changes)
{
	struct pause_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, t->running, running);
	KUNIT_EXPECT_EQ(test, t->event.hw.aux_paused, !running);
	KUNIT_EXPECT_FALSE(test, t->event.hw.aux_in_pause);
	KUNIT_EXPECT_EQ(test, t->changes, changes);
}

static void each_state_is_entered_once(struct kunit *test)
{
	struct pause_test *t = test->priv;

	perf_aux_pause(NULL, true);
	perf_aux_pause(&t->event, false);
	expect(test, true, 0);
	perf_aux_pause(&t->event, true);
	perf_aux_pause(&t->event, true);
	expect(test, false, 1);
	perf_aux_pause(&t->event, false);
	expect(test, true, 2);
}

static void the_last_one_wins(struct kunit *test)
{
	struct pause_test *t = test->priv;

	t->undone = 1;
	perf_aux_pause(&t->event, true);
	expect(test, true, 2);
	t->undone = 2;
	perf_aux_pause(&t->event, true);
	expect(test, false, 5);
}

/* A tracepoint that each change triggers. */
static void undone_each_time_has_an_end(struct kunit *test)
{
	struct pause_test *t = test->priv;

	t->undone = MANY;
	perf_aux_pause(&t->event, true);
	KUNIT_EXPECT_GT(test, t->changes, 1);
	KUNIT_EXPECT_GT(test, t->undone, 0);
	KUNIT_EXPECT_FALSE(test, t->event.hw.aux_in_pause);

	/* What is asked for then, counts. */
	t->undone = 0;
	perf_aux_pause(&t->event, true);
	perf_aux_pause(&t->event, false);
	expect(test, true, t->changes);
}

static void nothing_without_a_buffer(struct kunit *test)
{
	struct pause_test *t = test->priv;

	t->event.rb = NULL;
	perf_aux_pause(&t->event, true);
	expect(test, true, 0);
}

static struct kunit_case pause_cases[] = {
	KUNIT_CASE(each_state_is_entered_once),
	KUNIT_CASE(the_last_one_wins),
	KUNIT_CASE(undone_each_time_has_an_end),
	KUNIT_CASE(nothing_without_a_buffer),
	{}
};

static struct kunit_suite pause_suite = {
	.name		= "perf_aux_pause",
	.init		= pause_init,
	.test_cases	= pause_cases,
};

kunit_test_suite(pause_suite);
