// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the arithmetic of AUX areas: inputs and what they must give, in 64
 * bits as this kernel compiles them.
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/sizes.h>

#include "../arith.h"

/* Whatever the kernel's is: each function is told of it. */
#define SHIFT		12
#define PAGE		BIT_ULL(SHIFT)
#define GIB		BIT_ULL(30)
/* Counters of many laps, which no long of 32 bits holds. */
#define FAR		(20 * GIB)
/* FAR is 644251 * ODD + FAR_REST. */
#define ODD		33333
#define FAR_REST	17897

/*
 * A request is written as: where and how large the mapping is, what the user
 * page says of it, where the data end, and which area there is, in pages.
 */
static const struct {
	const char *name;
	u64 map[2];
	u64 user_page[2];
	u64 data_end;
	int want;
} geometries[] = {
	{ "right behind the data", { 9, 4 }, { 9, 4 }, 9, 0 },
	{ "a hole behind the data", { 64, 4 }, { 64, 4 }, 9, 0 },
	{ "one page, no data pages", { 1, 1 }, { 1, 1 }, 1, 0 },
	{ "4 GiB", { 9, GIB / PAGE * 4 }, { 9, GIB / PAGE * 4 }, 9, 0 },
	{ "1 TiB, far out", { GIB, GIB / 4 }, { GIB, GIB / 4 }, 9, 0 },

	{ "user page not filled in", { 9, 4 }, { 0, 0 }, 9, -EINVAL },
	{ "one page before the data's end", { 8, 4 }, { 8, 4 }, 9, -EINVAL },
	{ "the first data page", { 1, 4 }, { 1, 4 }, 9, -EINVAL },
	{ "mapped behind aux_offset", { 10, 4 }, { 9, 4 }, 9, -EINVAL },
	{ "mapped before aux_offset", { 9, 4 }, { 10, 4 }, 9, -EINVAL },
	{ "mapped larger than aux_size", { 9, 8 }, { 9, 4 }, 9, -EINVAL },
	{ "mapped smaller than aux_size", { 9, 4 }, { 9, 8 }, 9, -EINVAL },
	{ "aux_size is 0", { 9, 4 }, { 9, 0 }, 9, -EINVAL },
	{ "3 pages", { 9, 3 }, { 9, 3 }, 9, -EINVAL },
	{ "6 pages", { 9, 6 }, { 9, 6 }, 9, -EINVAL },
	{ "4 GiB and a page", { 9, 4 * GIB / PAGE + 1 }, { 9, 4 * GIB / PAGE + 1 }, 9,
	  -EINVAL },
	{ "no page at all", { 9, 0 }, { 9, 0 }, 9, -EINVAL },
};

static void requests(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(geometries); i++) {
		struct perf_aux_request request = {
			.map_offset	= geometries[i].map[0] << SHIFT,
			.map_size	= geometries[i].map[1] << SHIFT,
			.aux_offset	= geometries[i].user_page[0] << SHIFT,
			.aux_size	= geometries[i].user_page[1] << SHIFT,
			.data_end	= geometries[i].data_end << SHIFT,
		};

		KUNIT_EXPECT_EQ_MSG(test, perf_aux_check_request(&request, SHIFT),
				    geometries[i].want, "%s", geometries[i].name);
	}
}

/* User space may write any byte offset: only that of the mapping is right. */
static void each_bit_of_a_request(struct kunit *test)
{
	struct perf_aux_request good = {
		.map_offset = 9 * PAGE, .map_size = 4 * PAGE,
		.aux_offset = 9 * PAGE, .aux_size = 4 * PAGE,
		.data_end = 9 * PAGE,
	};
	struct perf_aux_request r = good;

	KUNIT_EXPECT_EQ(test, perf_aux_check_request(&r, SHIFT), 0);
	for (unsigned int bit = 0; bit < 64; bit++) {
		r.aux_offset = good.aux_offset ^ BIT_ULL(bit);
		KUNIT_EXPECT_EQ_MSG(test, perf_aux_check_request(&r, SHIFT), -EINVAL,
				    "bit %u of aux_offset", bit);
		r = good;
		r.aux_size ^= BIT_ULL(bit);
		KUNIT_EXPECT_EQ_MSG(test, perf_aux_check_request(&r, SHIFT), -EINVAL,
				    "bit %u of aux_size", bit);
		r = good;
	}
}

static const struct {
	const char *name;
	u32 requested;
	u64 size;
	u64 want;
} watermarks[] = {
	{ "default, one page", 0, PAGE, PAGE / 2 },
	{ "default, 1 MiB", 0, SZ_1M, SZ_1M / 2 },
	{ "default, 2 GiB", 0, 2 * GIB, GIB },
	{ "default, 4 GiB", 0, 4 * GIB, 2 * GIB },
	{ "default, 8 GiB: what the attribute could say", 0, 8 * GIB, U32_MAX },
	{ "default, 64 GiB: what the attribute could say", 0, 64 * GIB, U32_MAX },
	{ "1 byte", 1, SZ_1M, 1 },
	{ "odd", 12345, SZ_1M, 12345 },
	{ "odd, of a large area", ODD, FAR, ODD },
	{ "the area", SZ_1M, SZ_1M, SZ_1M },
	{ "more than the area", SZ_1M * 3, SZ_1M, SZ_1M * 3 },
	{ "the most", U32_MAX, PAGE, U32_MAX },
};

static void watermark(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(watermarks); i++)
		KUNIT_EXPECT_EQ_MSG(test, perf_aux_watermark(watermarks[i].requested,
							     watermarks[i].size),
				    watermarks[i].want, "%s", watermarks[i].name);
}

static const struct {
	const char *name;
	u64 head, tail, size;
	u64 want;
} rooms[] = {
	{ "empty", 0, 0, PAGE, PAGE - 1 },
	{ "empty, later", 77777, 77777, PAGE, PAGE - 1 },
	{ "empty, much later", FAR, FAR, PAGE, PAGE - 1 },
	{ "one byte", 1, 0, PAGE, PAGE - 2 },
	{ "some, much later", FAR + 100, FAR, PAGE, PAGE - 101 },
	{ "half", PAGE / 2, 0, PAGE, PAGE / 2 - 1 },
	{ "all but one byte: full", PAGE - 1, 0, PAGE, 0 },
	{ "all: full", PAGE, 0, PAGE, 0 },
	{ "one byte left", PAGE - 2, 0, PAGE, 1 },
	{ "tail is an area behind", 3 * PAGE, 2 * PAGE, PAGE, 0 },
	{ "tail is more than an area behind", 3 * PAGE, PAGE, PAGE, 0 },
	{ "tail is 4 GiB behind", FAR + 4 * GIB, FAR, PAGE, 0 },
	{ "tail is ahead by a byte", FAR, FAR + 1, PAGE, 0 },
	{ "tail is ahead by an area", PAGE, 2 * PAGE, PAGE, 0 },
	{ "tail is the largest number", PAGE, U64_MAX, PAGE, 0 },
	{ "across 4 GiB", 4 * GIB + 16, 4 * GIB - 16, PAGE, PAGE - 1 - 32 },
	{ "across the end of numbers", 16, -16ULL, PAGE, PAGE - 1 - 32 },
	{ "8 GiB, empty", 0, 0, 8 * GIB, 8 * GIB - 1 },
	{ "8 GiB, 5 GiB unread", 5 * GIB, 0, 8 * GIB, 3 * GIB - 1 },
};

static void room(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(rooms); i++)
		KUNIT_EXPECT_EQ_MSG(test, perf_aux_room(rooms[i].head, rooms[i].tail,
							rooms[i].size),
				    rooms[i].want, "%s", rooms[i].name);
}

static const struct {
	const char *name;
	u64 head, watermark;
	u64 want;
} wakeups[] = {
	{ "nothing was written", 0, 100, 100 },
	{ "just below", 99, 100, 100 },
	{ "just there", 100, 100, 200 },
	{ "above 4 GiB", FAR, ODD, FAR - FAR_REST + ODD },
	{ "a watermark above 4 GiB", FAR, 12 * GIB, 24 * GIB },
};

static void next_wakeup(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(wakeups); i++)
		KUNIT_EXPECT_EQ_MSG(test, perf_aux_next_wakeup(wakeups[i].head,
							       wakeups[i].watermark),
				    wakeups[i].want, "%s", wakeups[i].name);
}

static const struct {
	const char *name;
	u64 head, wakeup, watermark;
	bool want;
	u64 moved_to;
} crossings[] = {
	{ "nothing new", 0, 100, 100, false, 100 },
	{ "a byte short", 99, 100, 100, false, 100 },
	{ "exactly", 100, 100, 100, true, 200 },
	{ "a byte more", 101, 100, 100, true, 200 },
	{ "two short of a byte", 199, 100, 100, true, 200 },
	{ "two at once", 200, 100, 100, true, 300 },
	{ "seven at once, and more", 765, 100, 100, true, 800 },
	{ "the next one, not yet", 199, 200, 100, false, 200 },
	{ "the next one", 234, 200, 100, true, 300 },
	{ "each byte", 5, 5, 1, true, 6 },
	{ "across 4 GiB", 4 * GIB + 1, 4 * GIB, SZ_1M, true, 4 * GIB + SZ_1M },
	{ "4 GiB at once", 4 * GIB + 5, SZ_1M, SZ_1M, true, 4 * GIB + SZ_1M },
	{ "20 GiB at once, odd", FAR, ODD, ODD, true, FAR - FAR_REST + ODD },
	{ "odd, a byte short", FAR - FAR_REST + ODD - 1, FAR - FAR_REST + ODD, ODD, false,
	  FAR - FAR_REST + ODD },
	{ "the largest watermark, a byte short", U32_MAX - 1ULL, U32_MAX, U32_MAX, false,
	  U32_MAX },
	{ "the largest watermark", U32_MAX + 7ULL, U32_MAX, U32_MAX, true, 2ULL * U32_MAX },
	{ "overwrite mode", 3 * GIB, U64_MAX, SZ_1M, false, U64_MAX },
};

static void crossed(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(crossings); i++) {
		u64 wakeup = crossings[i].wakeup;

		KUNIT_EXPECT_EQ_MSG(test, perf_aux_crossed(crossings[i].head, &wakeup,
							   &crossings[i].watermark),
				    crossings[i].want, "%s", crossings[i].name);
		KUNIT_EXPECT_EQ_MSG(test, wakeup, crossings[i].moved_to, "%s",
				    crossings[i].name);
	}
}

static const struct {
	const char *name;
	bool contiguous, overwrite;
	unsigned long pages;
	unsigned int watermark_order, limit;
	unsigned int want;
} orders[] = {
	{ "single pages do", false, false, 1024, 9, 10, 0 },
	{ "single pages do, overwrite", false, true, 1024, 0, 10, 0 },
	{ "no longer than the watermark", true, false, 1024, 9, 10, 9 },
	{ "a watermark within a page", true, false, 1024, 0, 10, 0 },
	{ "overwrite: the whole area", true, true, 512, 0, 10, 9 },
	{ "overwrite: as much as there is", true, true, 4096, 0, 10, 10 },
	{ "not more than the area", true, false, 4, 20, 10, 2 },
	{ "not more than there is", true, false, 1 << 20, 19, 10, 10 },
	{ "one page", true, false, 1, 0, 10, 0 },
	{ "one page, overwrite", true, true, 1, 5, 10, 0 },
};

static void max_order(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(orders); i++)
		KUNIT_EXPECT_EQ_MSG(test, perf_aux_max_order(orders[i].contiguous,
							     orders[i].overwrite,
							     orders[i].pages,
							     orders[i].watermark_order,
							     orders[i].limit),
				    orders[i].want, "%s", orders[i].name);
}

static struct kunit_case arith_cases[] = {
	KUNIT_CASE(requests),
	KUNIT_CASE(each_bit_of_a_request),
	KUNIT_CASE(watermark),
	KUNIT_CASE(room),
	KUNIT_CASE(next_wakeup),
	KUNIT_CASE(crossed),
	KUNIT_CASE(max_order),
	{}
};

static struct kunit_suite arith_suite = {
	.name		= "perf_aux_arith",
	.test_cases	= arith_cases,
};

kunit_test_suite(arith_suite);
