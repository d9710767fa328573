// SPDX-License-Identifier: GPL-2.0-only
/* Address filters: what hardware is told of them. */
#include <stdio.h>

#include <linux/limits.h>

#include <asm/msr.h>
#include <asm/processor.h>

#include "check.h"
#include "core.h"
#include "hw.h"
#include "kunit.h"
#include "machine.h"
#include "perf_event.h"
#include "pt.h"

#define FILTER		PERF_ADDR_FILTER_ACTION_FILTER
#define STOP		PERF_ADDR_FILTER_ACTION_STOP
#define MOST		4

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
	struct perf_addr_filter *filter = &filters[nr];

	*filter = (struct perf_addr_filter) { .action = action, .size = size };
	filter->path.dentry = file ? (void *)filter : NULL;
	list_add_tail(&filter->entry, &trace.event.addr_filters.list);
	trace.ranges[nr] = (struct perf_addr_filter_range) { start, size };
}

/* The kernel's KUnit tests of filters, on processors with 0 to 7 ranges */
static void test_numbers(void)
{
	char where[32];

	for (unsigned int ranges = 0; ranges <= 7; ranges++) {
		boot(ranges);
		snprintf(where, sizeof(where), ", ranges: %u", ranges);
		EXPECT(trace.event.pmu->nr_addr_filters == (ranges < 4 ? ranges : 4));
		EXPECT(trace.event.pmu->addr_filters_validate == pt_filters_validate);
		EXPECT(trace.event.pmu->addr_filters_sync == pt_filters_sync);
		kunit_run("perf_pt_filter", where);
		trace_destroy(&trace);
	}
	boot_cpu_data.x86_virt_bits = 57;
	kunit_run("perf_pt_filter", ", addresses of 57 bits");
	boot_cpu_data.x86_virt_bits = 48;
}

/* Filters are programmed when the event starts, and again if they change. */
static void test_change(void)
{
	static const u64 programmed[] = {
		0x1000, 0x1fff, -4096UL, -4096UL, 0x3000, 0x3fff, 0x5000, 0x5fff,
	};
	static const u8 order;
	unsigned int before;

	boot(4);
	add(0, FILTER, true, 0x1000, 0x1000);
	add(1, STOP, true, 0, 0);
	add(2, FILTER, true, 0x3000, 0x1000);
	add(3, FILTER, true, 0x5000, 0x1000);
	EXPECT(trace_map(&trace, &order, 1, false, 0) && !trace_in(&trace));
	for (unsigned int i = 0; i < ARRAY_SIZE(programmed); i++)
		EXPECT(hw_this()->range[i] == programmed[i]);
	EXPECT((hw_this()->ctl >> 32 & 0xffff) == 0x1121);
	hw_output(100);
	trace.event.pmu->stop(&trace.event, PERF_EF_UPDATE);
	trace.ranges[1] = (struct perf_addr_filter_range) { 0x7000, 0x1000 };
	before = hw_this()->writes;
	trace.event.pmu->start(&trace.event, 0);
	EXPECT(hw_this()->range[2] == 0x7000 && hw_this()->range[3] == 0x7fff);
	EXPECT(hw_this()->writes == before + 3);
	core_check(&trace);

	trace.event.pmu->stop(&trace.event, PERF_EF_UPDATE);
	INIT_LIST_HEAD(&trace.event.addr_filters.list);
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
	test_change();
	test_single_range();
	test_inherited();
}
