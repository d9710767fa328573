// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of Intel's PEBS beside AUX areas: an event that pauses or resumes a
 * trace, or takes a piece of it, needs an interrupt for each of its records, and so
 * must not have them written in batches ("large PEBS").
 *
 * The tests ask the PMU how it would set up an event, which is never on a CPU.
 */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/processor.h>

#include "../../perf_event.h"

static const struct perf_event_attr pebs_attr = {
	.type		= PERF_TYPE_HARDWARE,
	.size		= sizeof(struct perf_event_attr),
	.config		= PERF_COUNT_HW_INSTRUCTIONS,
	.sample_period	= 100003,
	.sample_type	= PERF_SAMPLE_IP | PERF_SAMPLE_TID,
	.precise_ip	= 1,
	.disabled	= 1,
};

/* Return: the PMU that takes events of PEBS, or NULL */
static struct pmu *pebs_pmu(void)
{
	struct perf_event_attr attr = pebs_attr;
	struct perf_event *event;
	struct pmu *pmu;

	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL)
		return NULL;
	event = perf_event_create_kernel_counter(&attr, 0, NULL, NULL, NULL);
	if (IS_ERR(event))
		return NULL;
	pmu = event->pmu;
	perf_event_release_kernel(event);
	return pmu;
}

static int pebs_init(struct kunit *test)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);

	if (!event)
		return -ENOMEM;
	event->pmu = pebs_pmu();
	if (!event->pmu)
		kunit_skip(test, "no PEBS");
	event->attr = pebs_attr;
	event->group_leader = event;
	INIT_LIST_HEAD(&event->sibling_list);
	test->priv = event;
	return 0;
}

static void expect_batches(struct kunit *test, bool expected)
{
	struct perf_event *event = test->priv;

	KUNIT_ASSERT_EQ(test, event->pmu->event_init(event), 0);
	/* It is PEBS, one way or the other. */
	KUNIT_EXPECT_TRUE(test, event->hw.flags & PERF_X86_EVENT_AUTO_RELOAD);
	KUNIT_EXPECT_EQ(test, !!(event->hw.flags & PERF_X86_EVENT_LARGE_PEBS),
			expected);
	KUNIT_EXPECT_EQ(test, !!(event->attach_state & PERF_ATTACH_SCHED_CB),
			expected);
	event->destroy(event);
}

/* Else the others would show nothing. */
static void plain_event_has_batches(struct kunit *test)
{
	expect_batches(test, true);
}

static void pause_has_no_batches(struct kunit *test)
{
	struct perf_event *event = test->priv;

	event->attr.aux_pause = 1;
	expect_batches(test, false);
}

static void resume_has_no_batches(struct kunit *test)
{
	struct perf_event *event = test->priv;

	event->attr.aux_resume = 1;
	expect_batches(test, false);
}

static void sample_of_the_area_has_no_batches(struct kunit *test)
{
	struct perf_event *event = test->priv;

	event->attr.sample_type |= PERF_SAMPLE_AUX;
	event->attr.aux_sample_size = 64;
	expect_batches(test, false);
}

static struct kunit_case pebs_cases[] = {
	KUNIT_CASE(plain_event_has_batches),
	KUNIT_CASE(pause_has_no_batches),
	KUNIT_CASE(resume_has_no_batches),
	KUNIT_CASE(sample_of_the_area_has_no_batches),
	{}
};

static struct kunit_suite pebs_suite = {
	.name		= "perf_aux_pebs",
	.init		= pebs_init,
	.test_cases	= pebs_cases,
};

kunit_test_suite(pebs_suite);

MODULE_DESCRIPTION("KUnit tests of Intel's PEBS beside AUX areas");
MODULE_LICENSE("GPL");
