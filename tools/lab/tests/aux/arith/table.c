// SPDX-License-Identifier: GPL-2.0-only
/* The AUX area's arithmetic by tables: inputs and what they must give. */
#include "arith.h"

#include "check.h"

#define PAGE_SHIFT	12
#define PAGE		(1UL << PAGE_SHIFT)
#define MIB		(1UL << 20)
#define GIB		(1UL << 30)

/*
 * A request is written as: where and how large the mapping is, what the user
 * page says of it, where the data end, and which area there is, in pages.
 */
struct geometry {
	const char *name;
	u64 map[2];
	u64 user_page[2];
	u64 data_end;
	int want;
};

static const struct geometry geometries[] = {
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

static void test_geometry(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(geometries); i++) {
		const struct geometry *g = &geometries[i];
		struct perf_aux_request request = {
			.map_offset	= g->map[0] << PAGE_SHIFT,
			.map_size	= g->map[1] << PAGE_SHIFT,
			.aux_offset	= g->user_page[0] << PAGE_SHIFT,
			.aux_size	= g->user_page[1] << PAGE_SHIFT,
			.data_end	= g->data_end << PAGE_SHIFT,
		};
		int got = perf_aux_check_request(&request, PAGE_SHIFT);

		point(got == g->want, "geometry: %s: %d", g->name, got);
	}
}

/* User space may write any byte offset: only that of the mapping is right. */
static void test_geometry_bytes(void)
{
	struct perf_aux_request good = {
		.map_offset = 9 * PAGE, .map_size = 4 * PAGE,
		.aux_offset = 9 * PAGE, .aux_size = 4 * PAGE,
		.data_end = 9 * PAGE,
	};
	struct perf_aux_request r = good;
	bool refused = true;

	for (unsigned int bit = 0; bit < 64; bit++) {
		r.aux_offset = good.aux_offset ^ 1UL << bit;
		refused = refused && perf_aux_check_request(&r, PAGE_SHIFT) == -EINVAL;
		r = good;
		r.aux_size ^= 1UL << bit;
		refused = refused && perf_aux_check_request(&r, PAGE_SHIFT) == -EINVAL;
		r = good;
	}
	point(refused && !perf_aux_check_request(&r, PAGE_SHIFT),
	      "geometry: any bit of aux_offset and of aux_size counts");
}

static const struct {
	const char *name;
	u32 requested;
	u64 size;
	u64 want;
} watermarks[] = {
	{ "default, one page", 0, PAGE, PAGE / 2 },
	{ "default, 1 MiB", 0, MIB, MIB / 2 },
	{ "default, 2 GiB", 0, 2 * GIB, GIB },
	{ "default, 4 GiB", 0, 4 * GIB, 2 * GIB },
	{ "default, 8 GiB: what the attribute could say", 0, 8 * GIB, U32_MAX },
	{ "default, 64 GiB: what the attribute could say", 0, 64 * GIB, U32_MAX },
	{ "1 byte", 1, MIB, 1 },
	{ "odd", 12345, MIB, 12345 },
	{ "the area", MIB, MIB, MIB },
	{ "more than the area", MIB * 3, MIB, MIB * 3 },
	{ "the most", U32_MAX, PAGE, U32_MAX },
};

static void test_watermark(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(watermarks); i++) {
		u64 got = perf_aux_watermark(watermarks[i].requested, watermarks[i].size);

		point(got == watermarks[i].want, "watermark: %s: %lu", watermarks[i].name, got);
	}
}

static const struct {
	const char *name;
	u64 head, tail, size;
	u64 want;
} rooms[] = {
	{ "empty", 0, 0, PAGE, PAGE - 1 },
	{ "empty, later", 77777, 77777, PAGE, PAGE - 1 },
	{ "one byte", 1, 0, PAGE, PAGE - 2 },
	{ "half", PAGE / 2, 0, PAGE, PAGE / 2 - 1 },
	{ "all but one byte: full", PAGE - 1, 0, PAGE, 0 },
	{ "all: full", PAGE, 0, PAGE, 0 },
	{ "one byte left", PAGE - 2, 0, PAGE, 1 },
	{ "tail is an area behind", 3 * PAGE, 2 * PAGE, PAGE, 0 },
	{ "tail is more than an area behind", 3 * PAGE, PAGE, PAGE, 0 },
	{ "tail is ahead by a byte", PAGE, PAGE + 1, PAGE, 0 },
	{ "tail is ahead by an area", PAGE, 2 * PAGE, PAGE, 0 },
	{ "tail is the largest number", PAGE, ~0UL, PAGE, 0 },
	{ "across 4 GiB", 4 * GIB + 16, 4 * GIB - 16, PAGE, PAGE - 1 - 32 },
	{ "across the end of numbers", 16, -16UL, PAGE, PAGE - 1 - 32 },
	{ "8 GiB, empty", 0, 0, 8 * GIB, 8 * GIB - 1 },
	{ "8 GiB, 5 GiB unread", 5 * GIB, 0, 8 * GIB, 3 * GIB - 1 },
};

static void test_room(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rooms); i++) {
		u64 got = perf_aux_room(rooms[i].head, rooms[i].tail, rooms[i].size);

		point(got == rooms[i].want, "room: %s: %lu", rooms[i].name, got);
	}
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
	{ "across 4 GiB", 4 * GIB + 1, 4 * GIB, MIB, true, 4 * GIB + MIB },
	{ "4 GiB at once", 4 * GIB + 5, MIB, MIB, true, 4 * GIB + MIB },
	{ "the largest watermark, a byte short", U32_MAX - 1UL, U32_MAX, U32_MAX, false, U32_MAX },
	{ "the largest watermark", U32_MAX + 7UL, U32_MAX, U32_MAX, true, 2UL * U32_MAX },
	{ "overwrite mode", 3 * GIB, U64_MAX, MIB, false, U64_MAX },
};

static const struct {
	const char *name;
	u64 head, watermark;
	u64 want;
} wakeups[] = {
	{ "nothing was written", 0, 100, 100 },
	{ "just below", 99, 100, 100 },
	{ "just there", 100, 100, 200 },
	{ "above 4 GiB", 4 * GIB + 5, 7, (4 * GIB + 5) / 7 * 7 + 7 },
};

static void test_next_wakeup(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(wakeups); i++) {
		u64 got = perf_aux_next_wakeup(wakeups[i].head, wakeups[i].watermark);

		point(got == wakeups[i].want, "next wakeup: %s: %lu", wakeups[i].name, got);
	}
}

static void test_crossed(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(crossings); i++) {
		u64 wakeup = crossings[i].wakeup;
		bool got = perf_aux_crossed(crossings[i].head, &wakeup, &crossings[i].watermark);

		point(got == crossings[i].want && wakeup == crossings[i].moved_to,
		      "crossed: %s: %d, wakeup %lu", crossings[i].name, got, wakeup);
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

static void test_max_order(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		unsigned int got = perf_aux_max_order(orders[i].contiguous, orders[i].overwrite,
						      orders[i].pages, orders[i].watermark_order,
						      orders[i].limit);

		point(got == orders[i].want, "order: %s: %u", orders[i].name, got);
	}
}

void test_tables(void)
{
	test_geometry();
	test_geometry_bytes();
	test_watermark();
	test_room();
	test_next_wakeup();
	test_crossed();
	test_max_order();
}
