// SPDX-License-Identifier: GPL-2.0-only
/* KUnit tests of windows: tables, then all that must hold for any head, room and watermark. */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/prandom.h>

#include "../window.h"

#define R	24ULL
#define PAGE	4096ULL
/* Number of records in a page */
#define FULL	170
#define MARGIN	(170 * R)
#define HANDLER	(32 * R)

/*
 * What is skipped, and the window as offsets in the area, for a head and a wakeup, which are
 * positions, and a room in bytes. There is none if all three offsets are 0.
 */
static const struct window_case {
	const char *name;
	u64 size, head, room, wakeup, gap, start, threshold, end;
} cases[] = {
	{ "an empty page", PAGE, 0, PAGE - 1, 2048, 0, 0, FULL / 2 * R, FULL * R },
	{ "a small watermark", PAGE, 0, PAGE - 1, 100, 0, 0, 32 * R, FULL * R },
	{ "one of some records", PAGE, 0, PAGE - 1, 1000, 0, 0, 42 * R, FULL * R },
	{ "one of whole records", PAGE, 0, PAGE - 1, 42 * R, 0, 0, 42 * R, FULL * R },
	{ "one more byte", PAGE, 0, PAGE - 1, 42 * R + 1, 0, 0, 43 * R, FULL * R },
	{ "one that has passed", PAGE, 10 * R, 2000, 100, 0, 10 * R, 42 * R, 93 * R },
	{ "little room", PAGE, 10 * R, 64 * R, 0, 0, 10 * R, 42 * R, 74 * R },
	{ "less room", PAGE, 10 * R, 64 * R - 1, 0, 0, 0, 0, 0 },
	{ "no room", PAGE, 10 * R, 0, 0, 0, 0, 0, 0 },
	{ "the end of the records", PAGE, FULL * R, 2000, 0, 16, 0, 0, 0 },
	{ "the end, and no room behind it", PAGE, FULL * R, 10, 0, 16, 0, 0, 0 },
	{ "the end of the records of two pages", 2 * PAGE, 341 * R, 5000, 0, 8, 0, 0, 0 },
	{ "the middle of a record", PAGE, 10 * R + 1, 2000, 0, R - 1, 0, 0, 0 },
	{ "the end of the area", PAGE, FULL * R + 1, 2000, 0, 15, 0, 0, 0 },
	{ "little left, more behind it", PAGE, 100 * R, 3500, 0, PAGE - 100 * R, 100 * R,
	  132 * R, FULL * R },
	{ "little left, less behind it", PAGE, 100 * R, 3000, 0, 0, 100 * R, 132 * R,
	  FULL * R },
	{ "little left, the next lap is not free", PAGE, 100 * R, 1600, 0, 0, 100 * R, 132 * R,
	  166 * R },
	{ "the last threshold of a lap", 1 << 16, 2560 * R, (1 << 16) - 1, 0, (1 << 16) - 2560 * R,
	  2560 * R, 2592 * R, 2730 * R },
	{ "a branch before", 1 << 16, 2559 * R, (1 << 16) - 1, 0, 0, 2559 * R, 2591 * R, 2730 * R },
	{ "a large area", 1 << 20, 0, (1 << 20) - 1, 1 << 19, 0, 0, 21846 * R, 43690 * R },
	{ "so large a watermark", 1 << 20, 0, (1 << 20) - 1, 1 << 20, 0, 0, 43520 * R,
	  43690 * R },
	{ "the third lap", PAGE, 2 * PAGE + R, 2000, 0, 0, R, 33 * R, 84 * R },
	{ "4 GiB", 1ULL << 32, (1ULL << 33) + R, 1ULL << 31, (1ULL << 33) + (1ULL << 30), 0, R,
	  44739243 * R, 89478486 * R },
};

static void check_case(struct kunit *test, const struct window_case *c)
{
	struct bts_window window = { };

	KUNIT_EXPECT_EQ_MSG(test, bts_gap(c->size, c->head, c->room), c->gap, "%s", c->name);
	KUNIT_EXPECT_EQ_MSG(test, bts_place_window(c->size, c->head, c->room, c->wakeup, &window),
			    !!c->end, "%s", c->name);
	KUNIT_EXPECT_EQ_MSG(test, window.start, c->start, "%s", c->name);
	KUNIT_EXPECT_EQ_MSG(test, window.threshold, c->threshold, "%s", c->name);
	KUNIT_EXPECT_EQ_MSG(test, window.end, c->end, "%s", c->name);
}

static void known_windows(struct kunit *test)
{
	/* No area of a long of 32 bits has more than that. */
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		if (cases[i].size <= ULONG_MAX)
			check_case(test, &cases[i]);
}

/* What holds for each window, wherever it is. */
static void check_window(struct kunit *test, unsigned long size, unsigned long head,
			 unsigned long room, const struct bts_window *window)
{
	unsigned long all = window->end - window->start;
	unsigned long behind = window->end - window->threshold;

	KUNIT_ASSERT_EQ(test, window->start, head & (size - 1));
	KUNIT_ASSERT_GE(test, window->threshold, window->start + HANDLER);
	KUNIT_ASSERT_GE(test, window->end, window->threshold + HANDLER);
	KUNIT_ASSERT_LE(test, window->end, bts_records_end(size));
	KUNIT_ASSERT_LE(test, all, room);
	KUNIT_ASSERT_EQ(test, window->start % (u32)R, 0);
	KUNIT_ASSERT_EQ(test, window->threshold % (u32)R, 0);
	KUNIT_ASSERT_EQ(test, window->end % (u32)R, 0);
	/* Not less than it could be. */
	KUNIT_ASSERT_TRUE(test, window->end + R > size || all + R > room);
	KUNIT_ASSERT_TRUE(test, behind >= MARGIN || all <= 2 * MARGIN);
	KUNIT_ASSERT_TRUE(test, behind >= all / 2 || all > 2 * MARGIN);
}

static void check_any(struct kunit *test, unsigned long size, unsigned long head,
		      unsigned long room, unsigned long wakeup)
{
	unsigned long start = head & (size - 1), gap = bts_gap(size, head, room);
	unsigned long within = start % (u32)R;
	unsigned long to_next = within ? R - within : 0;
	bool little = room < 64 * R || bts_records_end(size) < start + 64 * R;
	struct bts_window window;

	KUNIT_ASSERT_TRUE(test, !gap || gap == size - start || gap == to_next);
	KUNIT_ASSERT_TRUE(test, gap || start < bts_records_end(size));
	/* Nothing is skipped for less than what is there. */
	if (gap && start < bts_records_end(size) && !within) {
		KUNIT_ASSERT_GE(test, room, gap);
		KUNIT_ASSERT_LE(test, bts_space(size, start, room), MARGIN);
		KUNIT_ASSERT_GT(test, bts_space(size, 0, room - gap),
				bts_space(size, start, room));
	}
	if (bts_place_window(size, head, room, wakeup, &window))
		check_window(test, size, head, room, &window);
	else
		KUNIT_ASSERT_TRUE(test, little || within);
}

static unsigned long below(struct rnd_state *chance, unsigned long limit)
{
	return prandom_u32_state(chance) % limit;
}

/* Both ends are more likely than what is between them. */
static unsigned long up_to(struct rnd_state *chance, unsigned long limit)
{
	switch (below(chance, 8)) {
	case 0:
		return 0;
	case 1:
		return limit;
	default:
		return below(chance, limit + 1);
	}
}

static void any_window(struct kunit *test)
{
	struct rnd_state chance;

	prandom_seed_state(&chance, 1);
	for (unsigned int i = 0; i < 200000; i++) {
		unsigned long size = PAGE << below(&chance, 10);
		unsigned long start = below(&chance, 4) ?
				      up_to(&chance, bts_records_end(size) / (u32)R) * R :
				      below(&chance, size);
		unsigned long head = below(&chance, 1000) * size + start;

		check_any(test, size, head, up_to(&chance, size - 1),
			  head + up_to(&chance, 2 * size) - size / 2);
	}
}

static struct kunit_case window_cases[] = {
	KUNIT_CASE(known_windows),
	KUNIT_CASE(any_window),
	{}
};

static struct kunit_suite window_suite = {
	.name		= "perf_bts_window",
	.test_cases	= window_cases,
};

kunit_test_suite(window_suite);

MODULE_DESCRIPTION("KUnit tests of Intel's Branch Trace Store");
MODULE_LICENSE("GPL");
