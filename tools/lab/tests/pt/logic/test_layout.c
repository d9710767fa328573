// SPDX-License-Identifier: GPL-2.0-only
/*
 * Positions in areas of regions, and where hardware stops and interrupts.
 *
 * The rules are those of layout.h, written down once more as a walk: region
 * after region from the head on, hardware comes to ends, of which some are good
 * to stop at. All compositions of small areas of powers of two, and all heads,
 * tails and wakeups that are near the end of a page, are tried.
 */
#include <string.h>

#include "arith.h"
#include "check.h"
#include "layout.h"

#define PAGE	4096UL
/* Positions near the end of a page */
#define NEAR	3
#define MOST	8

/* The ends of regions that hardware comes to in one lap, and their regions */
struct walk {
	u64 end[MOST + 1];
	unsigned int region[MOST + 1];
	unsigned int nr;
};

static u64 size_of(const struct pt_layout *layout)
{
	return layout->first[layout->nr] * PAGE;
}

static unsigned int slow_region_at(const struct pt_layout *layout, u64 position)
{
	unsigned int region = 0;

	while (layout->first[region + 1] * PAGE <= position % size_of(layout))
		region++;
	return region;
}

static void walk_from(struct walk *walk, const struct pt_layout *layout, u64 head)
{
	unsigned int region = slow_region_at(layout, head);
	u64 end = head - head % size_of(layout) + layout->first[region + 1] * PAGE;

	walk->nr = 0;
	for (; end <= head + size_of(layout); walk->nr++) {
		walk->end[walk->nr] = end;
		walk->region[walk->nr] = region;
		region = (region + 1) % layout->nr;
		end += (layout->first[region + 1] - layout->first[region]) * PAGE;
	}
}

/* The last end that is not behind the tail of the lap before; or -1 */
static int best_stop(const struct walk *walk, u64 most)
{
	int stop = -1;

	for (unsigned int i = 0; i < walk->nr; i++)
		if (walk->end[i] <= most)
			stop = i;
	return stop;
}

static int best_intr(const struct walk *walk, int stop, u64 wakeup)
{
	for (int i = 0; i < stop; i++)
		if (walk->end[i] >= wakeup)
			return i;
	/* Before it has to stop, if it can */
	return stop ? stop - 1 : stop;
}

/* The @n-th position from @first on that is near the end of a page. */
static u64 near(u64 first, unsigned int n)
{
	return first + n / NEAR * PAGE + n % NEAR - 1;
}

static unsigned long kept;

/* As long as marks hold for later heads, they are the same as if they were placed again. */
static void check_hold(const struct pt_layout *layout, u64 first, u64 tail, u64 wakeup,
		       const struct pt_marks *marks)
{
	u64 size = size_of(layout), head = first;
	struct pt_marks again;

	for (unsigned int n = 0; head < marks->stop_at && !is_blamed(); n++) {
		u64 room = perf_aux_room(head, tail, size);

		if (!pt_marks_hold(marks, head, room, wakeup)) {
			EXPECT(head != first);
			break;
		}
		kept += head != first;
		EXPECT(pt_place_marks(layout, head, room, wakeup, &again));
		EXPECT(again.stop == marks->stop && again.intr == marks->intr &&
		       again.stop_at == marks->stop_at);
		EXPECT(!pt_marks_hold(marks, head, room, wakeup + 1));
		EXPECT(!pt_marks_hold(marks, head, room - 1, wakeup));
		head = max(near(first - first % PAGE, n), first);
	}
}

static void check_marks(const struct pt_layout *layout, const struct walk *walk, u64 head,
			u64 tail, u64 wakeup)
{
	u64 room = perf_aux_room(head, tail, size_of(layout));
	struct pt_marks marks = { };
	int stop, intr;
	bool good;

	if (!room)
		return;
	stop = best_stop(walk, tail + size_of(layout));
	good = pt_place_marks(layout, head, room, wakeup, &marks);
	if (good != (stop >= 0))
		blame("head %lu, tail %lu: %d", head, tail, good);
	if (!good || stop < 0)
		return;
	intr = best_intr(walk, stop, wakeup);
	if (marks.stop_at != walk->end[stop] || marks.stop != walk->region[stop] ||
	    marks.intr != walk->region[intr])
		blame("head %lu, tail %lu, wakeup %lu: stop %u at %lu, interrupt %u", head, tail,
		      wakeup, marks.stop, marks.stop_at, marks.intr);
	EXPECT(marks.stop_at <= tail + size_of(layout) && marks.stop_at > head);
	check_hold(layout, head, tail, wakeup, &marks);
}

static void check_heads(const struct pt_layout *layout, u64 base)
{
	unsigned int pages = layout->first[layout->nr], h, t, w;
	struct walk walk;
	u64 head, tail;

	for (h = 0; h < pages * NEAR; h++) {
		head = near(base, h);
		walk_from(&walk, layout, head);
		for (t = 0; t <= pages * NEAR + 1; t++) {
			tail = near(head - head % PAGE - pages * PAGE, t);
			if (tail > head || tail < head - size_of(layout))
				continue;
			for (w = 0; w < 2 * pages * NEAR && !is_blamed(); w++)
				check_marks(layout, &walk, head, tail,
					    near(head - head % PAGE, w));
		}
	}
}

static void check_positions(const struct pt_layout *layout, u64 base)
{
	u64 position;

	for (unsigned int n = 0; n < 2 * layout->first[layout->nr] * NEAR; n++) {
		unsigned int region;

		position = near(base, n);
		region = slow_region_at(layout, position);
		EXPECT(pt_region_at(layout, position) == region);
		EXPECT(pt_offset_in(layout, region, position) ==
		       position % size_of(layout) - layout->first[region] * PAGE);
	}
}

static unsigned int compositions;

/* Add regions until the area has @pages. */
static void compose(u32 *first, unsigned int nr, unsigned int pages)
{
	struct pt_layout layout = { .first = first, .nr = nr };

	if (first[nr] == pages) {
		compositions++;
		check_positions(&layout, 7 * pages * PAGE);
		check_heads(&layout, 7 * pages * PAGE);
		check_heads(&layout, (1UL << 63) - 2 * pages * PAGE);
		return;
	}
	for (u32 size = 1; first[nr] + size <= pages && !is_blamed(); size *= 2) {
		first[nr + 1] = first[nr] + size;
		compose(first, nr + 1, pages);
	}
}

static void test_marks(void)
{
	u32 first[MOST + 1] = { 0 };

	for (unsigned int pages = 1; pages <= MOST; pages *= 2)
		compose(first, 0, pages);
	EXPECT(compositions == 1 + 2 + 6 + 56 && kept);
	verdict("layout: stop and interrupt of all heads, tails and wakeups, %u areas; kept for %lu",
		compositions, kept);
}

/* Nobody waits for a wakeup before the head; it is not missed at any rate. */
static void test_early_wakeup(void)
{
	static const u32 first[] = { 0, 1, 2, 3, 4 };
	struct pt_layout layout = { .first = first, .nr = 4 };
	struct pt_marks marks;

	for (u64 wakeup = 0; wakeup <= 5 * PAGE; wakeup += PAGE / 2) {
		EXPECT(pt_place_marks(&layout, 5 * PAGE, 4 * PAGE - 1, wakeup, &marks));
		EXPECT(marks.intr == 1 && marks.stop == 0 && marks.stop_at == 9 * PAGE);
	}
	verdict("layout: a wakeup that is due already");
}

static void test_written(void)
{
	static const u32 first[] = { 0, 2, 3, 4 };
	struct pt_layout layout = { .first = first, .nr = 3 };
	struct pt_marks marks = { .stop = 2, .intr = 0, .stop_at = 8 * PAGE };

	EXPECT(pt_written(&layout, 4 * PAGE, 0, &marks, false) == 0);
	EXPECT(pt_written(&layout, 4 * PAGE, 4 * PAGE, &marks, true) == 4 * PAGE);
	EXPECT(pt_written(&layout, 4 * PAGE, 2 * PAGE + 5, &marks, false) == 2 * PAGE + 5);
	EXPECT(pt_written(&layout, 7 * PAGE, 5, &marks, false) == PAGE + 5);
	EXPECT(pt_written(&layout, 7 * PAGE + 9, 4 * PAGE, &marks, true) == PAGE - 9);
	verdict("layout: nothing and the whole area are not the same");
}

/* 16 TiB in regions of 128 MiB: page numbers of 32 bits, offsets of 64 */
static void test_large(void)
{
	enum { REGIONS = 1 << 16, PAGES = 1 << 15 };
	static u32 first[REGIONS + 1];
	struct pt_layout layout = { .first = first, .nr = REGIONS };
	const u64 size = (u64)REGIONS * PAGES * PAGE, region_size = PAGES * PAGE;
	struct pt_marks marks;
	u64 head;

	for (u64 i = 0; i <= REGIONS; i++)
		first[i] = i * PAGES;
	EXPECT(pt_area_size(&layout) == size);
	for (u64 i = 0; i < REGIONS; i += 1023) {
		EXPECT(pt_region_start(&layout, i) == i * region_size);
		EXPECT(pt_region_size(&layout, i) == region_size);
		EXPECT(pt_region_at(&layout, 3 * size + i * region_size) == i);
		EXPECT(pt_region_at(&layout, (i + 1) * region_size - 1) == i);
		EXPECT(pt_offset_in(&layout, i, 5 * size + i * region_size + 77) == 77);
	}
	head = 2 * size + 40 * region_size + 1;
	EXPECT(pt_place_marks(&layout, head, size - 1, head + size / 2, &marks));
	EXPECT(marks.stop == 39 && marks.stop_at == 3 * size + 40 * region_size);
	EXPECT(marks.intr == 40 + REGIONS / 2);
	EXPECT(pt_written(&layout, head, 40 * region_size, &marks, false) == size - 1);
	verdict("layout: areas of many TiB");
}

void test_layout(void)
{
	test_marks();
	test_early_wakeup();
	test_written();
	test_large();
}
