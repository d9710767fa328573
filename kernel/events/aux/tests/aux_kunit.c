// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of AUX areas, for what no program can ask for: what a driver says
 * about a transaction, and what an event of the kernel's own asks for.
 *
 * The PMU has no hardware: transactions only count.
 */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include "../../internal.h"

#define AREA_PAGES	16UL
#define AREA		(AREA_PAGES << PAGE_SHIFT)
#define CHUNK		64
/* One of the formats there are; the mask has room for others. */
#define FORMAT		PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW

static struct pmu aux_pmu;

static int aux_pmu_event_init(struct perf_event *event)
{
	return event->attr.type == aux_pmu.type ? 0 : -ENOENT;
}

static int aux_pmu_add(struct perf_event *event, int flags)
{
	return 0;
}

static void aux_pmu_nothing(struct perf_event *event, int flags)
{
}

static void aux_pmu_read(struct perf_event *event)
{
}

static void *aux_pmu_setup(struct perf_event *event, void **pages, int nr_pages,
			   bool overwrite)
{
	return pages;
}

static void aux_pmu_free(void *priv)
{
}

static long aux_pmu_snapshot(struct perf_event *event,
			     struct perf_output_handle *handle,
			     unsigned long size)
{
	return 0;
}

/* All that events of AUX areas can ask for: none is refused for a lack of it. */
static const struct pmu aux_pmu_new = {
	.capabilities	= PERF_PMU_CAP_AUX_OUTPUT | PERF_PMU_CAP_AUX_PAUSE,
	.task_ctx_nr	= perf_invalid_context,
	.event_init	= aux_pmu_event_init,
	.add		= aux_pmu_add,
	.del		= aux_pmu_nothing,
	.start		= aux_pmu_nothing,
	.stop		= aux_pmu_nothing,
	.read		= aux_pmu_read,
	.setup_aux	= aux_pmu_setup,
	.free_aux	= aux_pmu_free,
	.snapshot_aux	= aux_pmu_snapshot,
};

static int aux_pmu_register(struct kunit_suite *suite)
{
	/* A struct that was registered before cannot be again. */
	aux_pmu = aux_pmu_new;
	return perf_pmu_register(&aux_pmu, "aux_kunit", -1);
}

static void aux_pmu_unregister(struct kunit_suite *suite)
{
	perf_pmu_unregister(&aux_pmu);
}

static struct perf_event_attr aux_attr(void)
{
	return (struct perf_event_attr) {
		.type	= aux_pmu.type,
		.size	= sizeof(struct perf_event_attr),
	};
}

static struct perf_event *aux_open(struct perf_event_attr *attr)
{
	return perf_event_create_kernel_counter(attr, 0, NULL, NULL, NULL);
}

/* An event of the kernel's own has no group: there is nobody to output to. */
static void expect_refused(struct kunit *test, struct perf_event_attr *attr)
{
	struct perf_event *event = aux_open(attr);

	KUNIT_EXPECT_PTR_EQ(test, event, ERR_PTR(-EINVAL));
	if (!IS_ERR(event))
		perf_event_release_kernel(event);
}

static void kernel_event_is_possible(struct kunit *test)
{
	struct perf_event_attr attr = aux_attr();
	struct perf_event *event = aux_open(&attr);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	perf_event_release_kernel(event);
}

static void kernel_event_has_no_aux_output(struct kunit *test)
{
	struct perf_event_attr attr = aux_attr();

	attr.aux_output = 1;
	expect_refused(test, &attr);
}

static void kernel_event_has_no_aux_action(struct kunit *test)
{
	struct perf_event_attr attr = aux_attr();

	attr.aux_start_paused = 1;
	expect_refused(test, &attr);

	attr = aux_attr();
	attr.aux_pause = 1;
	expect_refused(test, &attr);

	attr = aux_attr();
	attr.aux_resume = 1;
	expect_refused(test, &attr);
}

static struct kunit_case kernel_event_cases[] = {
	KUNIT_CASE(kernel_event_is_possible),
	KUNIT_CASE(kernel_event_has_no_aux_output),
	KUNIT_CASE(kernel_event_has_no_aux_action),
	{}
};

static struct kunit_suite kernel_event_suite = {
	.name		= "perf_aux_kernel_event",
	.suite_init	= aux_pmu_register,
	.suite_exit	= aux_pmu_unregister,
	.test_cases	= kernel_event_cases,
};

/* An event with a buffer and a live area. */
struct aux_test {
	struct perf_event		*event;
	struct perf_buffer		*rb;
	struct perf_output_handle	output;
	/* the transaction to make */
	unsigned long			size;
	u64				flags;
	/* the driver forgets to end it */
	bool				forget;
	/* the event's output goes there when the transaction ends */
	struct perf_buffer		*other;
	bool				begun;
};

struct aux_test_record {
	struct perf_event_header	header;
	struct {
		u64			offset;
		u64			size;
		u64			flags;
	} range;
};

/* Build an area as mmap() does, but charge its pages to no user. */
static int area_build(struct aux_test *t, unsigned long vm_flags)
{
	struct vm_area_struct vma = { .vm_end = AREA, .vm_flags = vm_flags };
	int ret;

	mutex_lock(&t->rb->aux.mutex);
	ret = perf_aux_build(&t->rb->aux, t->event, &vma);
	mutex_unlock(&t->rb->aux.mutex);
	return ret;
}

static void area_destroy(struct aux_test *t)
{
	mutex_lock(&t->rb->aux.mutex);
	perf_aux_destroy(&t->rb->aux);
	mutex_unlock(&t->rb->aux.mutex);
}

/* The buffer goes with the event. */
static void record_exit(struct kunit *test)
{
	struct aux_test *t = test->priv;

	/* Not made, if record_init() has failed. */
	if (!t)
		return;
	if (t->rb)
		area_destroy(t);
	perf_event_release_kernel(t->event);
}

static int record_init(struct kunit *test)
{
	struct aux_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct perf_event_attr attr = aux_attr();

	if (!t)
		return -ENOMEM;
	t->event = aux_open(&attr);
	if (IS_ERR(t->event))
		return PTR_ERR(t->event);
	test->priv = t;
	t->rb = rb_alloc(1, 0, 0, RING_BUFFER_WRITABLE);
	if (!t->rb)
		return -ENOMEM;
	ring_buffer_attach(t->event, t->rb);
	return area_build(t, VM_WRITE);
}

static void transact_here(void *info)
{
	struct aux_test *t = info;

	t->begun = perf_aux_output_begin(&t->output, t->event);
	if (!t->begun || t->forget)
		return;
	if (t->rb->aux.overwrite)
		t->output.head += t->size;
	perf_aux_output_flag(&t->output, t->flags);
	if (t->other)
		WRITE_ONCE(t->event->rb, t->other);
	perf_aux_output_end(&t->output, t->size);
	WRITE_ONCE(t->event->rb, t->rb);
}

/* What a driver does: on the CPU of the event, interrupts off. */
static void transact(struct kunit *test, unsigned long size, u64 flags)
{
	struct aux_test *t = test->priv;

	t->size = size;
	t->flags = flags;
	KUNIT_ASSERT_EQ(test, smp_call_function_single(0, transact_here, t, true), 0);
	KUNIT_ASSERT_TRUE(test, t->begun);
}

/* Records have one size, which divides a page: none is in two parts. */
static bool next_record(struct aux_test *t, struct aux_test_record *record)
{
	struct perf_event_mmap_page *page = t->rb->user_page;
	u64 tail = page->data_tail;

	if (tail == page->data_head)
		return false;
	*record = *(struct aux_test_record *)(t->rb->data_pages[0] +
					      offset_in_page(tail));
	page->data_tail = tail + sizeof(*record);
	return true;
}

static void expect_no_record(struct kunit *test)
{
	struct aux_test_record record;

	KUNIT_EXPECT_FALSE(test, next_record(test->priv, &record));
}

static void expect_next(struct kunit *test, u64 offset, u64 size, u64 flags)
{
	struct aux_test_record record;

	KUNIT_ASSERT_TRUE(test, next_record(test->priv, &record));
	KUNIT_EXPECT_EQ(test, record.header.type, PERF_RECORD_AUX);
	KUNIT_EXPECT_EQ(test, record.header.size, sizeof(record));
	KUNIT_EXPECT_EQ(test, record.range.offset, offset);
	KUNIT_EXPECT_EQ(test, record.range.size, size);
	KUNIT_EXPECT_EQ(test, record.range.flags, flags);
}

static void expect_record(struct kunit *test, u64 offset, u64 size, u64 flags)
{
	expect_next(test, offset, size, flags);
	expect_no_record(test);
}

static void nothing_is_no_record(struct kunit *test)
{
	transact(test, 0, 0);
	expect_no_record(test);
}

static void format_alone_is_no_record(struct kunit *test)
{
	transact(test, 0, FORMAT);
	expect_no_record(test);
	transact(test, 0, PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK);
	expect_no_record(test);
}

static void data_has_its_format(struct kunit *test)
{
	transact(test, CHUNK, FORMAT);
	expect_record(test, 0, CHUNK, FORMAT);
	transact(test, CHUNK, PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK);
	expect_record(test, CHUNK, CHUNK, PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK);
	transact(test, CHUNK, 0);
	expect_record(test, 2 * CHUNK, CHUNK, 0);
}

/* What was left out does not come with the next record. */
static void format_is_not_kept(struct kunit *test)
{
	transact(test, 0, FORMAT);
	transact(test, CHUNK, 0);
	expect_record(test, 0, CHUNK, 0);
}

static void flag_without_data_is_a_record(struct kunit *test)
{
	transact(test, 0, PERF_AUX_FLAG_PARTIAL);
	expect_record(test, 0, 0, PERF_AUX_FLAG_PARTIAL);
	transact(test, 0, PERF_AUX_FLAG_COLLISION | FORMAT);
	expect_record(test, 0, 0, PERF_AUX_FLAG_COLLISION | FORMAT);
}

static void overwrite_alone_is_no_record(struct kunit *test)
{
	struct aux_test *t = test->priv;

	area_destroy(t);
	KUNIT_ASSERT_EQ(test, area_build(t, 0), 0);
	transact(test, 0, 0);
	transact(test, 0, FORMAT);
	expect_no_record(test);
	transact(test, CHUNK, FORMAT);
	expect_record(test, CHUNK, CHUNK, PERF_AUX_FLAG_OVERWRITE | FORMAT);
}

/* PERF_RECORD_LOST would come before the next record. */
static void expect_lost(struct kunit *test, long lost)
{
	struct aux_test *t = test->priv;

	expect_no_record(test);
	KUNIT_EXPECT_EQ(test, local_read(&t->rb->lost), lost);
	local_set(&t->rb->lost, 0);
}

/* The next record has the flags of those that were lost, but not their format. */
static void lost_flags_go_into_the_next_record(struct kunit *test)
{
	struct aux_test *t = test->priv;

	t->rb->paused = 1;
	transact(test, CHUNK, PERF_AUX_FLAG_COLLISION);
	transact(test, CHUNK, FORMAT);
	transact(test, 0, PERF_AUX_FLAG_PARTIAL);
	expect_lost(test, 3);
	t->rb->paused = 0;
	transact(test, CHUNK, 0);
	expect_record(test, 2 * CHUNK, CHUNK,
		      PERF_AUX_FLAG_COLLISION | PERF_AUX_FLAG_PARTIAL);
	transact(test, CHUNK, 0);
	expect_record(test, 3 * CHUNK, CHUNK, 0);
}

static void lost_flags_alone_are_a_record(struct kunit *test)
{
	struct aux_test *t = test->priv;

	t->rb->paused = 1;
	transact(test, CHUNK, PERF_AUX_FLAG_PARTIAL);
	expect_lost(test, 1);
	t->rb->paused = 0;
	transact(test, 0, 0);
	expect_record(test, CHUNK, 0, PERF_AUX_FLAG_PARTIAL);
}

/* The driver neither ends its transaction in stop() nor in del(). */
static void forgotten_transaction_is_ended(struct kunit *test)
{
	struct aux_test *t = test->priv;

	t->forget = true;
	transact(test, CHUNK, 0);
	perf_event_disable(t->event);
	KUNIT_EXPECT_NULL(test, t->rb->aux.writer);
	KUNIT_EXPECT_FALSE(test, t->event->aux_busy);
	KUNIT_EXPECT_NULL(test, perf_get_aux(&t->output));
	expect_record(test, 0, 0, PERF_AUX_FLAG_PARTIAL);

	t->forget = false;
	perf_event_enable(t->event);
	transact(test, CHUNK, 0);
	expect_record(test, 0, CHUNK, 0);
}

/* stop() and start() without an end between: the event does not lock itself out. */
static void transaction_begins_twice(struct kunit *test)
{
	struct aux_test *t = test->priv;

	t->forget = true;
	transact(test, CHUNK, 0);
	t->forget = false;
	transact(test, CHUNK, 0);
	expect_next(test, 0, 0, PERF_AUX_FLAG_PARTIAL);
	expect_record(test, 0, CHUNK, 0);
	KUNIT_EXPECT_NULL(test, t->rb->aux.writer);
}

/* The reader of another buffer does not see the area. */
static void redirected_in_a_transaction(struct kunit *test)
{
	struct perf_buffer *other = rb_alloc(1, 0, 0, RING_BUFFER_WRITABLE);
	struct perf_event_attr attr = aux_attr();
	struct aux_test *t = test->priv;
	struct perf_event *owner;

	KUNIT_ASSERT_NOT_NULL(test, other);
	owner = aux_open(&attr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, owner);
	ring_buffer_attach(owner, other);
	t->other = other;
	transact(test, CHUNK, 0);
	t->other = NULL;
	KUNIT_EXPECT_EQ(test, other->user_page->data_head, 0);
	perf_event_release_kernel(owner);
	expect_no_record(test);
	KUNIT_EXPECT_EQ(test, atomic64_read(&t->event->lost_samples), 1);

	transact(test, CHUNK, 0);
	expect_record(test, CHUNK, CHUNK, 0);
}

/* Where the data buffer is paused, a format alone is not even lost. */
static void format_alone_is_not_lost(struct kunit *test)
{
	struct aux_test *t = test->priv;

	t->rb->paused = 1;
	transact(test, 0, FORMAT);
	expect_lost(test, 0);
	t->rb->paused = 0;
	transact(test, 0, 0);
	expect_no_record(test);
}

static struct kunit_case record_cases[] = {
	KUNIT_CASE(nothing_is_no_record),
	KUNIT_CASE(format_alone_is_no_record),
	KUNIT_CASE(data_has_its_format),
	KUNIT_CASE(format_is_not_kept),
	KUNIT_CASE(flag_without_data_is_a_record),
	KUNIT_CASE(overwrite_alone_is_no_record),
	KUNIT_CASE(format_alone_is_not_lost),
	KUNIT_CASE(lost_flags_go_into_the_next_record),
	KUNIT_CASE(lost_flags_alone_are_a_record),
	KUNIT_CASE(forgotten_transaction_is_ended),
	KUNIT_CASE(transaction_begins_twice),
	KUNIT_CASE(redirected_in_a_transaction),
	{}
};

static struct kunit_suite record_suite = {
	.name		= "perf_aux_record",
	.suite_init	= aux_pmu_register,
	.suite_exit	= aux_pmu_unregister,
	.init		= record_init,
	.exit		= record_exit,
	.test_cases	= record_cases,
};

kunit_test_suites(&kernel_event_suite, &record_suite);

MODULE_DESCRIPTION("KUnit tests of AUX areas");
MODULE_INFO(import_ns, "EXPORTED_FOR_KUNIT_TESTING");
MODULE_LICENSE("GPL");
