// SPDX-License-Identifier: GPL-2.0-only
/* One CPU at a time, events and data buffers. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

struct world world;
struct perf_cpu_context perf_cpu_context[WORLD_CPUS];

static struct mm_struct mm;
static struct user_struct user;
static struct perf_event_context task_context;
static int buffers;

/* A promise of the core was broken where a test cannot ask for it. */
void must(bool good, const char *what)
{
	if (good)
		return;
	point(false, "always: %s", what);
	exit(1);
}

/* What the scheduler runs on this CPU */
void perf_aux_stop_contexts(struct perf_buffer *rb)
{
	struct perf_cpu_context *cpuctx = &perf_cpu_context[world.cpu];

	perf_aux_stop_context(&cpuctx->ctx, rb);
	if (cpuctx->task_ctx)
		perf_aux_stop_context(cpuctx->task_ctx, rb);
}

void nmi_point(void)
{
	if (!world.nmi || !world.nmis || random_below(3))
		return;
	world.nmis--;
	world.nmi();
}

void other_cpu_point(void)
{
	void (*act)(void) = world.other_cpu;

	if (!act || random_below(3))
		return;
	world.other_cpu = NULL;
	act();
}

void list_init(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

void list_add(struct list_head *entry, struct list_head *head)
{
	entry->next = head->next;
	entry->prev = head;
	head->next->prev = entry;
	head->next = entry;
}

void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	list_init(entry);
}

bool irq_work_queue(struct irq_work *work)
{
	if (work->queued)
		return false;
	work->queued = true;
	world.irq_work = work;
	return true;
}

bool queue_work(enum wq wq, struct work_struct *work)
{
	if (work->queued)
		return false;
	work->queued = true;
	world.work = work;
	return true;
}

void run_irq_work(void)
{
	struct irq_work *irq_work = world.irq_work;

	if (irq_work) {
		world.irq_work = NULL;
		irq_work->queued = false;
		irq_work->func(irq_work);
	}
}

void run_works(void)
{
	struct work_struct *work;

	run_irq_work();
	work = world.work;
	if (work) {
		world.work = NULL;
		work->queued = false;
		work->func(work);
	}
}

/* The function runs on another CPU, as an interrupt. */
int smp_call_function_single(int cpu, void (*func)(void *), void *info, int wait)
{
	int before = world.cpu;

	must(wait, "who stops a writer waits until it is stopped");
	must(cpu >= 0 && cpu < WORLD_CPUS, "a CPU that is interrupted exists");
	if (!world.online[cpu])
		return -ENXIO;
	world.ipis++;
	world.cpu = cpu;
	world.irqs_off++;
	func(info);
	world.irqs_off--;
	world.cpu = before;
	return 0;
}

int security_perf_event_read(struct perf_event *event)
{
	return world.security;
}

/* Buffers */

struct perf_buffer *rb_alloc(int nr_pages, long watermark, int cpu, int flags)
{
	struct perf_buffer *rb;

	if (world.no_vmalloc)
		return NULL;
	rb = calloc(1, sizeof(*rb));
	rb->refcount.counter = 1;
	rb->nr_pages = nr_pages;
	rb->overwrite = !(flags & RING_BUFFER_WRITABLE);
	rb->user_page = &rb->the_user_page;
	list_init(&rb->event_list);
	perf_aux_init(&rb->aux);
	buffers++;
	return rb;
}

static struct perf_buffer *get(struct perf_buffer *rb)
{
	if (rb)
		rb->refcount.counter++;
	return rb;
}

struct perf_buffer *ring_buffer_get(struct perf_event *event)
{
	return get((event->parent ?: event)->rb);
}

void ring_buffer_put(struct perf_buffer *rb)
{
	must(rb->refcount.counter > 0, "a reference on a buffer is dropped once");
	if (--rb->refcount.counter)
		return;
	must(rb->aux.state == PERF_AUX_NONE, "a buffer is freed after its area");
	must(!rb->charge.user, "a buffer is freed after its charge");
	buffers--;
	free(rb);
}

void ring_buffer_attach(struct perf_event *event, struct perf_buffer *rb)
{
	struct perf_buffer *old = event->rb;

	must(event->mmap_mutex.held, "mmap_mutex is held when an event changes its buffer");
	if (old) {
		list_del(&event->rb_entry);
		world.detached++;
	}
	event->rb = rb;
	if (rb) {
		/* rb_alloc() has made the first reference for the event. */
		if (rb->event_list.next != &rb->event_list)
			get(rb);
		list_add(&event->rb_entry, &rb->event_list);
	}
	if (old)
		ring_buffer_put(old);
}

struct page *__perf_mmap_to_page(struct perf_buffer *rb, unsigned long pgoff)
{
	static struct page page[8];

	return pgoff > rb->nr_pages ? NULL : &page[pgoff];
}

/* Events */

void event_begin(struct perf_event *event, struct pmu *pmu)
{
	*event = (struct perf_event){
		.pmu = pmu, .cpu = -1, .oncpu = world.cpu, .state = PERF_EVENT_STATE_ACTIVE,
		.ctx = &task_context, .refcount = { 1 }, .attach_state = PERF_ATTACH_GROUP,
	};
	list_init(&event->rb_entry);
	list_init(&event->event_entry);
}

void put_event(struct perf_event *event)
{
	must(event->refcount.counter > 0, "a reference on an event is dropped once");
	event->refcount.counter--;
}

void perf_event_disable_inatomic(struct perf_event *event)
{
	must(event, "an event that is disabled exists");
	event->pending_disable = 1;
	world.disabled++;
}

void perf_event_update_userpage(struct perf_event *event)
{
	world.updates++;
}

void perf_event_update_time(struct perf_event *event)
{
	world.times++;
}

void perf_event_init_userpage(struct perf_event *event)
{
	must(event->rb, "the user page is that of a buffer");
	world.user_pages++;
}

__u32 perf_event_pid(struct perf_event *event, struct task *task)
{
	return 7;
}

__u32 perf_event_tid(struct perf_event *event, struct task *task)
{
	return 8;
}

void perf_output_wakeup(struct perf_output_handle *handle)
{
	world.wakeups++;
}

/* The data buffer: records are kept, and there is room until its reader is far behind. */

static struct perf_event *recording;

int perf_output_begin(struct perf_output_handle *out, struct perf_sample_data *data,
		      struct perf_event *event, unsigned int size)
{
	struct perf_buffer *rb = (event->parent ?: event)->rb;
	unsigned long used;

	/* An event without a buffer has no records. */
	if (!rb)
		return -ENOSPC;
	if (world.records_refused) {
		world.records_refused--;
		return -ENOSPC;
	}
	used = rb->head.counter - rb->user_page->data_tail;
	if (event->attr.write_backward)
		used = -used;
	used &= perf_data_size(rb) - 1;
	if (rb->paused || (used + size >= perf_data_size(rb) && !rb->overwrite)) {
		world.lost++;
		return -ENOSPC;
	}
	rb->head.counter += event->attr.write_backward ? -(long)size : (long)size;
	recording = event;
	world.record[world.records % RECORDS_KEPT] = (struct record){ .event = event };
	return 0;
}

void perf_output_end(struct perf_output_handle *out)
{
	world.records++;
	recording = NULL;
}

void perf_event_header__init(struct perf_event_header *header, struct perf_sample_data *data,
			     __u32 type, __u16 misc, __u16 size, struct perf_event *event)
{
	header->type = type;
	header->size = size + 48;
}

void perf_event__output_id_sample(struct perf_event *event, struct perf_output_handle *out,
				  struct perf_sample_data *data)
{
	world.record[world.records % RECORDS_KEPT].with_ids = true;
}

/* Into the record that is being written, or into a sample. */
unsigned int __output_copy(struct perf_output_handle *out, const void *from, unsigned long size)
{
	struct record *record = &world.record[world.records % RECORDS_KEPT];
	const struct perf_event_header *header = from;

	if (!recording) {
		must(world.sample_size + size <= sizeof(world.sample), "a sample has its size");
		memcpy(world.sample + world.sample_size, from, size);
		world.sample_size += size;
		return 0;
	}
	record->type = header->type;
	must(header->size == size + 48 * recording->attr.sample_id_all, "a record has its size");
	memcpy(record->word, header + 1, min(size - sizeof(*header), sizeof(record->word)));
	return 0;
}

void world_begin(void)
{
	world = (struct world){
		.task = { &mm, &user }, .memlock = 64 << 10, .paranoid = true, .order_there = 10,
		.pages_left = 1L << 40, .node_wanted = NUMA_NO_NODE, .signal_after = -1,
		.online = { true, true, true, true },
	};
	mm = (struct mm_struct){ };
	user = (struct user_struct){ };
	buffers = 0;
	memory_begin();
	unmap_all();
	list_init(&task_context.event_list);
	task_context.parent_ctx = NULL;
	for (int cpu = 0; cpu < WORLD_CPUS; cpu++) {
		list_init(&perf_cpu_context[cpu].ctx.event_list);
		perf_cpu_context[cpu].task_ctx = NULL;
	}
}

bool world_clean(void)
{
	bool clean = !pages_used() && !arrays_used() && !buffers && !world.modules && !world.rcu && !world.irqs_off &&
		     !mm.refs && !mm.pinned_vm.counter && !user.refs && !user.perf_mlock.counter;

	if (!clean)
		diag("pages %ld, buffers %d, modules %d, mm %d %ld, user %d %ld", pages_used(),
		     buffers, world.modules, mm.refs, mm.pinned_vm.counter, user.refs,
		     user.perf_mlock.counter);
	return clean;
}
