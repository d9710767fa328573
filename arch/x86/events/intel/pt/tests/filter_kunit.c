// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of address filters: which of them this machine's processors can do, and what
 * they are told of them. The event is on no CPU.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/processor.h>
#include <linux/slab.h>

#include "../pt.h"

#define FILTER	PERF_ADDR_FILTER_ACTION_FILTER
#define START	PERF_ADDR_FILTER_ACTION_START
#define STOP	PERF_ADDR_FILTER_ACTION_STOP
/* One more than there can be */
#define MOST	(PT_MAX_RANGES + 1)

/**
 * struct filter_test - an event and its filters
 * @event: the event
 * @own: what becomes of them
 * @filters: that the user asks for
 * @ranges: where they are mapped
 * @nr: number of them
 */
struct filter_test {
	struct perf_event		event;
	struct pt_filters		own;
	struct perf_addr_filter		filters[MOST];
	struct perf_addr_filter_range	ranges[MOST];
	unsigned int			nr;
};

static int filter_init(struct kunit *test)
{
	struct filter_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	INIT_LIST_HEAD(&t->event.addr_filters.list);
	t->event.addr_filter_ranges = t->ranges;
	t->event.hw.addr_filters = &t->own;
	test->priv = t;
	return 0;
}

static void add(struct filter_test *t, enum perf_addr_filter_action_t action,
		unsigned long start, unsigned long size)
{
	struct perf_addr_filter *filter = &t->filters[t->nr];

	filter->action = action;
	filter->size = size;
	list_add_tail(&filter->entry, &t->event.addr_filters.list);
	t->ranges[t->nr].start = start;
	t->ranges[t->nr].size = size;
	t->nr++;
}

static void remove_all(struct filter_test *t)
{
	INIT_LIST_HEAD(&t->event.addr_filters.list);
	t->nr = 0;
}

static int validate(struct filter_test *t)
{
	return pt_filters_validate(&t->event.addr_filters.list);
}

static void as_many_as_there_are_ranges(struct kunit *test)
{
	struct filter_test *t = test->priv;
	unsigned int most = pt_filters_max();

	/* There are registers for four, whatever else is said. */
	KUNIT_ASSERT_LE(test, most, 4);
	for (unsigned int nr = 0; nr <= MOST; nr++) {
		KUNIT_EXPECT_EQ_MSG(test, validate(t), nr <= most ? 0 : -EOPNOTSUPP,
				    "%u of %u", nr, most);
		if (nr < MOST)
			add(t, nr & 1 ? STOP : FILTER, 4096, 1);
	}
}

static void ranges_none_of_which_begins_a_trace(struct kunit *test)
{
	struct filter_test *t = test->priv;

	if (pt_filters_max() < 2)
		kunit_skip(test, "less than two ranges");
	add(t, FILTER, 0, 0);
	KUNIT_EXPECT_EQ(test, validate(t), -EOPNOTSUPP);
	t->filters[0].size = 1;
	KUNIT_EXPECT_EQ(test, validate(t), 0);
	add(t, START, 0, 1);
	KUNIT_EXPECT_EQ(test, validate(t), -EOPNOTSUPP);
	t->filters[1].action = STOP;
	KUNIT_EXPECT_EQ(test, validate(t), 0);
}

struct range_case {
	const char *name;
	unsigned long start, size, a, b;
};

/* A range in each place, with others before it. */
static void check_range(struct kunit *test, const struct range_case *c)
{
	struct filter_test *t = test->priv;

	for (unsigned int nr = 0; nr < PT_MAX_RANGES; nr++) {
		remove_all(t);
		for (unsigned int i = 0; i < nr; i++)
			add(t, STOP, 0x1000 * (i + 1), 0x100);
		add(t, FILTER, c->start, c->size);
		pt_filters_sync(&t->event);

		KUNIT_EXPECT_EQ_MSG(test, t->own.nr, nr + 1, "%s", c->name);
		KUNIT_EXPECT_EQ_MSG(test, t->own.a[nr], c->a, "%s, range %u", c->name, nr);
		KUNIT_EXPECT_EQ_MSG(test, t->own.b[nr], c->b, "%s, range %u", c->name, nr);
		KUNIT_EXPECT_EQ_MSG(test, t->own.ctl >> 32,
				    (0x2222 & ((1 << 4 * nr) - 1)) | 1 << 4 * nr, "%s, range %u",
				    c->name, nr);
		for (unsigned int i = 0; i < nr; i++) {
			KUNIT_EXPECT_EQ(test, t->own.a[i], 0x1000 * (i + 1));
			KUNIT_EXPECT_EQ(test, t->own.b[i], 0x1000 * (i + 1) + 0xff);
		}
	}
}

static void where_files_are_mapped(struct kunit *test)
{
	static const struct range_case cases[] = {
		{ "a function", 0x401000, 0x20, 0x401000, 0x40101f },
		{ "one byte", 0x401000, 1, 0x401000, 0x401000 },
		{ "a file that is not mapped", 0, 0, -4096UL, -4096UL },
		{ "a file that is mapped up to there", 0x402000, 0, -4096UL, -4096UL },
		{ "from address 0 on", 0, 0x1000, 0, 0xfff },
		{ "the whole address space", 0, ULONG_MAX, 0, ULONG_MAX - 1 },
		{ "to the last byte", 1, ULONG_MAX, 1, ULONG_MAX },
		{ "beyond the last byte", ULONG_MAX - 9, 100, ULONG_MAX - 9, ULONG_MAX },
		{ "all, and beyond", 4096, ULONG_MAX, 4096, ULONG_MAX },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		check_range(test, &cases[i]);
}

/* Of addresses of 48 bits or 57, those between user space and the kernel are no ranges' ends. */
static void beside_the_hole(struct kunit *test)
{
	unsigned long high = -BIT_ULL(boot_cpu_data.x86_virt_bits - 1), low = ~high;
	const struct range_case cases[] = {
		{ "the kernel's", high, 0x1000, high, high + 0xfff },
		{ "user space", 0, low + 1, 0, low },
		{ "into the hole", 0x1000, low + 1, 0x1000, low },
		{ "out of the hole", low + 1, high - low, high, high },
		{ "from the hole on", low + 7, ULONG_MAX, high, ULONG_MAX },
		{ "in the hole", low + 1, 4096, -4096UL, -4096UL },
		{ "the whole hole", low + 1, high - low - 1, -4096UL, -4096UL },
		{ "all but the hole's begin", low, 2, low, low },
	};

	if (!IS_ENABLED(CONFIG_X86_64))
		kunit_skip(test, "addresses of 32 bits have no hole");
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		check_range(test, &cases[i]);
}

static void filters_that_go(struct kunit *test)
{
	struct filter_test *t = test->priv;

	add(t, FILTER, 0x1000, 0x1000);
	pt_filters_sync(&t->event);
	remove_all(t);
	pt_filters_sync(&t->event);
	KUNIT_EXPECT_EQ(test, t->own.nr, 0);
	KUNIT_EXPECT_EQ(test, t->own.ctl, 0);
}

static struct kunit_case filter_cases[] = {
	KUNIT_CASE(as_many_as_there_are_ranges),
	KUNIT_CASE(ranges_none_of_which_begins_a_trace),
	KUNIT_CASE(where_files_are_mapped),
	KUNIT_CASE(beside_the_hole),
	KUNIT_CASE(filters_that_go),
	{}
};

static struct kunit_suite filter_suite = {
	.name		= "perf_pt_filter",
	.init		= filter_init,
	.test_cases	= filter_cases,
};

kunit_test_suite(filter_suite);

MODULE_DESCRIPTION("KUnit tests of Intel Processor Trace");
MODULE_INFO(import_ns, "EXPORTED_FOR_KUNIT_TESTING");
MODULE_LICENSE("GPL");
