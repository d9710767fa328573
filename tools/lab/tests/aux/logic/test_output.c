// SPDX-License-Identifier: GPL-2.0-only
/* output.c and record.c: transactions against a model of the area, its reader and its records. */
#include "check.h"

#define AREA_PAGES	4
#define AREA		(AREA_PAGES * PAGE_SIZE)
#define FORMAT		0x100

static void *setup(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	return pages;
}

static void free_aux(void *aux)
{
}

static struct perf_output_handle handle;

static void stop(struct perf_event *event, int flags)
{
	if (handle.event)
		perf_aux_output_end(&handle, 0);
}

static struct pmu pmu = { .setup_aux = setup, .free_aux = free_aux, .stop = stop };
static struct pmu other_pmu = { .setup_aux = setup, .free_aux = free_aux, .stop = stop };
static struct perf_event event, second;
static struct mapping data, area;
static struct perf_event_mmap_page *page;

static void begin(unsigned long flags)
{
	world_begin();
	event_begin(&event, &pmu);
	event_begin(&second, &pmu);
	event.attr.aux_watermark = PAGE_SIZE;
	map_both(&data, &area, &event, AREA_PAGES, flags);
	page = event.rb->user_page;
	handle = (struct perf_output_handle){ };
}

static bool end(void)
{
	unmap(&area);
	unmap(&data);
	return world_clean();
}

static bool is_record(unsigned int at, u64 offset, u64 size, u64 flags)
{
	struct record *r = &world.record[at % RECORDS_KEPT];
	bool good = at < world.records && r->type == PERF_RECORD_AUX && r->word[0] == offset &&
		    r->word[1] == size && r->word[2] == flags;

	if (!good)
		diag("record %u of %u: %lu + %lu, %lu; wanted %lu + %lu, %lu", at, world.records,
		     r->word[0], r->word[1], r->word[2], offset, size, flags);
	return good;
}

static void test_full_trace(void)
{
	struct perf_output_handle other;

	begin(VM_WRITE);
	point(perf_aux_output_begin(&handle, &event) == event.rb->aux.priv && handle.event == &event &&
	      handle.rb == event.rb && handle.head == 0 && handle.size == AREA - 1 &&
	      handle.wakeup == PAGE_SIZE && !handle.aux_flags && event.aux_busy &&
	      event.aux_handle == &handle && perf_get_aux(&handle) == event.rb->aux.priv &&
	      event.rb->refcount.counter == 1,
	      "begin: all of the area");
	other = handle;
	point(!perf_aux_output_begin(&other, &second) && !perf_get_aux(&other) && !world.warnings,
	      "begin: an event that has no buffer");
	perf_aux_output_end(&handle, 100);
	point(is_record(0, 0, 100, 0) && world.records == 1 && page->aux_head == 100 &&
	      !handle.event && !event.aux_busy && !perf_get_aux(&handle) && !world.wakeups &&
	      event.rb->refcount.counter == 1 && !event.rb->aux.writer, "end: 100 bytes");
	perf_aux_output_begin(&handle, &event);
	point(handle.head == 100 && handle.size == AREA - 101, "begin: after them");
	perf_aux_output_end(&handle, PAGE_SIZE - 101);
	point(world.wakeups == 0, "end: a byte below the watermark");
	perf_aux_output_begin(&handle, &event);
	perf_aux_output_end(&handle, 1);
	point(world.wakeups == 1 && world.traced[WAKEUP] == 1 &&
	      world.traced[BEGIN] == 3 && world.traced[END] == 3 && !world.traced[FULL], "end: the watermark");
	perf_aux_output_begin(&handle, &event);
	point(handle.wakeup == 2 * PAGE_SIZE, "begin: the next watermark");
	perf_aux_output_end(&handle, 0);
	point(world.records == 3 && world.wakeups == 1, "end: nothing was written");

	perf_aux_output_begin(&handle, &event);
	perf_aux_output_flag(&handle, FORMAT);
	perf_aux_output_end(&handle, 0);
	point(world.records == 3, "end: a format alone tells nothing");
	perf_aux_output_begin(&handle, &event);
	perf_aux_output_flag(&handle, PERF_AUX_FLAG_PARTIAL);
	perf_aux_output_flag(&handle, PERF_AUX_FLAG_COLLISION);
	perf_aux_output_end(&handle, 0);
	point(is_record(3, PAGE_SIZE, 0, PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_COLLISION) &&
	      !world.disabled, "end: flags alone do");
	point(end(), "full trace: nothing is left");
}

static void test_full(void)
{
	begin(VM_WRITE);
	perf_aux_output_begin(&handle, &event);
	perf_aux_output_flag(&handle, PERF_AUX_FLAG_TRUNCATED);
	perf_aux_output_end(&handle, AREA - 1);
	point(world.disabled == 1 && event.pending_disable && world.wakeups == 1 &&
	      is_record(0, 0, AREA - 1, PERF_AUX_FLAG_TRUNCATED) && world.traced[FULL] == 1,
	      "full: truncated");
	point(!perf_aux_output_begin(&handle, &event) && world.disabled == 1 && !handle.event,
	      "full: not while it is being disabled");
	event.pending_disable = 0;
	point(!perf_aux_output_begin(&handle, &event) && world.disabled == 2 && world.wakeups == 2 &&
	      !handle.event && !event.aux_busy && !event.rb->aux.writer &&
	      event.rb->refcount.counter == 1, "full: nor without room");
	event.pending_disable = 0;
	page->aux_tail = 10;
	point(perf_aux_output_begin(&handle, &event) && handle.size == 10 && handle.head == AREA - 1,
	      "full: what the reader has read is room");
	perf_aux_output_end(&handle, 3);
	page->aux_tail = AREA + 100;
	point(!perf_aux_output_begin(&handle, &event), "full: a tail ahead of the head");
	event.pending_disable = 0;
	page->aux_tail = 0;
	point(!perf_aux_output_begin(&handle, &event), "full: a tail too far behind");
	event.pending_disable = 0;
	point(end(), "full: nothing is left");
}

/* The reader, on another CPU */
static void make_room_and_enable(void)
{
	page->aux_tail = AREA - 1;
	event.pending_enable = true;
}

static void test_enabled_meanwhile(void)
{
	int opened = 0, revoked = 0, lost = 0;

	begin(VM_WRITE);
	perf_aux_output_begin(&handle, &event);
	perf_aux_output_end(&handle, AREA - 1);
	for (int i = 0; i < 1000; i++) {
		page->aux_tail = 0;
		event.pending_disable = 0;
		event.pending_enable = true;
		world.other_cpu = make_room_and_enable;
		if (perf_aux_output_begin(&handle, &event)) {
			opened++;
			perf_aux_output_end(&handle, 0);
		} else if (!world.other_cpu) {
			*(event.pending_enable ? &revoked : &lost) += 1;
		}
	}
	world.other_cpu = NULL;
	point(opened && revoked && !lost, "full: a reader that enables the event is never too early");

	page->aux_tail = 0;
	event.pending_disable = 0;
	event.pending_enable = true;
	perf_aux_output_begin(&handle, &event);
	point(!event.pending_enable, "full: what was enabled before is not taken for that");
	event.pending_enable = true;
	perf_aux_output_begin(&handle, &event);
	point(event.pending_enable, "full: while it is being disabled, it stays so");
	event.pending_disable = 0;
	point(end(), "enabled meanwhile: nothing is left");
}

static void test_skip(void)
{
	begin(VM_WRITE);
	perf_aux_output_begin(&handle, &event);
	point(perf_aux_output_skip(&handle, AREA) == -ENOSPC && page->aux_head == 0,
	      "skip: more than there is");
	point(!perf_aux_output_skip(&handle, 60) && handle.head == 60 && handle.size == AREA - 61 &&
	      page->aux_head == 60 && !world.wakeups && handle.wakeup == PAGE_SIZE, "skip: 60 bytes");
	point(!perf_aux_output_skip(&handle, PAGE_SIZE) && world.wakeups == 1 &&
	      handle.wakeup == 2 * PAGE_SIZE, "skip: over a watermark");
	perf_aux_output_end(&handle, 4);
	point(is_record(0, PAGE_SIZE + 60, 4, 0), "skip: what is reported is not padding");
	perf_aux_output_begin(&handle, &event);
	point(!perf_aux_output_skip(&handle, handle.size) && !handle.size, "skip: all that there is");
	perf_aux_output_end(&handle, 0);
	point(end(), "skip: nothing is left");
}

static void test_overwrite(void)
{
	begin(0);
	handle.size = 77;
	perf_aux_output_begin(&handle, &event);
	point(!handle.size && !handle.head, "overwrite: begin");
	handle.head = 5000;
	perf_aux_output_end(&handle, 0);
	point(page->aux_head == 5000 && !world.records && !world.wakeups, "overwrite: no record");
	perf_aux_output_begin(&handle, &event);
	point(handle.head == 5000, "overwrite: it goes on");
	handle.head = 300;
	perf_aux_output_flag(&handle, PERF_AUX_FLAG_PARTIAL);
	perf_aux_output_end(&handle, 64);
	point(page->aux_head == 300 &&
	      is_record(0, 300, 64, PERF_AUX_FLAG_OVERWRITE | PERF_AUX_FLAG_PARTIAL),
	      "overwrite: a record");
	page->aux_tail = 1;
	point(perf_aux_output_begin(&handle, &event), "overwrite: the tail does not matter");
	perf_aux_output_flag(&handle, PERF_AUX_FLAG_OVERWRITE);
	point(world.warnings == 1 && !handle.aux_flags, "overwrite: the flag is not a driver's");
	handle.head = 77;
	perf_aux_output_publish(&handle, 0);
	point(page->aux_head == 77 && world.records == 1, "overwrite: the head of a crashed kernel");
	perf_aux_output_end(&handle, 0);
	point(end(), "overwrite: nothing is left");
}

static void test_one_writer(void)
{
	begin(VM_WRITE);
	mutex_lock(&second.mmap_mutex);
	ring_buffer_attach(&second, event.rb);
	mutex_unlock(&second.mmap_mutex);
	perf_aux_output_begin(&handle, &event);
	world.cpu = 1;
	point(!perf_aux_output_begin(&(struct perf_output_handle){ }, &second) &&
	      event.rb->aux.writer == &event && event.rb->refcount.counter == 2 &&
	      world.warnings == 1 && !second.aux_busy, "one writer: the second one gets nothing");
	world.cpu = 0;
	second.pmu = &(struct pmu) { };
	point(!perf_aux_output_begin(&(struct perf_output_handle){ }, &second) &&
	      world.warnings == 1 && event.rb->refcount.counter == 2,
	      "one writer: nor does one of another PMU, without a warning");
	second.pmu = event.pmu;
	perf_aux_output_end(&handle, 0);
	second.parent = &event;
	point(!perf_aux_output_begin(&handle, &second) && world.warnings == 2,
	      "one writer: not a task's child, which may run on any CPU");
	second.parent = NULL;
	second.cpu = 1;
	point(!perf_aux_output_begin(&handle, &second) && world.warnings == 3,
	      "one writer: not on another CPU than its own");
	second.cpu = 0;
	world.cpu = 2;
	point(!perf_aux_output_begin(&handle, &second) && world.warnings == 4,
	      "one writer: nor than the first one, if that is its own");
	world.cpu = 0;
	second.cpu = -1;
	world.warnings = 0;
	perf_aux_output_begin(&handle, &event);
	perf_aux_output_publish(&handle, 16);
	point(page->aux_head == 16 && !world.records && !world.wakeups,
	      "full trace: the head of a crashed kernel");
	event.rb->aux.head = 0;
	perf_aux_output_end(&handle, 16);
	second.pmu = &other_pmu;
	point(!perf_aux_output_begin(&handle, &second) && !event.rb->aux.writer &&
	      event.rb->refcount.counter == 2, "one PMU: another one's event gets nothing");
	point(end(), "one writer: nothing is left");
}

static void close_area(void)
{
	event.rb->aux.state = PERF_AUX_CLOSING;
}

/* munmap() on another CPU, at any moment of begin */
static void test_closed_meanwhile(void)
{
	unsigned int closed = 0, kept = 0;

	begin(VM_WRITE);
	for (int i = 0; i < 100; i++) {
		world.other_cpu = close_area;
		if (perf_aux_output_begin(&handle, &event))
			perf_aux_output_end(&handle, 0);
		else
			closed++;
		kept += !!event.rb->aux.writer;
		event.rb->aux.state = PERF_AUX_LIVE;
		run_works();
	}
	world.other_cpu = NULL;
	point(closed && !kept && event.rb->refcount.counter == 1,
	      "closed meanwhile: no writer is left");
	point(end(), "closed meanwhile: nothing is left");
}

static void test_forgotten(void)
{
	begin(VM_WRITE);
	perf_aux_output_begin(&handle, &event);
	perf_aux_output_end(&handle, 32);
	perf_aux_output_begin(&handle, &event);
	perf_aux_forget(&event, 0);
	point(world.records == 1 && !handle.event && !event.aux_busy && !event.rb->aux.writer &&
	      event.rb->refcount.counter == 1, "forgotten: without a loss");
	perf_aux_output_begin(&handle, &event);
	perf_aux_forget(&event, PERF_AUX_FLAG_PARTIAL);
	point(is_record(1, 32, 0, PERF_AUX_FLAG_PARTIAL), "forgotten: with a loss");
	perf_aux_output_begin(&handle, &event);
	point(perf_aux_output_begin(&handle, &event) && handle.event == &event &&
	      is_record(2, 32, 0, PERF_AUX_FLAG_PARTIAL) && event.rb->refcount.counter == 1,
	      "forgotten: begun twice");
	perf_aux_output_end(&handle, 0);
	point(end(), "forgotten: nothing is left");

	begin(0);
	perf_aux_output_begin(&handle, &event);
	perf_aux_forget(&event, PERF_AUX_FLAG_PARTIAL);
	point(is_record(0, 0, 0, PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_OVERWRITE),
	      "forgotten: in overwrite mode");
	point(end(), "forgotten: nothing is left of that");
}

static void trace(unsigned long size, u64 flags)
{
	perf_aux_output_begin(&handle, &event);
	perf_aux_output_flag(&handle, flags);
	perf_aux_output_end(&handle, size);
}

/* Records that find no room are lost; the next one has their flags. */
static void test_lost(void)
{
	u64 format = 0x100;

	begin(VM_WRITE);
	event.attr.sample_id_all = true;
	event.rb->paused = 1;
	trace(10, format);
	trace(10, PERF_AUX_FLAG_COLLISION | format);
	trace(10, 0);
	point(!world.records && world.lost == 3 && page->aux_head == 30, "lost: no room");
	event.rb->paused = 0;
	trace(10, 0);
	point(is_record(0, 30, 10, PERF_AUX_FLAG_COLLISION) && world.record[0].with_ids,
	      "lost: the next record has their flags, but not their format");
	trace(10, 0);
	point(is_record(1, 40, 10, 0), "lost: and that after it has not");
	world.records_refused = 1;
	trace(10, PERF_AUX_FLAG_PARTIAL);
	trace(0, 0);
	point(is_record(2, 60, 0, PERF_AUX_FLAG_PARTIAL) && world.records == 3,
	      "lost: flags are enough for a record");
	point(end(), "lost: nothing is left");

	/* What is lost goes with its area. */
	begin(VM_WRITE);
	event.rb->paused = 1;
	trace(10, PERF_AUX_FLAG_PARTIAL);
	unmap(&area);
	event.rb->paused = 0;
	map(&area, &event, 8, AREA_PAGES, VM_SHARED | VM_WRITE);
	trace(0, 0);
	point(!world.records, "lost: not told of another area");
	point(end(), "lost: nothing is left of both");
}

/* The record is for the reader of the area, not for that of another buffer. */
static void test_redirected(void)
{
	struct perf_buffer *rb, *other;

	begin(VM_WRITE);
	rb = event.rb;
	other = rb_alloc(rb->nr_pages, 0, 0, RING_BUFFER_WRITABLE);
	perf_aux_output_begin(&handle, &event);
	event.rb = other;
	perf_aux_output_flag(&handle, PERF_AUX_FLAG_COLLISION);
	perf_aux_output_end(&handle, 10);
	point(!world.records && event.lost_samples.counter == 1, "redirected: the record is lost");
	event.rb = rb;
	ring_buffer_put(other);
	trace(10, 0);
	point(is_record(0, 10, 10, PERF_AUX_FLAG_COLLISION),
	      "redirected: until the event is back; its flags are in the next record");
	point(end(), "redirected: nothing is left");
}

static void test_copy(void)
{
	bool good = true;

	begin(0);
	perf_aux_output_begin(&handle, &event);
	for (unsigned long i = 0; i < AREA; i++)
		*((unsigned char *)event.rb->aux.pages[i / PAGE_SIZE] + i % PAGE_SIZE) = i * 7 / 5;
	for (int round = 0; good && round < 300; round++) {
		unsigned long from = random_below(4 * AREA), size = 1 + random_up_to(AREA - 1);

		world.sample_size = 0;
		good = perf_output_copy_aux(&handle, &handle, from, from + size) == size &&
		       world.sample_size == size;
		for (unsigned long i = 0; good && i < size; i++)
			good = world.sample[i] == (unsigned char)((from + i) % AREA * 7 / 5);
	}
	point(good, "copy: any part of the area");
	world.sample_size = 0;
	point(perf_output_copy_aux(&handle, &handle, 5, 5) == AREA, "copy: all of it");
	perf_aux_output_end(&handle, 0);
	point(end(), "copy: nothing is left");
}

static void test_records(void)
{
	begin(VM_WRITE);
	perf_log_itrace_start(&event);
	point(!world.records, "itrace start: not of this PMU");
	pmu.capabilities = PERF_PMU_CAP_ITRACE;
	perf_log_itrace_start(&event);
	point(world.records == 1 && world.record[0].type == PERF_RECORD_ITRACE_START &&
	      world.record[0].word[0] == (8UL << 32 | 7), "itrace start: a record");
	second.parent = &event;
	perf_log_itrace_start(&second);
	point(world.records == 2 && world.record[1].event == &event, "itrace start: of the parent");
	perf_event_itrace_started(&event);
	point(event.attach_state == (PERF_ATTACH_GROUP | PERF_ATTACH_ITRACE),
	      "itrace start: and nothing else is noted");
	perf_log_itrace_start(&event);
	point(world.records == 2, "itrace start: no more of them");
	perf_report_aux_output_id(&second, 0x1234567890UL);
	point(world.records == 3 && world.record[2].type == PERF_RECORD_AUX_OUTPUT_HW_ID &&
	      world.record[2].word[0] == 0x1234567890UL && world.record[2].event == &event &&
	      !world.record[2].with_ids, "hardware ID: of the parent");
	pmu.capabilities = 0;
	point(end(), "records: nothing is left");
}

/* Random transactions and a reader; the records tell all that was written, once and in order. */
static bool random_trace(unsigned long steps)
{
	u64 written = 0, told = 0, read = 0, mark = 0;
	unsigned int heard = 0, lost = 0, wakeups;

	for (unsigned long i = 0; i < steps; i++) {
		u64 size;

		wakeups = world.wakeups;
		event.rb->paused = !random_below(10);
		if (!perf_aux_output_begin(&handle, &event)) {
			if (!event.pending_disable || written - read < AREA - 1 ||
			    world.wakeups == wakeups)
				return false;
			event.pending_disable = 0;
			read += random_up_to(written - read);
		} else {
			if (handle.size != AREA - 1 - (written - read) || handle.head != written ||
			    handle.wakeup != mark + PAGE_SIZE)
				return false;
			size = random_up_to(handle.size);
			perf_aux_output_end(&handle, size);
			written += size;
			if ((written / PAGE_SIZE > mark / PAGE_SIZE) != (world.wakeups > wakeups))
				return false;
			mark = written / PAGE_SIZE * PAGE_SIZE;
		}
		for (; heard < world.records; heard++) {
			struct record *r = &world.record[heard % RECORDS_KEPT];

			if (r->word[0] != told || !r->word[1])
				return false;
			told += r->word[1];
		}
		if (world.lost != lost)
			told = written;
		lost = world.lost;
		if (page->aux_head != written || told > written)
			return false;
		if (!random_below(3))
			read += random_up_to(written - read);
		if (!random_below(20))
			page->data_tail = event.rb->head.counter;
		page->aux_tail = read;
	}
	return told == written && lost;
}

void test_output(unsigned long steps)
{
	test_full_trace();
	test_full();
	test_enabled_meanwhile();
	test_skip();
	test_overwrite();
	test_one_writer();
	test_closed_meanwhile();
	test_forgotten();
	test_lost();
	test_redirected();
	test_copy();
	test_records();
	begin(VM_WRITE);
	point(random_trace(steps), "trace: records, room and wakeups agree with the model");
	event.pending_disable = 0;
	point(end(), "trace: nothing is left");
}
