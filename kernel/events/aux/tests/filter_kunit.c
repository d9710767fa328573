// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of what perf's core keeps for the address filters of a PMU: ranges
 * that live as long as somebody may read them, and the file that says how many
 * there are. Both were wrong for a moment only, which no program can meet.
 *
 * The PMU has no hardware, and no filter is set.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/device/bus.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernfs.h>
#include <linux/notifier.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

/* More than one allocator's words, wherever in a free object it keeps them. */
#define RANGES		4
#define RANGE_START(i)	(0x5afe0000UL + (i))
#define RANGE_SIZE(i)	(0x1000UL + (i))
/* Far more than a release takes, but on a machine that does much else. */
#define RELEASE_TIME	(HZ / 2)

static struct pmu filter_pmu;

static int filter_pmu_event_init(struct perf_event *event)
{
	return event->attr.type == filter_pmu.type ? 0 : -ENOENT;
}

static int filter_pmu_add(struct perf_event *event, int flags)
{
	return 0;
}

static void filter_pmu_nothing(struct perf_event *event, int flags)
{
}

static void filter_pmu_read(struct perf_event *event)
{
}

static int filter_pmu_validate(struct list_head *filters)
{
	return -EOPNOTSUPP;
}

static const struct pmu filter_pmu_new = {
	.task_ctx_nr	= perf_invalid_context,
	.event_init	= filter_pmu_event_init,
	.add		= filter_pmu_add,
	.del		= filter_pmu_nothing,
	.start		= filter_pmu_nothing,
	.stop		= filter_pmu_nothing,
	.read		= filter_pmu_read,
	.addr_filters_validate = filter_pmu_validate,
};

static int filter_pmu_register(unsigned int ranges)
{
	/* A struct that was registered before cannot be again. */
	filter_pmu = filter_pmu_new;
	filter_pmu.nr_addr_filters = ranges;
	return perf_pmu_register(&filter_pmu, "filter_kunit", -1);
}

static int ranges_suite_init(struct kunit_suite *suite)
{
	return filter_pmu_register(RANGES);
}

static void ranges_suite_exit(struct kunit_suite *suite)
{
	perf_pmu_unregister(&filter_pmu);
}

static struct perf_event *filter_open(void)
{
	struct perf_event_attr attr = {
		.type	= filter_pmu.type,
		.size	= sizeof(attr),
	};

	return perf_event_create_kernel_counter(&attr, 0, NULL, NULL, NULL);
}

/* An event, and another CPU's work to read its ranges while it is released. */
struct reader {
	struct work_struct	work;
	struct perf_event	*event;
	struct completion	reads;
	struct completion	released;
	bool			kept;
};

static void write_ranges(struct perf_event *event)
{
	int i;

	for (i = 0; i < RANGES; i++) {
		event->addr_filter_ranges[i].start = RANGE_START(i);
		event->addr_filter_ranges[i].size = RANGE_SIZE(i);
	}
}

/* An allocator writes to what is free, and KASAN, where it is, fails the test. */
static bool ranges_are_kept(struct perf_event *event)
{
	int i;

	for (i = 0; i < RANGES; i++) {
		if (READ_ONCE(event->addr_filter_ranges[i].start) != RANGE_START(i) ||
		    READ_ONCE(event->addr_filter_ranges[i].size) != RANGE_SIZE(i))
			return false;
	}
	return true;
}

/*
 * May not sleep, as exec() and mmap() may not, which write the ranges of events that they
 * find on a list. A release may wait for readers, so this one does not wait for ever.
 */
static void read_ranges(struct work_struct *work)
{
	struct reader *r = container_of(work, struct reader, work);
	unsigned long end;

	rcu_read_lock();
	complete(&r->reads);
	end = jiffies + RELEASE_TIME;
	while (!completion_done(&r->released) && time_before(jiffies, end))
		cpu_relax();
	r->kept = ranges_are_kept(r->event);
	rcu_read_unlock();
}

static void ranges_outlive_their_readers(struct kunit *test)
{
	struct reader r = {
		.reads = COMPLETION_INITIALIZER_ONSTACK(r.reads),
		.released = COMPLETION_INITIALIZER_ONSTACK(r.released),
	};

	if (num_online_cpus() < 2)
		kunit_skip(test, "nobody else to read the ranges");
	r.event = filter_open();
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, r.event);
	if (!r.event->addr_filter_ranges) {
		perf_event_release_kernel(r.event);
		KUNIT_FAIL(test, "the event has no ranges");
		return;
	}
	write_ranges(r.event);
	INIT_WORK_ONSTACK(&r.work, read_ranges);
	/* Wherever this thread is by then: only one of them sleeps. */
	queue_work_on(cpumask_any_but(cpu_online_mask, raw_smp_processor_id()),
		      system_wq, &r.work);

	wait_for_completion(&r.reads);
	perf_event_release_kernel(r.event);
	complete(&r.released);
	flush_work(&r.work);
	destroy_work_on_stack(&r.work);

	KUNIT_EXPECT_TRUE(test, r.kept);
}

static struct kunit_case ranges_cases[] = {
	KUNIT_CASE(ranges_outlive_their_readers),
	{}
};

static struct kunit_suite ranges_suite = {
	.name		= "perf_filter_ranges",
	.suite_init	= ranges_suite_init,
	.suite_exit	= ranges_suite_exit,
	.test_cases	= ranges_cases,
};

/* What the PMU's device looks like at the moment when it is announced. */
struct watch {
	struct notifier_block	block;
	bool			told;
	bool			type;
	bool			filters;
};

static bool has_file(struct device *dev, const char *name)
{
	struct kernfs_node *node = kernfs_find_and_get(dev->kobj.sd, name);

	kernfs_put(node);
	return node;
}

/* device_add() tells the bus last before it tells user space. */
static int watch_bus(struct notifier_block *block, unsigned long action, void *data)
{
	struct watch *w = container_of(block, struct watch, block);
	struct device *dev = data;

	if (action != BUS_NOTIFY_ADD_DEVICE || dev_get_drvdata(dev) != &filter_pmu)
		return NOTIFY_DONE;
	w->told = true;
	w->type = has_file(dev, "type");
	w->filters = has_file(dev, "nr_addr_filters");
	return NOTIFY_DONE;
}

/* The bus of PMUs, which has no name outside of perf's core; not all kernels have it const. */
static typeof(filter_pmu.dev->bus) pmu_bus(struct kunit *test)
{
	typeof(filter_pmu.dev->bus) bus;

	KUNIT_ASSERT_EQ(test, filter_pmu_register(0), 0);
	bus = filter_pmu.dev ? filter_pmu.dev->bus : NULL;
	perf_pmu_unregister(&filter_pmu);
	KUNIT_ASSERT_NOT_NULL(test, bus);
	return bus;
}

/* The PMU comes and goes; what was seen of its files when it came, and later. */
static void expect_file(struct kunit *test, unsigned int ranges, bool expected)
{
	struct watch w = { .block.notifier_call = watch_bus };
	typeof(filter_pmu.dev->bus) bus = pmu_bus(test);
	bool later = false;
	int ret;

	KUNIT_ASSERT_EQ(test, bus_register_notifier(bus, &w.block), 0);
	ret = filter_pmu_register(ranges);
	bus_unregister_notifier(bus, &w.block);
	if (!ret) {
		later = has_file(filter_pmu.dev, "nr_addr_filters");
		perf_pmu_unregister(&filter_pmu);
	}

	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_EXPECT_TRUE(test, w.told);
	KUNIT_EXPECT_TRUE(test, w.type);
	KUNIT_EXPECT_EQ(test, w.filters, expected);
	KUNIT_EXPECT_EQ(test, later, expected);
}

static void file_comes_with_its_device(struct kunit *test)
{
	expect_file(test, RANGES, true);
}

static void no_file_without_filters(struct kunit *test)
{
	expect_file(test, 0, false);
}

static struct kunit_case file_cases[] = {
	KUNIT_CASE(file_comes_with_its_device),
	KUNIT_CASE(no_file_without_filters),
	{}
};

static struct kunit_suite file_suite = {
	.name		= "perf_filter_file",
	.test_cases	= file_cases,
};

kunit_test_suites(&ranges_suite, &file_suite);
