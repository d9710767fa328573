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
	test_any();
}
