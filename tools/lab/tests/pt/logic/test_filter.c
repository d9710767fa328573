// SPDX-License-Identifier: GPL-2.0-only
/* Address filters: which of them hardware can do, and what it is told. */
#include <string.h>

#include <linux/limits.h>

#include <asm/msr.h>
#include <asm/processor.h>

#include "check.h"
#include "core.h"
#include "hw.h"
#include "machine.h"
#include "perf_event.h"
#include "pt.h"

#define FILTER		PERF_ADDR_FILTER_ACTION_FILTER
#define START		PERF_ADDR_FILTER_ACTION_START
#define STOP		PERF_ADDR_FILTER_ACTION_STOP
#define MOST		8
#define LOW_END		0x00007fffffffffffUL
#define HIGH_BEGIN	0xffff800000000000UL

static struct trace trace;
static struct perf_addr_filter filters[MOST];

static void boot(unsigned int ranges)
{
	struct pt_caps caps = caps_all();

	caps.word[4] = (caps.word[4] & ~7) | ranges;
	EXPECT(!machine_boot(&caps, 1UL << 32));
	EXPECT(!trace_init(&trace, CONFIG_PLAIN));
}

static void add(unsigned int nr, enum perf_addr_filter_action_t action, bool file,
		u64 start, u64 size)
{
	struct list_head *list = &trace.event.addr_filters.list;
	struct perf_addr_filter *filter = &filters[nr];

	*filter = (struct perf_addr_filter) { .action = action, .size = size };
	filter->path.dentry = file ? (void *)filter : NULL;
	filter->entry = (struct list_head) { .next = list, .prev = list->prev };
	list->prev->next = &filter->entry;
	list->prev = &filter->entry;
	trace.ranges[nr] = (struct perf_addr_filter_range) { start, size };
}

static int validate(void)
{
	return trace.event.pmu->addr_filters_validate(&trace.event.addr_filters.list);
}

static void test_numbers(void)
{
	for (unsigned int ranges = 0; ranges <= 7; ranges++) {
		/* There are registers for four, whatever else is said. */
		unsigned int most = ranges < 4 ? ranges : 4, nr;

		boot(ranges);
		EXPECT(trace.event.pmu->nr_addr_filters == most);
		for (nr = 0; nr <= MOST; nr++) {
			EXPECT(validate() == (nr <= most ? 0 : -EOPNOTSUPP));
			if (nr < MOST)
				add(nr, nr & 1 ? STOP : FILTER, false, 4096, 1);
		}
		trace_destroy(&trace);
	}
	verdict("filter: as many as there are ranges");
}

static void test_kinds(void)
{
	boot(4);
	add(0, FILTER, true, 0, 0);
	EXPECT(validate() == -EOPNOTSUPP);
	filters[0].size = 1;
	EXPECT(!validate());
	add(1, START, true, 0, 1);
	EXPECT(validate() == -EOPNOTSUPP);
	filters[1].action = STOP;
	EXPECT(!validate());
	trace_destroy(&trace);
	verdict("filter: ranges, none of which begins a trace");
}

static const struct {
	const char *name;
	u64 start, size, a, b;
	bool file;
} ranges[] = {
	{ "a function", 0x401000, 0x20, 0x401000, 0x40101f, true },
	{ "one byte", 0x401000, 1, 0x401000, 0x401000, true },
	{ "a file that is not mapped", 0, 0, -4096UL, -4096UL, true },
	{ "a file that is mapped up to there", 0x402000, 0, -4096UL, -4096UL, true },
	{ "the kernel's", HIGH_BEGIN, 0x1000, HIGH_BEGIN, HIGH_BEGIN + 0xfff, false },
	{ "from address 0 on", 0, 0x1000, 0, 0xfff, false },
	{ "the whole address space", 0, ULONG_MAX, 0, ULONG_MAX - 1, false },
	{ "to the last byte", 1, ULONG_MAX, 1, ULONG_MAX, false },
	{ "beyond the last byte", ULONG_MAX - 9, 100, ULONG_MAX - 9, ULONG_MAX, false },
	{ "all, and beyond", 4096, ULONG_MAX, 4096, ULONG_MAX, false },
	{ "user space", 0, LOW_END + 1, 0, LOW_END, false },
	{ "into the hole", 0x1000, LOW_END + 1, 0x1000, LOW_END, false },
	{ "out of the hole", LOW_END + 1, HIGH_BEGIN - LOW_END, HIGH_BEGIN, HIGH_BEGIN, false },
	{ "from the hole on", LOW_END + 7, ULONG_MAX, HIGH_BEGIN, ULONG_MAX, false },
	{ "in the hole", LOW_END + 1, 4096, -4096UL, -4096UL, false },
	{ "the whole hole", LOW_END + 1, HIGH_BEGIN - LOW_END - 1, -4096UL, -4096UL, false },
	{ "all but the hole's begin", LOW_END, 2, LOW_END, LOW_END, false },
};

/* Hardware is told of a range when the event starts. */
static void test_ranges(void)
{
	static const u8 order;

	for (unsigned int i = 0; i < ARRAY_SIZE(ranges); i++) {
		for (unsigned int nr = 0; nr < 4; nr++) {
			boot(4);
			/* Others before it */
			for (unsigned int j = 0; j < nr; j++)
				add(j, STOP, true, 0x1000 * (j + 1), 0x100);
			add(nr, FILTER, ranges[i].file, ranges[i].start, ranges[i].size);
			EXPECT(trace_map(&trace, &order, 1, false, 0) && !trace_in(&trace));
			if (hw_this()->range[2 * nr] != ranges[i].a ||
			    hw_this()->range[2 * nr + 1] != ranges[i].b)
				blame("%s, range %u: %lx to %lx", ranges[i].name, nr,
				      hw_this()->range[2 * nr], hw_this()->range[2 * nr + 1]);
			EXPECT((hw_this()->ctl >> 32 & 0xffff) ==
			       ((0x2222UL & ((1UL << 4 * nr) - 1)) | 1UL << 4 * nr));
			for (unsigned int j = 0; j < nr; j++)
				EXPECT(hw_this()->range[2 * j] == 0x1000 * (j + 1) &&
				       hw_this()->range[2 * j + 1] == 0x1000 * (j + 1) + 0xff);
			trace_out(&trace);
			trace_unmap(&trace);
			trace_destroy(&trace);
		}
	}
	verdict("filter: %lu ranges in each place", ARRAY_SIZE(ranges));
}

static void test_five_levels(void)
{
	static const u8 order;

	boot_cpu_data.x86_virt_bits = 57;
	boot(1);
	add(0, FILTER, false, 1UL << 50, 1UL << 50);
	EXPECT(trace_map(&trace, &order, 1, false, 0) && !trace_in(&trace));
	EXPECT(hw_this()->range[0] == 1UL << 50 && hw_this()->range[1] == (1UL << 51) - 1);
	trace_out(&trace);
	trace_unmap(&trace);
	trace_destroy(&trace);
	boot_cpu_data.x86_virt_bits = 48;
	verdict("filter: addresses of 57 bits");
}

/* Filters that change are programmed; those that do not, are not. */
static void test_change(void)
{
	static const u8 order;
	unsigned int before;

	boot(4);
	add(0, FILTER, true, 0x1000, 0x1000);
	add(1, STOP, true, 0, 0);
	add(2, FILTER, true, 0x3000, 0x1000);
	add(3, FILTER, true, 0x5000, 0x1000);
	EXPECT(trace_map(&trace, &order, 1, false, 0) && !trace_in(&trace));
	hw_output(100);
	trace.event.pmu->stop(&trace.event, PERF_EF_UPDATE);
	trace.ranges[1] = (struct perf_addr_filter_range) { 0x7000, 0x1000 };
	before = hw_this()->writes;
	trace.event.pmu->start(&trace.event, 0);
	EXPECT(hw_this()->range[2] == 0x7000 && hw_this()->range[3] == 0x7fff);
	EXPECT(hw_this()->writes == before + 3);
	core_check(&trace);

	trace.event.pmu->stop(&trace.event, PERF_EF_UPDATE);
	trace.event.addr_filters.list.prev = trace.event.addr_filters.list.next =
		&trace.event.addr_filters.list;
	trace.event.pmu->start(&trace.event, 0);
	EXPECT(!(hw_this()->ctl >> 32));
	trace_out(&trace);
	trace_unmap(&trace);
	trace_destroy(&trace);
	verdict("filter: ranges that change, and that go");
}

/* Neither the interrupt nor a sample looks for tables where there are none. */
static void test_single_range(void)
{
	static const u8 order;

	boot(4);
	add(0, STOP, false, 0x1000, 0x1000);
	EXPECT(trace_map(&trace, &order, 1, true, 0) && !trace_in(&trace));
	EXPECT(!(hw_this()->ctl & RTIT_CTL_TOPA) && hw_output(100) == 100);
	hw_this()->status = RTIT_STATUS_STOPPED;
	intel_pt_interrupt();
	EXPECT(trace_sample(&trace, 100) == 100);
	trace_out(&trace);
	EXPECT(trace.rb.aux.head == 100 && !hw_this()->status);
	EXPECT(!trace_in(&trace) && hw_output(50) == 50);
	trace_out(&trace);
	trace_unmap(&trace);
	trace_destroy(&trace);
	verdict("filter: one that stops, in a single range");
}

/* A child traces what its parent does, and no filter without ranges. */
static void test_inherited(void)
{
	struct trace child = { };
	struct pt_filters *have;

	boot(2);
	add(0, FILTER, true, 0x1000, 0x1000);
	trace.event.pmu->addr_filters_sync(&trace.event);
	child.event = trace.event;
	child.event.parent = &trace.event;
	EXPECT(!trace.event.pmu->event_init(&child.event));
	have = child.event.hw.addr_filters;
	EXPECT(have != trace.event.hw.addr_filters);
	EXPECT(have->nr == 1 && have->a[0] == 0x1000 && have->b[0] == 0x1fff && have->ctl);
	trace_destroy(&child);
	trace_destroy(&trace);

	boot(0);
	EXPECT(!trace.event.hw.addr_filters);
	trace.event.pmu->addr_filters_sync(&trace.event);
	trace_destroy(&trace);
	verdict("filter: those of a parent");
}

void test_filter(void)
{
	test_numbers();
	test_kinds();
	test_ranges();
	test_five_levels();
	test_change();
	test_single_range();
	test_inherited();
}
