// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of Intel's PEBS beside AUX areas: an event that pauses or resumes a
 * trace, or takes a piece of it, needs an interrupt for each of its records, and so
 * must not have them written in batches ("large PEBS").
 *
 * The tests pretend that the CPU has PEBS, and ask how an event would be set up. It
 * is never on a CPU. What is set where records go to a trace is no event of theirs.
 */
#include <kunit/test.h>
#include <linux/irqflags.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include <asm/intel_ds.h>

#include "../perf_event.h"

/* What is changed for the time of a test */
struct pebs_test {
	struct perf_event	event;
	bool			active;
	bool			broken;
};

static void pebs_pretend(struct pebs_test *t)
{
	t->active = x86_pmu.pebs_active;
	t->broken = x86_pmu.pebs_broken;
	x86_pmu.pebs_active = 1;
	x86_pmu.pebs_broken = 0;
}

/* Context: after each test, also one that pebs_init() has skipped or failed. */
static void pebs_exit(struct kunit *test)
{
	struct pebs_test *t = test->priv;

	if (!t)
		return;
	x86_pmu.pebs_active = t->active;
	x86_pmu.pebs_broken = t->broken;
}

static int pebs_init(struct kunit *test)
{
	struct pebs_test *t;

	/* Only Intel's have the flags; one of version 1 does not look at them. */
	if (!x86_pmu.large_pebs_flags || x86_pmu.version < 2)
		kunit_skip(test, "no PMU of Intel's that could have large PEBS");
	t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	test->priv = t;

	t->event.attr = (struct perf_event_attr) {
		.type		= PERF_TYPE_HARDWARE,
		.size		= sizeof(struct perf_event_attr),
		.config		= PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period	= 100003,
		.sample_type	= PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		.precise_ip	= 1,
	};
	t->event.pmu = x86_get_pmu(raw_smp_processor_id());
	t->event.group_leader = &t->event;
	INIT_LIST_HEAD(&t->event.sibling_list);
	pebs_pretend(t);
	return 0;
}

static void expect_batches(struct kunit *test, bool expected)
{
	struct pebs_test *t = test->priv;
	struct perf_event *event = &t->event;

	KUNIT_ASSERT_EQ(test, x86_pmu.hw_config(event), 0);
	/* It is PEBS, one way or the other. */
	KUNIT_EXPECT_TRUE(test, event->hw.flags & PERF_X86_EVENT_AUTO_RELOAD);
	KUNIT_EXPECT_EQ(test, !!(event->hw.flags & PERF_X86_EVENT_LARGE_PEBS),
			expected);
	KUNIT_EXPECT_EQ(test, !!(event->attach_state & PERF_ATTACH_SCHED_CB),
			expected);
}

/* Else the others would show nothing. */
static void plain_event_has_batches(struct kunit *test)
{
	expect_batches(test, true);
}

static void pause_has_no_batches(struct kunit *test)
{
	struct pebs_test *t = test->priv;

	t->event.attr.aux_pause = 1;
	expect_batches(test, false);
}

static void resume_has_no_batches(struct kunit *test)
{
	struct pebs_test *t = test->priv;

	t->event.attr.aux_resume = 1;
	expect_batches(test, false);
}

static void sample_of_the_area_has_no_batches(struct kunit *test)
{
	struct pebs_test *t = test->priv;

	t->event.attr.sample_type |= PERF_SAMPLE_AUX;
	t->event.attr.aux_sample_size = 64;
	expect_batches(test, false);
}

/*
 * Only where the CPU has PEBS. The buffer is empty when an event is read, and whose
 * bits are set in IA32_PEBS_ENABLE is looked at: those for a trace have no event.
 */
static void bits_for_a_trace_are_no_events(struct kunit *test)
{
	struct perf_sample_data data;
	struct debug_store *ds, *own;
	struct cpu_hw_events *cpuc;
	u64 enabled;

	if (!x86_pmu.drain_pebs)
		kunit_skip(test, "no PEBS");
	ds = kunit_kzalloc(test, sizeof(*ds), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ds);
	ds->pebs_buffer_base = PAGE_SIZE;
	ds->pebs_index = PAGE_SIZE;

	scoped_guard(irqsave) {
		cpuc = this_cpu_ptr(&cpu_hw_events);
		own = cpuc->ds;
		enabled = cpuc->pebs_enabled;
		cpuc->ds = ds;
		cpuc->pebs_enabled = PEBS_VIA_PT_MASK;
		x86_pmu.drain_pebs(NULL, &data);
		cpuc->pebs_enabled = enabled;
		cpuc->ds = own;
	}
	KUNIT_EXPECT_EQ(test, ds->pebs_index, PAGE_SIZE);
}

static struct kunit_case pebs_cases[] = {
	KUNIT_CASE(plain_event_has_batches),
	KUNIT_CASE(pause_has_no_batches),
	KUNIT_CASE(resume_has_no_batches),
	KUNIT_CASE(sample_of_the_area_has_no_batches),
	KUNIT_CASE(bits_for_a_trace_are_no_events),
	{}
};

static struct kunit_suite pebs_suite = {
	.name		= "perf_aux_pebs",
	.init		= pebs_init,
	.exit		= pebs_exit,
	.test_cases	= pebs_cases,
};

kunit_test_suite(pebs_suite);

MODULE_DESCRIPTION("KUnit tests of Intel's PEBS beside AUX areas");
MODULE_LICENSE("GPL");
