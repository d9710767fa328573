// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of how long the timer of a synthetic event rests, on machines of each
 * speed: a program sees only that the one it runs on gets on.
 */
#include <kunit/test.h>
#include <linux/ktime.h>
#include <linux/time64.h>

#include "synth.h"

#define PERIOD	(100 * NSEC_PER_USEC)

static struct synth event_from_0(void)
{
	struct synth synth = { .config.period = PERIOD };

	synth_count_ticks(&synth, 0);
	return synth;
}

/*
 * Ticks that come after each other, from a time on, each after a number of periods.
 *
 * Return: the rest after the last one; there is none before
 */
static u64 rest_after(struct kunit *test, struct synth *synth, u64 from, unsigned int ticks,
		      u64 periods)
{
	u64 rest = 0;

	for (unsigned int i = 1; i <= ticks; i++) {
		KUNIT_EXPECT_EQ(test, rest, 0);
		rest = synth_rest(synth, from + i * periods * PERIOD, periods);
	}
	return rest;
}

static void no_rest_if_each_tick_is_in_time(struct kunit *test)
{
	struct synth synth = event_from_0();

	KUNIT_EXPECT_EQ(test, rest_after(test, &synth, 0, 1000, 1), 0);
}

static void no_rest_before_three_ticks(struct kunit *test)
{
	struct synth synth = event_from_0();

	KUNIT_EXPECT_EQ(test, rest_after(test, &synth, 0, 2, 1000), 0);
}

static void no_rest_before_a_millisecond(struct kunit *test)
{
	struct synth synth = event_from_0();

	KUNIT_EXPECT_EQ(test, rest_after(test, &synth, 0, 4, 2), 0);
}

static void rests_16_periods_for_a_tick_that_was_missed(struct kunit *test)
{
	struct synth synth = event_from_0();

	synth.config.period = PERIOD / 10;
	for (unsigned int i = 1; i < 98; i++)
		KUNIT_EXPECT_EQ(test, synth_rest(&synth, i * PERIOD / 10, 1), 0);
	KUNIT_EXPECT_EQ(test, synth_rest(&synth, 99 * PERIOD / 10, 2), 0);
	KUNIT_EXPECT_EQ(test, synth_rest(&synth, 100 * PERIOD / 10, 1), 16 * PERIOD / 10);
}

static void rests_as_long_as_was_counted(struct kunit *test)
{
	struct synth synth = event_from_0();

	KUNIT_EXPECT_EQ(test, rest_after(test, &synth, 0, 3, 10), 30 * PERIOD);
}

static void rests_no_longer_than_the_limit(struct kunit *test)
{
	struct synth synth = event_from_0();

	KUNIT_EXPECT_EQ(test, rest_after(test, &synth, 0, 3, 100000), 100 * NSEC_PER_MSEC);
}

static void counts_anew_from_the_end_of_a_rest(struct kunit *test)
{
	struct synth synth = event_from_0();
	u64 rest = rest_after(test, &synth, 0, 3, 10);

	KUNIT_EXPECT_EQ(test, rest_after(test, &synth, 30 * PERIOD + rest, 3, 10), 30 * PERIOD);
}

static struct kunit_case rest_cases[] = {
	KUNIT_CASE(no_rest_if_each_tick_is_in_time),
	KUNIT_CASE(no_rest_before_three_ticks),
	KUNIT_CASE(no_rest_before_a_millisecond),
	KUNIT_CASE(rests_16_periods_for_a_tick_that_was_missed),
	KUNIT_CASE(rests_as_long_as_was_counted),
	KUNIT_CASE(rests_no_longer_than_the_limit),
	KUNIT_CASE(counts_anew_from_the_end_of_a_rest),
	{}
};

static struct kunit_suite rest_suite = {
	.name		= "perf_aux_synth_rest",
	.test_cases	= rest_cases,
};

kunit_test_suite(rest_suite);

MODULE_DESCRIPTION("KUnit tests of synthetic AUX PMUs");
MODULE_LICENSE("GPL");
