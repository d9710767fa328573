// SPDX-License-Identifier: GPL-2.0-only
/* mmap.c: data buffers are mapped once or more, charged once, and go with the last mapping. */
#include "check.h"

#define RW	(VM_SHARED | VM_WRITE)

static void tell_mapped(struct perf_event *event, struct mm_struct *mm)
{
	must(mm == world.task.mm, "a PMU is told of the right mm");
	world.mapped++;
}

static void tell_unmapped(struct perf_event *event, struct mm_struct *mm)
{
	world.mapped--;
	world.unmapped++;
}

static struct pmu pmu = { .event_mapped = tell_mapped, .event_unmapped = tell_unmapped };
static struct perf_event event, second, third;
static struct mapping m, n;

static void begin(void)
{
	world_begin();
	event_begin(&event, &pmu);
	event_begin(&second, &pmu);
	event_begin(&third, &pmu);
}

static bool refused(int error, unsigned long pgoff, unsigned long pages, unsigned long flags)
{
	int ret = map(&m, &event, pgoff, pages, flags);

	if (ret != error)
		diag("%lu pages at %lu: %d, %d wanted", pages, pgoff, ret, error);
	return ret == error && !m.vma.vm_ops && !event.rb && !event.mmap_count.counter &&
	       !world.mapped && !event.mmap_mutex.held && world_clean();
}

static void test_refusals(void)
{
	begin();
	point(refused(-EINVAL, 0, 5, VM_WRITE), "mmap: a private mapping");
	event.attr.inherit = true;
	point(refused(-EINVAL, 0, 5, RW), "mmap: inherited, and bound to no CPU");
	event.cpu = 0;
	point(!map(&m, &event, 0, 5, RW), "mmap: inherited, and bound to a CPU");
	unmap(&m);
	begin();
	world.security = -EACCES;
	point(refused(-EACCES, 0, 5, RW), "mmap: the security module's error");
	begin();
	point(refused(-EINVAL, 0, 4, RW) && refused(-EINVAL, 0, 7, RW),
	      "mmap: data pages that are no power of two");
	point(refused(-ENOMEM, 0, 1UL + INT_MAX, RW) && refused(-EINVAL, 0, INT_MAX, RW),
	      "mmap: more than INT_MAX pages");
	point(refused(-EINVAL, 8, 4, RW), "mmap: an area before there is a buffer");
	world.no_vmalloc = true;
	point(refused(-ENOMEM, 0, 5, RW), "mmap: no memory");
	begin();
	world.memlock = 0;
	point(refused(-EPERM, 0, 513, RW), "mmap: beyond RLIMIT_MEMLOCK");
}

static void test_shared(void)
{
	struct perf_buffer *rb;

	begin();
	map(&m, &event, 0, 5, RW);
	rb = event.rb;
	point(rb && rb->refcount.counter == 1 && rb->mmap_count.counter == 1 &&
	      event.mmap_count.counter == 1 && world.mapped == 1 && !rb->overwrite &&
	      rb->charge.gift == 5 && !rb->charge.pinned && world.user_pages == 1 &&
	      world.times == 1 && world.updates == 1 && !world.warnings &&
	      m.vma.vm_flags == (RW | VM_DONTEXPAND | VM_DONTCOPY | VM_DONTDUMP),
	      "mmap: a buffer");
	point(map(&n, &event, 0, 9, RW) == -EINVAL && rb->mmap_count.counter == 1,
	      "mmap: another size than that of the buffer");
	point(!map(&n, &event, 0, 5, RW) && rb->mmap_count.counter == 2 &&
	      event.mmap_count.counter == 2 && world.task.user->perf_mlock.counter == 5,
	      "mmap: once more, and charged once");
	unmap(&n);
	point(event.rb == rb && rb->mmap_count.counter == 1 && event.mmap_count.counter == 1,
	      "munmap: one of two");
	m.vma.vm_ops->open(&m.vma);
	point(rb->mmap_count.counter == 2 && world.mapped == 2, "mremap: a copy is counted");
	point(m.vma.vm_ops->may_split(&m.vma, 0) == -EINVAL, "munmap: no part of it");
	unmap(&m);

	/* Another event writes to the buffer; its own mappings are none. */
	mutex_lock(&second.mmap_mutex);
	ring_buffer_attach(&second, rb);
	mutex_unlock(&second.mmap_mutex);
	mutex_lock(&third.mmap_mutex);
	ring_buffer_attach(&third, rb);
	mutex_unlock(&third.mmap_mutex);
	unmap(&m);
	point(!event.rb && !second.rb && !third.rb && world.detached == 3 && world.mapped == 0 &&
	      third.refcount.counter == 1 &&
	      world.unmapped == 3 && event.refcount.counter == 1 && second.refcount.counter == 1 &&
	      !event.mmap_mutex.held && !second.mmap_mutex.held && world_clean(),
	      "munmap: with the last one, all events are detached");
}

static void test_detach(void)
{
	struct perf_buffer *rb;

	/* The buffer is mapped through both files. */
	begin();
	map(&m, &event, 0, 5, RW);
	rb = event.rb;
	mutex_lock(&second.mmap_mutex);
	ring_buffer_attach(&second, rb);
	mutex_unlock(&second.mmap_mutex);
	map(&n, &second, 0, 5, RW);
	unmap(&m);
	point(!event.rb && second.rb == rb && rb->mmap_count.counter == 1,
	      "munmap: the last one of an event detaches that event alone");
	/* An event without references detaches itself. */
	event_begin(&event, &pmu);
	mutex_lock(&event.mmap_mutex);
	ring_buffer_attach(&event, rb);
	event.refcount.counter = 0;
	mutex_unlock(&event.mmap_mutex);
	unmap(&n);
	point(event.rb == rb && !second.rb && !rb->charge.user,
	      "munmap: an event that is being freed is left alone");
	mutex_lock(&event.mmap_mutex);
	ring_buffer_attach(&event, NULL);
	mutex_unlock(&event.mmap_mutex);
	point(world_clean(), "munmap: the last event frees the buffer");

	/* mmap() comes while the last munmap() is at work. */
	begin();
	map(&m, &event, 0, 5, RW);
	rb = event.rb;
	/* perf_mmap_close() has come as far as this. */
	rb->refcount.counter++;
	rb->mmap_count.counter--;
	event.mmap_count.counter--;
	point(!map(&n, &event, 0, 5, RW) && event.rb != rb && event.rb->mmap_count.counter == 1,
	      "mmap: during the last munmap(): a new buffer");
	perf_mlock_uncharge(&rb->charge);
	ring_buffer_put(rb);
	rb = event.rb;
	rb->refcount.counter++;
	rb->mmap_count.counter--;
	event.mmap_count.counter--;
	world.no_vmalloc = true;
	point(map(&n, &event, 0, 5, RW) == -ENOMEM && !event.rb,
	      "mmap: during the last munmap(): no memory for another one");
	perf_mlock_uncharge(&rb->charge);
	ring_buffer_put(rb);
	point(world_clean(), "mmap: and both go");

	/* A child's event has no mappings. */
	begin();
	event.ctx->parent_ctx = &event;
	map(&m, &event, 0, 5, RW);
	point(world.warnings == 1, "mmap: of a child's event");
	unmap(&m);
}

static void test_faults(void)
{
	struct vm_fault fault = { .vma = &m.vma };
	const struct vm_operations_struct *ops;

	begin();
	map(&m, &event, 0, 5, RW);
	ops = m.vma.vm_ops;
	for (unsigned long i = 0; i < 7; i++) {
		struct page *page = __perf_mmap_to_page(event.rb, i);
		int refs = page ? page->refs : 0;

		fault.pgoff = i;
		fault.flags = 0;
		fault.page = NULL;
		point(i < 5 ? !ops->fault(&fault) && fault.page == page &&
			      page->refs == refs + 1 && page->index == i &&
			      page->mapping == &m :
			      ops->fault(&fault) == VM_FAULT_SIGBUS, "fault: page %lu", i);
		fault.flags = FAULT_FLAG_WRITE;
		point(ops->fault(&fault) == (i ? VM_FAULT_SIGBUS : 0), "fault: page %lu, write", i);
		point(ops->page_mkwrite(&fault) == (i ? VM_FAULT_SIGBUS : 0),
		      "fault: page %lu, made writable", i);
	}
	unmap(&m);

	begin();
	map(&m, &event, 0, 5, VM_SHARED);
	point(event.rb->overwrite, "mmap: a read-only buffer is overwritten");
	unmap(&m);
	point(world_clean(), "mmap: nothing is left");
}

void test_mmap(unsigned long steps)
{
	test_refusals();
	test_shared();
	test_detach();
	test_faults();
}
