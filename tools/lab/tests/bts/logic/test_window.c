// SPDX-License-Identifier: GPL-2.0-only
/* Windows: tables, then all that must hold for any head, room and watermark. */
#include "check.h"
#include "window.h"

#define R	BTS_RECORD_SIZE
#define PAGE	4096UL
/* A page has room for so many. */
#define FULL	170

/**
 * struct window_case - what is computed of what
 * @size: of the area
 * @head: position
 * @room: bytes
 * @wakeup: position
 * @gap: that is skipped
 * @start: of the window, offsets; 0 in all of them: none
 * @threshold: in it
 * @end: of it
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
	{ "4 GiB", 1UL << 32, (1UL << 33) + R, 1UL << 31, (1UL << 33) + (1UL << 30), 0, R,
	  44739243 * R, 89478486 * R },
};

static void test_case(const struct window_case *c)
{
	struct bts_window window = { };

	EXPECT(bts_gap(c->size, c->head, c->room) == c->gap);
	EXPECT(bts_place_window(c->size, c->head, c->room, c->wakeup, &window) == !!c->end);
	EXPECT(window.start == c->start);
	EXPECT(window.threshold == c->threshold);
	EXPECT(window.end == c->end);
	if (is_blamed())
		diag("gap %lu, window %lu, %lu, %lu", bts_gap(c->size, c->head, c->room),
		     window.start, window.threshold, window.end);
	verdict("window: %s", c->name);
}

/* After an interrupt that came before the wakeup */
static const struct wakeup_case {
	const char *name;
	u64 size, head, room, wakeup, gap;
} wakeups[] = {
	{ "the middle of 64 KiB", 1 << 16, 1195 * R, 40000, 32768, 171 * R },
	{ "as far as a window's end may be", 1 << 16, 1195 * R, 40000, 1366 * R, 171 * R },
	{ "a byte further", 1 << 16, 1195 * R, 40000, 1366 * R + 1, 0 },
	{ "a record before it", 1 << 16, 1365 * R, 40000, 32768, R },
	{ "passed", 1 << 16, 1366 * R, 40000, 32768, 0 },
	{ "passed long ago", 1 << 16, 1366 * R, 40000, 100, 0 },
	{ "the second lap", 1 << 16, (1 << 16) + 1195 * R, 40000, (1 << 16) + 32768, 171 * R },
	{ "the least room", 1 << 16, 1195 * R, 342 * R, 1366 * R, 171 * R },
	{ "too little room", 1 << 16, 1195 * R, 342 * R - 1, 1366 * R, 0 },
	{ "no room", 1 << 16, 1195 * R, 170 * R, 1366 * R, 0 },
	{ "little left behind it", 1 << 16, 2400 * R, 40000, 2560 * R, 0 },
	{ "some more left behind it", 1 << 16, 2400 * R, 40000, 2559 * R, 159 * R },
	{ "the end of the area", 1 << 16, 2570 * R, 60000, 1 << 16, 0 },
	{ "two pages", 2 * PAGE, 85 * R, 6000, PAGE, 0 },
	{ "four pages", 4 * PAGE, 171 * R, 3 * PAGE, 2 * PAGE, 171 * R },
};

static void test_wakeup(const struct wakeup_case *c)
{
	EXPECT(bts_gap_to_wakeup(c->size, c->head, c->room, c->wakeup) == c->gap);
	verdict("wakeup: %s", c->name);
}

static void check_wakeup(u64 size, u64 head, u64 room, u64 wakeup)
{
	u64 gap = bts_gap_to_wakeup(size, head, room, wakeup), start = head & (size - 1);

	if (!gap)
		return;
	/* No record more than that, within this lap, and worth it. */
	EXPECT(!(gap % R) && head + gap >= wakeup && head + gap < wakeup + R);
	EXPECT(gap <= BTS_MARGIN + R && start + gap <= bts_records_end(size));
	EXPECT(gap <= room && bts_space(size, start + gap, room - gap) >= BTS_MARGIN);
}

/* What holds for each window, wherever it is. */
static void check_window(u64 size, u64 head, u64 room, const struct bts_window *window)
{
	EXPECT(window->start == (head & (size - 1)));
	EXPECT(window->threshold >= window->start + BTS_HANDLER);
	EXPECT(window->end >= window->threshold + BTS_HANDLER);
	EXPECT(window->end <= bts_records_end(size) && window->end - window->start <= room);
	EXPECT(!(window->start % R) && !(window->threshold % R) && !(window->end % R));
	/* Not less than it could be. */
	EXPECT(window->end + R > size || window->end - window->start + R > room);
	EXPECT(window->end - window->threshold >= BTS_MARGIN ||
	       window->end - window->start <= 2 * BTS_MARGIN);
	EXPECT(window->end - window->threshold >= (window->end - window->start) / 2 ||
	       window->end - window->start > 2 * BTS_MARGIN);
}

static void test_any(void)
{
	for (unsigned int i = 0; i < 200000 && !is_blamed(); i++) {
		u64 size = PAGE << random_below(10);
		u64 start = random_below(4) ? random_up_to(size / R) * R : random_below(size);
		u64 head = random_below(1000) * size + start, room = random_up_to(size - 1);
		u64 wakeup = head + random_up_to(2 * size) - size / 2;
		u64 gap = bts_gap(size, head, room);
		struct bts_window window;

		EXPECT(!gap || gap == size - start || (start % R && gap == R - start % R));
		EXPECT(gap || start < bts_records_end(size));
		/* Nothing is skipped for less than what is there. */
		if (gap && start < bts_records_end(size) && !(start % R))
			EXPECT(room >= gap && bts_space(size, start, room) <= BTS_MARGIN &&
			       bts_space(size, 0, room - gap) > bts_space(size, start, room));
		if (start < bts_records_end(size) && !(start % R)) {
			check_wakeup(size, head, room, wakeup);
			check_wakeup(size, head, room, head + random_up_to(2 * BTS_MARGIN));
		}
		if (bts_place_window(size, head, room, wakeup, &window))
			check_window(size, head, room, &window);
		else
			EXPECT(room < 64 * R || bts_records_end(size) < start + 64 * R || start % R);
	}
	verdict("window: what holds for any");
}

void test_window(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		test_case(&cases[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(wakeups); i++)
		test_wakeup(&wakeups[i]);
	test_any();
}
