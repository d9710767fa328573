// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of positions in areas of regions, and where hardware stops and interrupts.
 *
 * The rules are those of layout.h, written down once more as a walk: region after region
 * from the head on, hardware comes to ends, of which some are good to stop at. All
 * compositions of small areas of powers of two, and all heads, tails and wakeups that are
 * near the end of a page, are tried.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "../layout.h"

#define PAGE	4096ULL
/* Positions near the end of a page */
#define NEAR	3
/*
 * Pages of the largest area: with twice as many, it takes 100 times as long, which is for
 * tests in user space.
 */
#ifndef LAYOUT_PAGES
#define LAYOUT_PAGES	4
#endif

/* The ends of regions that hardware comes to in one lap, and their regions */
struct walk {
	u64 end[LAYOUT_PAGES + 1];
	unsigned int region[LAYOUT_PAGES + 1];
	unsigned int nr;
};

/* An area, and the position of a head, a tail and a wakeup */
struct place {
	const struct pt_layout *layout;
	u64 head, tail, wakeup;
};

static u64 size_of(const struct pt_layout *layout)
{
	return layout->first[layout->nr] * PAGE;
}

/* Sizes are powers of two. */
static u64 offset_of(const struct pt_layout *layout, u64 position)
{
	return position & (size_of(layout) - 1);
}

/* What a transaction at @head is told: one byte always stays free. */
static u64 room_at(const struct place *p, u64 head)
{
	u64 unread = head - p->tail, most = size_of(p->layout) - 1;

	return unread < most ? most - unread : 0;
}

static unsigned int slow_region_at(const struct pt_layout *layout, u64 position)
{
	unsigned int region = 0;

	while (layout->first[region + 1] * PAGE <= offset_of(layout, position))
		region++;
	return region;
}

static void walk_from(struct walk *walk, const struct pt_layout *layout, u64 head)
{
	unsigned int region = slow_region_at(layout, head);
	u64 end = head - offset_of(layout, head) + layout->first[region + 1] * PAGE;

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

/*
 * As long as marks hold for later heads, they are the same as if they were placed again.
 *
 * Return: for how many
 */
static unsigned long check_hold(struct kunit *test, const struct place *p,
				const struct pt_marks *marks)
{
	unsigned long kept = 0;
	struct pt_marks again;
	u64 head = p->head;

	for (unsigned int n = 0; head < marks->stop_at; n++) {
		u64 room = room_at(p, head);

		if (!pt_marks_hold(marks, head, room, p->wakeup)) {
			KUNIT_ASSERT_NE(test, head, p->head);
			break;
		}
		kept += head != p->head;
		KUNIT_ASSERT_TRUE(test, pt_place_marks(p->layout, head, room, p->wakeup, &again));
		KUNIT_ASSERT_EQ(test, again.stop, marks->stop);
		KUNIT_ASSERT_EQ(test, again.intr, marks->intr);
		KUNIT_ASSERT_EQ(test, again.stop_at, marks->stop_at);
		KUNIT_ASSERT_FALSE(test, pt_marks_hold(marks, head, room, p->wakeup + 1));
		KUNIT_ASSERT_FALSE(test, pt_marks_hold(marks, head, room - 1, p->wakeup));
		head = max(near(p->head & -PAGE, n), p->head);
	}
	return kept;
}

static unsigned long check_marks(struct kunit *test, const struct walk *walk,
				 const struct place *p)
{
	u64 room = room_at(p, p->head);
	struct pt_marks marks = { };
	int stop, intr;

	if (!room)
		return 0;
	stop = best_stop(walk, p->tail + size_of(p->layout));
	KUNIT_ASSERT_EQ_MSG(test, pt_place_marks(p->layout, p->head, room, p->wakeup, &marks),
			    stop >= 0, "head %llu, tail %llu", (unsigned long long)p->head,
			    (unsigned long long)p->tail);
	if (stop < 0)
		return 0;
	intr = best_intr(walk, stop, p->wakeup);
	KUNIT_ASSERT_EQ(test, marks.stop_at, walk->end[stop]);
	KUNIT_ASSERT_EQ(test, marks.stop, walk->region[stop]);
	KUNIT_ASSERT_EQ(test, marks.intr, walk->region[intr]);
	KUNIT_ASSERT_LE(test, marks.stop_at, p->tail + size_of(p->layout));
	KUNIT_ASSERT_GT(test, marks.stop_at, p->head);
	return check_hold(test, p, &marks);
}

/* Return: for how many later heads marks were held */
static unsigned long check_head(struct kunit *test, const struct pt_layout *layout, u64 head)
{
	unsigned int pages = layout->first[layout->nr];
	u64 page = head & -PAGE;
	struct place p = { .layout = layout, .head = head };
	unsigned long kept = 0;
	struct walk walk;

	walk_from(&walk, layout, head);
	for (unsigned int t = 0; t <= pages * NEAR + 1; t++) {
		p.tail = near(page - pages * PAGE, t);
		if (p.tail > head || p.tail < head - size_of(layout))
			continue;
		for (unsigned int w = 0; w < 2 * pages * NEAR; w++) {
			p.wakeup = near(page, w);
			kept += check_marks(test, &walk, &p);
		}
	}
	return kept;
}

static void check_position(struct kunit *test, const struct pt_layout *layout, u64 position)
{
	unsigned int region = slow_region_at(layout, position);

	KUNIT_ASSERT_EQ(test, pt_region_at(layout, position), region);
	KUNIT_ASSERT_EQ(test, pt_offset_in(layout, region, position),
			offset_of(layout, position) - layout->first[region] * PAGE);
}

/* What has been tried */
struct tried {
	unsigned int areas;
	unsigned long kept;
};

static void check_area(struct kunit *test, const struct pt_layout *layout, struct tried *tried)
{
	unsigned int pages = layout->first[layout->nr];
	u64 base = 7 * pages * PAGE;

	tried->areas++;
	for (unsigned int n = 0; n < 2 * pages * NEAR; n++)
		check_position(test, layout, near(base, n));
	for (unsigned int n = 0; n < pages * NEAR; n++) {
		tried->kept += check_head(test, layout, near(base, n));
		tried->kept += check_head(test, layout,
					  near((1ULL << 63) - 2 * pages * PAGE, n));
	}
}

/* Add regions until the area has @pages. */
static void compose(struct kunit *test, u32 *first, unsigned int nr, unsigned int pages,
		    struct tried *tried)
{
	struct pt_layout layout = { .first = first, .nr = nr };

	if (first[nr] == pages) {
		check_area(test, &layout, tried);
		return;
	}
	for (u32 size = 1; first[nr] + size <= pages; size *= 2) {
		first[nr + 1] = first[nr] + size;
		compose(test, first, nr + 1, pages, tried);
	}
}

static void stop_and_interrupt(struct kunit *test)
{
	static const unsigned int areas[] = { 0, 1, 2, 0, 6, 0, 0, 0, 56 };
	u32 first[LAYOUT_PAGES + 1] = { 0 };
	struct tried tried;

	for (unsigned int pages = 1; pages <= LAYOUT_PAGES; pages *= 2) {
		tried = (struct tried){ };
		compose(test, first, 0, pages, &tried);
		KUNIT_EXPECT_EQ(test, tried.areas, areas[pages]);
	}
	KUNIT_EXPECT_GT(test, tried.kept, 0);
}

/* Nobody waits for a wakeup before the head; it is not missed at any rate. */
static void wakeup_that_is_due_already(struct kunit *test)
{
	static const u32 first[] = { 0, 1, 2, 3, 4 };
	struct pt_layout layout = { .first = first, .nr = 4 };
	struct pt_marks marks;

	for (u64 wakeup = 0; wakeup <= 5 * PAGE; wakeup += PAGE / 2) {
		KUNIT_EXPECT_TRUE(test, pt_place_marks(&layout, 5 * PAGE, 4 * PAGE - 1, wakeup,
						       &marks));
		KUNIT_EXPECT_EQ(test, marks.intr, 1);
		KUNIT_EXPECT_EQ(test, marks.stop, 0);
		KUNIT_EXPECT_EQ(test, marks.stop_at, 9 * PAGE);
	}
}

static void nothing_and_the_whole_area(struct kunit *test)
{
	static const u32 first[] = { 0, 2, 3, 4 };
	struct pt_layout layout = { .first = first, .nr = 3 };
	struct pt_marks marks = { .stop = 2, .intr = 0, .stop_at = 8 * PAGE };

	KUNIT_EXPECT_EQ(test, pt_written(&layout, 4 * PAGE, 0, &marks, false), 0);
	KUNIT_EXPECT_EQ(test, pt_written(&layout, 4 * PAGE, 4 * PAGE, &marks, true), 4 * PAGE);
	KUNIT_EXPECT_EQ(test, pt_written(&layout, 4 * PAGE, 2 * PAGE + 5, &marks, false),
			2 * PAGE + 5);
	KUNIT_EXPECT_EQ(test, pt_written(&layout, 7 * PAGE, 5, &marks, false), PAGE + 5);
	KUNIT_EXPECT_EQ(test, pt_written(&layout, 7 * PAGE + 9, 4 * PAGE, &marks, true), PAGE - 9);
}

/* 16 TiB in regions of 128 MiB: page numbers of 32 bits, offsets of 64 */
static void areas_of_many_tebibytes(struct kunit *test)
{
	enum { REGIONS = 1 << 16, PAGES = 1 << 15 };
	const u64 size = (u64)REGIONS * PAGES * PAGE, region_size = PAGES * PAGE;
	u32 *first = kunit_kzalloc(test, (REGIONS + 1) * sizeof(*first), GFP_KERNEL);
	struct pt_layout layout = { .first = first, .nr = REGIONS };
	struct pt_marks marks;
	u64 head;

	KUNIT_ASSERT_NOT_NULL(test, first);
	for (u32 i = 0; i <= REGIONS; i++)
		first[i] = i * PAGES;
	KUNIT_EXPECT_EQ(test, pt_area_size(&layout), size);
	for (u32 i = 0; i < REGIONS; i += 1023) {
		KUNIT_EXPECT_EQ(test, pt_region_start(&layout, i), i * region_size);
		KUNIT_EXPECT_EQ(test, pt_region_size(&layout, i), region_size);
		KUNIT_EXPECT_EQ(test, pt_region_at(&layout, 3 * size + i * region_size), i);
		KUNIT_EXPECT_EQ(test, pt_region_at(&layout, (i + 1) * region_size - 1), i);
		KUNIT_EXPECT_EQ(test, pt_offset_in(&layout, i, 5 * size + i * region_size + 77),
				77);
	}
	head = 2 * size + 40 * region_size + 1;
	KUNIT_EXPECT_TRUE(test, pt_place_marks(&layout, head, size - 1, head + size / 2, &marks));
	KUNIT_EXPECT_EQ(test, marks.stop, 39);
	KUNIT_EXPECT_EQ(test, marks.stop_at, 3 * size + 40 * region_size);
	KUNIT_EXPECT_EQ(test, marks.intr, 40 + REGIONS / 2);
	KUNIT_EXPECT_EQ(test, pt_written(&layout, head, 40 * region_size, &marks, false),
			size - 1);
}

static struct kunit_case layout_cases[] = {
	KUNIT_CASE(stop_and_interrupt),
	KUNIT_CASE(wakeup_that_is_due_already),
	KUNIT_CASE(nothing_and_the_whole_area),
	KUNIT_CASE(areas_of_many_tebibytes),
	{}
};

static struct kunit_suite layout_suite = {
	.name		= "perf_pt_layout",
	.test_cases	= layout_cases,
};

kunit_test_suite(layout_suite);
