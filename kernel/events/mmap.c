// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of perf buffers. Offset 0 of an event's file is the user page,
 * followed by the data pages; this file maps them. The AUX area, at another
 * offset, is mapped by aux/area.c.
 *
 * PERF_EVENT_IOC_SET_OUTPUT shares a buffer between events, so it may be mapped
 * through the files of several events:
 *
 *   perf_event::mmap_count   number of mappings through this event's file; while
 *                            it is not 0, perf_event::rb does not change
 *   perf_buffer::mmap_count  number of mappings of this buffer through any file;
 *                            with the last one, all events are detached from it
 *
 * Both include mappings of the AUX area.
 *
 * Copyright (C) 2008 Thomas Gleixner <tglx@linutronix.de>
 * Copyright (C) 2008-2011 Red Hat, Inc., Ingo Molnar
 * Copyright (C) 2008-2011 Red Hat, Inc., Peter Zijlstra
 * Copyright © 2009 Paul Mackerras, IBM Corp. <paulus@au1.ibm.com>
 */
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/security.h>

#include "internal.h"

/*
 * The pages are charged to one mm, once. So a mapping does not grow, and fork() does not
 * copy it, unless the process asks for that (MADV_DOFORK), which is refused for AUX areas.
 */
#define PERF_VM_FLAGS	(VM_DONTEXPAND | VM_DONTCOPY | VM_DONTDUMP)

/* For example, x86 lets a process use RDPMC while it maps an event. */
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
 * perf_mmap_open - count a copy of a mapping, for example one made by mremap()
 * @vma: the copy
 */
void perf_mmap_open(struct vm_area_struct *vma)
{
	struct perf_event *event = perf_vma_event(vma);
	struct perf_buffer *rb = event->rb;

	atomic_inc(&rb->mmap_count);
	atomic_inc(&event->mmap_count);
	perf_tell_mapped(event, vma->vm_mm);
}

/* perf_event::mmap_mutex is held: the event may have moved to another buffer. */
static void perf_event_detach(struct perf_event *event, struct perf_buffer *rb)
{
	if (event->rb == rb)
		ring_buffer_attach(event, NULL);
}

/* Return: an event that writes to the buffer, with a reference on it, or NULL */
static struct perf_event *perf_buffer_get_event(struct perf_buffer *rb)
{
	struct perf_event *writer, *found = NULL;

	rcu_read_lock();
	list_for_each_entry_rcu(writer, &rb->event_list, rb_entry) {
		/* No reference: _free_event() is running and will detach it. */
		if (!atomic_long_inc_not_zero(&writer->refcount))
			continue;
		found = writer;
		break;
	}
	rcu_read_unlock();
	return found;
}

/*
 * The buffer is no longer mapped: detach all events that write to it.
 *
 * Events are looked up one by one, because perf_event::mmap_mutex is taken
 * before the lock of the list.
 */
static void perf_buffer_detach_events(struct perf_buffer *rb)
{
	struct perf_event *writer;

	while ((writer = perf_buffer_get_event(rb))) {
		mutex_lock(&writer->mmap_mutex);
		perf_event_detach(writer, rb);
		mutex_unlock(&writer->mmap_mutex);
		put_event(writer);
	}
}

/**
 * perf_mmap_close - a mapping of an event's buffer has been removed
 * @vma: the mapping; its pages are no longer mapped
 */
void perf_mmap_close(struct vm_area_struct *vma)
{
	struct perf_event *event = perf_vma_event(vma);
	struct perf_buffer *rb;
	bool last;

	perf_tell_unmapped(event, vma->vm_mm);

	/* Detaching the event drops its reference on the buffer. */
	rb = ring_buffer_get(event);
	last = atomic_dec_and_test(&rb->mmap_count);
	if (atomic_dec_and_mutex_lock(&event->mmap_count, &event->mmap_mutex)) {
		perf_event_detach(event, rb);
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
 * @addr: address of the split
 *
 * vm_operations_struct::open and close count whole mappings.
 *
 * Return: -EINVAL
 */
int perf_mmap_may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static vm_fault_t perf_mmap_fault(struct vm_fault *vmf)
{
	struct perf_event *event = perf_vma_event(vmf->vma);
	bool write = vmf->flags & FAULT_FLAG_WRITE;
	struct page *page = NULL;

	/* User space may write data_tail and aux_tail in the user page only. */
	if (!write || !vmf->pgoff)
		page = __perf_mmap_to_page(event->rb, vmf->pgoff);
	if (!page)
		return VM_FAULT_SIGBUS;

	/* Threads that touch the page at the same time write the same. */
	WRITE_ONCE(page->index, vmf->pgoff);
	WRITE_ONCE(page->mapping, vmf->vma->vm_file->f_mapping);
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

/* Create a buffer for an event that has none. */
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

	/* Offsets in the data are computed by masking byte counters. */
	if (nr_pages && !is_power_of_2(nr_pages))
		return -EINVAL;

	WARN_ON_ONCE(event->ctx->parent_ctx);

	if (rb && data_page_nr(rb) != nr_pages)
		return -EINVAL;
	if (rb && !atomic_inc_not_zero(&rb->mmap_count)) {
		/* The last mapping of that buffer is being removed. */
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

/* User page and mmap() must agree on a place for the AUX area. */
static int perf_mmap_check_aux(struct perf_event *event,
			       const struct vm_area_struct *vma)
{
	struct perf_buffer *rb = event->rb;
	struct perf_aux_request request;

	if (!rb)
		return -EINVAL;

	request = (struct perf_aux_request) {
		.map_offset	= (u64)vma->vm_pgoff << PAGE_SHIFT,
		.map_size	= vma->vm_end - vma->vm_start,
		/* User space may change these at any time: read them once. */
		.aux_offset	= READ_ONCE(rb->user_page->aux_offset),
		.aux_size	= READ_ONCE(rb->user_page->aux_size),
		.data_end	= perf_data_size(rb) + PAGE_SIZE,
	};
	return perf_aux_check_request(&request, PAGE_SHIFT);
}

static int perf_mmap_allowed(struct perf_event *event,
			     const struct vm_area_struct *vma)
{
	/* Each CPU that runs a child would write to the same buffer. */
	bool many_writers = event->attr.inherit && event->cpu < 0;

	if (many_writers || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	return security_perf_event_read(event);
}

static int perf_mmap_locked(struct perf_event *event, struct vm_area_struct *vma)
{
	int ret;

	lockdep_assert_held(&event->mmap_mutex);

	if (!vma->vm_pgoff)
		return perf_mmap_data(event, vma);

	ret = perf_mmap_check_aux(event, vma);
	return ret ?: perf_aux_mmap(event, vma);
}

/**
 * perf_mmap - file_operations::mmap of perf events
 * @file: of the event
 * @vma: the mapping: user page and data at offset 0, or the AUX area
 *
 * Context: process, may sleep; mmap_lock is held for writing.
 *
 * Return: 0 or
 *
 * * -EINVAL: attr.inherit is set and the event is bound to no CPU; the mapping is
 *   private; the number of data pages is not a power of two, or differs from that
 *   of the existing buffer; aux_offset and aux_size of the user page
 *   (include/uapi/linux/perf_event.h) do not match the mapping
 * * -ENOMEM: out of memory, or more than INT_MAX pages
 * * -EPERM: beyond RLIMIT_MEMLOCK
 * * an error of the security module, or of perf_aux_mmap()
 */
int perf_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct perf_event *event = file->private_data;
	int ret;

	ret = perf_mmap_allowed(event, vma);
	if (!ret && vma_pages(vma) > INT_MAX)
		ret = -ENOMEM;
	if (ret)
		return ret;

	mutex_lock(&event->mmap_mutex);
	ret = perf_mmap_locked(event, vma);
	mutex_unlock(&event->mmap_mutex);

	if (!ret) {
		vm_flags_set(vma, PERF_VM_FLAGS);
		perf_tell_mapped(event, vma->vm_mm);
	}
	return ret;
}
