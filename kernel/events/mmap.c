// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of perf's buffers: user page and data pages here, at offset 0 of
 * the file; the AUX area, at any other, in aux/area.c.
 *
 * A buffer lives as long as one of its mappings, or an event that writes to
 * it. It may be mapped by way of several events, as PERF_EVENT_IOC_SET_OUTPUT
 * shares it:
 *
 *   perf_event::mmap_count   mappings by way of this event's file; while it is
 *                            not 0, perf_event::rb stays what it is
 *   perf_buffer::mmap_count  mappings of this buffer, by whichever event; with
 *                            the last one all events are detached from it
 *
 * Both count mappings of the AUX area, too.
 */
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/security.h>

#include "internal.h"

/* What is charged is charged to one mm and for one size. */
#define PERF_VM_FLAGS	(VM_DONTEXPAND | VM_DONTCOPY | VM_DONTDUMP)

/**
 * perf_vma_event - the event whose file a mapping shows
 * @vma: the mapping
 *
 * Return: the event, which the file keeps alive
 */
struct perf_event *perf_vma_event(const struct vm_area_struct *vma)
{
	return vma->vm_file->private_data;
}

/* x86 allows RDPMC to who has an event mapped. */
static void perf_tell_mapped(struct perf_event *event, struct mm_struct *mm)
{
	struct pmu *pmu = event->pmu;

	if (pmu->event_mapped)
		pmu->event_mapped(event, mm);
}

static void perf_tell_unmapped(struct perf_event *event, struct mm_struct *mm)
{
	struct pmu *pmu = event->pmu;

	if (pmu->event_unmapped)
		pmu->event_unmapped(event, mm);
}

/**
 * perf_mmap_open - one mapping more of an event's buffer, as by mremap()
 * @vma: the new one
 */
void perf_mmap_open(struct vm_area_struct *vma)
{
	struct perf_event *event = perf_vma_event(vma);
	struct perf_buffer *rb = event->rb;

	atomic_inc(&rb->mmap_count);
	atomic_inc(&event->mmap_count);
	perf_tell_mapped(event, vma->vm_mm);
}

/* An event that outputs to a buffer, with a reference on it. */
static struct perf_event *perf_buffer_get_event(struct perf_buffer *rb)
{
	struct perf_event *event, *found = NULL;

	rcu_read_lock();
	list_for_each_entry_rcu(event, &rb->event_list, rb_entry) {
		/* One without references is being freed, and detaches itself. */
		if (atomic_long_inc_not_zero(&event->refcount)) {
			found = event;
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

/*
 * Nobody can read the buffer any more: no event shall write to it.
 *
 * The list is looked at anew for each of them: perf_event::mmap_mutex comes
 * before the lock of the list, and PERF_EVENT_IOC_SET_OUTPUT may have moved
 * an event to another buffer until it is held.
 */
static void perf_buffer_detach_events(struct perf_buffer *rb)
{
	struct perf_event *writer;

	while ((writer = perf_buffer_get_event(rb))) {
		mutex_lock(&writer->mmap_mutex);
		if (writer->rb == rb)
			ring_buffer_attach(writer, NULL);
		mutex_unlock(&writer->mmap_mutex);
		put_event(writer);
	}
}

/**
 * perf_mmap_close - one mapping less of an event's buffer
 * @vma: the one that goes; its pages are not mapped any more
 */
void perf_mmap_close(struct vm_area_struct *vma)
{
	struct perf_event *event = perf_vma_event(vma);
	struct perf_buffer *rb;
	bool last;

	perf_tell_unmapped(event, vma->vm_mm);

	/* The event's reference goes when it is detached. */
	rb = ring_buffer_get(event);
	last = atomic_dec_and_test(&rb->mmap_count);
	if (atomic_dec_and_mutex_lock(&event->mmap_count, &event->mmap_mutex)) {
		ring_buffer_attach(event, NULL);
		mutex_unlock(&event->mmap_mutex);
	}
	if (last) {
		perf_buffer_detach_events(rb);
		perf_mlock_uncharge(&rb->charge);
	}
	ring_buffer_put(rb);
}

/**
 * perf_mmap_may_split - refuse to split a mapping
 * @vma: a mapping of a perf buffer
 * @where: where it would be split
 *
 * open() and close() count mappings that are whole.
 *
 * Return: -EINVAL
 */
int perf_mmap_may_split(struct vm_area_struct *vma, unsigned long where)
{
	return -EINVAL;
}

static vm_fault_t perf_mmap_fault(struct vm_fault *vmf)
{
	struct perf_event *event = perf_vma_event(vmf->vma);
	bool write = vmf->flags & FAULT_FLAG_WRITE;
	struct page *page = NULL;

	/* Only the user page may be written: its tails are the reader's. */
	if (!write || !vmf->pgoff)
		page = __perf_mmap_to_page(event->rb, vmf->pgoff);
	if (!page)
		return VM_FAULT_SIGBUS;

	page->index = vmf->pgoff;
	page->mapping = vmf->vma->vm_file->f_mapping;
	get_page(page);
	vmf->page = page;
	return 0;
}

static vm_fault_t perf_mmap_mkwrite(struct vm_fault *vmf)
{
	return vmf->pgoff ? VM_FAULT_SIGBUS : 0;
}

static const struct vm_operations_struct perf_mmap_vm_ops = {
	.open		= perf_mmap_open,
	.close		= perf_mmap_close,
	.may_split	= perf_mmap_may_split,
	.fault		= perf_mmap_fault,
	.page_mkwrite	= perf_mmap_mkwrite,
};

/* A new buffer for an event, which its first mapping reads. */
static int perf_buffer_create(struct perf_event *event,
			      struct vm_area_struct *vma, unsigned long nr_pages)
{
	const struct perf_event_attr *attr = &event->attr;
	long watermark = attr->watermark ? attr->wakeup_watermark : 0;
	bool writable = vma->vm_flags & VM_WRITE;
	struct perf_mlock charge;
	struct perf_buffer *rb;
	int ret;

	ret = perf_mlock_charge(&charge, nr_pages + 1);
	if (ret)
		return ret;

	rb = rb_alloc(nr_pages, watermark, event->cpu,
		      writable ? RING_BUFFER_WRITABLE : 0);
	if (!rb) {
		perf_mlock_uncharge(&charge);
		return -ENOMEM;
	}

	rb->charge = charge;
	atomic_set(&rb->mmap_count, 1);
	ring_buffer_attach(event, rb);

	perf_event_init_userpage(event);
	perf_event_update_time(event);
	perf_event_update_userpage(event);
	return 0;
}

static int perf_mmap_data(struct perf_event *event, struct vm_area_struct *vma)
{
	unsigned long nr_pages = vma_pages(vma) - 1;
	struct perf_buffer *rb = event->rb;
	int ret = 0;

	/* Offsets in the data are taken from counters with a mask. */
	if (nr_pages && !is_power_of_2(nr_pages))
		return -EINVAL;

	WARN_ON_ONCE(event->ctx->parent_ctx);

	if (rb && data_page_nr(rb) != nr_pages)
		return -EINVAL;
	if (rb && !atomic_inc_not_zero(&rb->mmap_count)) {
		/* Its last mapping goes right now, and will not miss us. */
		ring_buffer_attach(event, NULL);
		rb = NULL;
	}
	if (!rb)
		ret = perf_buffer_create(event, vma, nr_pages);
	if (ret)
		return ret;

	atomic_inc(&event->mmap_count);
	vma->vm_ops = &perf_mmap_vm_ops;
	return 0;
}

static int perf_mmap_allowed(struct perf_event *event,
			     const struct vm_area_struct *vma)
{
	bool many_writers = event->attr.inherit && event->cpu < 0;

	if (many_writers || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	return security_perf_event_read(event);
}

/**
 * perf_mmap - mmap() of a perf event's file
 * @file: of the event
 * @vma: the mapping to be: user page and data at offset 0, AUX area elsewhere
 *
 * Context: process, may sleep; mmap_lock is held for writing.
 *
 * Return: 0 or, in this order
 *
 * * -EINVAL: the event is inherited and follows tasks to all CPUs, so that one
 *   buffer would have many writers; the mapping is private
 * * what the security module says
 * * -EINVAL: the size of the data is no power of two of pages, or another than
 *   that of the buffer there is
 * * -EPERM: beyond the limit of locked memory
 * * -ENOMEM: no memory
 *
 * and what perf_aux_mmap() says.
 */
int perf_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct perf_event *event = file->private_data;
	int ret = perf_mmap_allowed(event, vma);

	if (ret)
		return ret;

	mutex_lock(&event->mmap_mutex);
	ret = vma->vm_pgoff ? perf_aux_mmap(event, vma)
			    : perf_mmap_data(event, vma);
	mutex_unlock(&event->mmap_mutex);

	if (!ret) {
		vm_flags_set(vma, PERF_VM_FLAGS);
		perf_tell_mapped(event, vma->vm_mm);
	}
	return ret;
}
