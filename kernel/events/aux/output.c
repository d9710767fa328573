// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transactions: perf_aux_output_begin() gives a driver the free part of an AUX
 * area, hardware writes, and perf_aux_output_end() reports what was written.
 *
 * Both run on the CPU of the event with interrupts off, or in NMI. Nothing in
 * this file takes a lock, sleeps or allocates memory.
 *
 * Derived from ring_buffer.c:
 *  Copyright (C) 2008-2011 Red Hat, Inc., Peter Zijlstra
 */
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

#include <trace/events/perf_aux.h>

#include "../internal.h"
#include "../maps.h"

/* End a transaction. Interrupts are off, so RCU keeps the buffer. */
static void aux_release(struct perf_buffer *rb)
{
	/*
	 * AUX_CLOSE, pairs with aux_stop_writer() and aux_reap_work(). From here
	 * on, neither the transaction nor a sample uses the area; the driver may,
	 * until its own function returns.
	 */
	xchg(&rb->aux.writer, NULL);
	if (unlikely(READ_ONCE(rb->aux.state) == PERF_AUX_CLOSING))
		perf_aux_reap(rb);
}

static bool aux_serves(struct perf_aux *aux, struct perf_event *event)
{
	/* AUX_PUBLISH, pairs with perf_aux_build(), which may have replaced the area */
	return smp_load_acquire(&aux->state) == PERF_AUX_LIVE &&
	       aux->pmu == event->pmu;
}

/*
 * Make the event the writer of its buffer's area. RCU keeps the buffer until then,
 * and afterwards the area does. The access is raw, as event->rb is not marked __rcu.
 * An inherited event has no buffer but its parent's.
 *
 * Return: the buffer; NULL if there is no area for this event
 */
static struct perf_buffer *aux_claim(struct perf_event *event)
{
	struct perf_buffer *rb = rcu_dereference_raw(event->rb);
	int cpu = smp_processor_id();
	struct perf_aux *aux;

	if (unlikely(!rb) && event->parent)
		rb = rcu_dereference_raw(event->parent->rb);
	if (!rb)
		return NULL;

	aux = &rb->aux;
	/* SET_OUTPUT can join AUX events of two PMUs through a third event. */
	if (unlikely(READ_ONCE(aux->pmu) != event->pmu))
		return NULL;
	if (unlikely(READ_ONCE(aux->last_cpu) != cpu)) {
		/* munmap() stops only one CPU: a writer has one CPU, or one task. */
		if (WARN_ON_ONCE(event->cpu < 0 ? !!event->parent :
						  event->cpu != cpu))
			return NULL;
		/* Before writer: aux_stop_writer() stops it even without one. */
		WRITE_ONCE(aux->last_cpu, cpu);
	}
	/* AUX_CLOSE and AUX_ENABLE; see aux.h */
	if (WARN_ON_ONCE(cmpxchg(&aux->writer, NULL, event)))
		return NULL;

	if (likely(aux_serves(aux, event)))
		return rb;

	aux_release(rb);
	return NULL;
}

/* AUX_HEAD: the caller has ordered the data before this store. */
static void aux_publish(struct perf_buffer *rb)
{
	WRITE_ONCE(rb->aux.user_page->aux_head, rb->aux.head);
}

static inline void aux_wake_reader(struct perf_output_handle *handle,
				   struct perf_aux *aux)
{
	trace_perf_aux_wakeup(handle->event, aux->head);
	perf_output_wakeup(handle);
}

/* Wake the reader and disable the event until the reader enables it again. */
static void aux_full(struct perf_output_handle *handle, struct perf_aux *aux)
{
	aux_wake_reader(handle, aux);
	trace_perf_aux_full(handle->event, aux->head);
	perf_event_disable_inatomic(handle->event);
}

/*
 * Set head, size and aux_flags of the handle; in full-trace mode also wakeup.
 *
 * Return: false if the area is full
 */
static bool aux_open(struct perf_output_handle *handle, struct perf_aux *aux)
{
	u64 head = aux->head, tail;

	handle->head = head;
	handle->aux_flags = 0;
	if (aux->overwrite) {
		handle->size = 0;
		return true;
	}

	handle->wakeup = aux->wakeup;
	/* AUX_TAIL: hardware is started only if there is room. */
	tail = READ_ONCE(aux->user_page->aux_tail);
	/* On 32-bit this load may tear; only the lower half is reliable. */
	tail = head - (unsigned long)(head - tail);
	handle->size = perf_aux_room(head, tail, perf_aux_size(handle->rb));
	return handle->size;
}

/*
 * The format of the data and OVERWRITE tell the reader nothing by themselves. All
 * others are in the lower half, which perf_aux::lost_flags has.
 */
#define AUX_FLAGS_TO_TELL	((u32)~(PERF_AUX_FLAG_OVERWRITE | \
					PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK))

/*
 * Write the record of a range that has data or flags to tell. A lost record is
 * counted as such; its flags go into the next one, so that the reader learns that
 * the trace has a hole.
 */
static __always_inline void aux_report(struct perf_buffer *rb,
				       struct perf_event *event,
				       u64 offset, u64 size, u64 flags)
{
	u32 tell;

	flags |= rb->aux.lost_flags;
	tell = flags & AUX_FLAGS_TO_TELL;
	if (size || tell)
		rb->aux.lost_flags = perf_aux_put_range(rb, event, offset, size,
							flags) ? 0 : tell;
}

/**
 * perf_aux_forget - end a transaction that its driver has left open
 * @event: perf_event::aux_busy is set; the hardware does not write any more
 * @flags: PERF_AUX_FLAG_PARTIAL if data may have been lost, or 0
 *
 * Some drivers do not end a transaction if pmu::stop() without PERF_EF_UPDATE
 * comes before pmu::del() or the next pmu::start(), or if pmu::add() fails. What
 * the hardware wrote is not reported; the next transaction overwrites it.
 *
 * Context: interrupts off, on the CPU of the event; its PMU does not use the
 * transaction any more.
 */
void perf_aux_forget(struct perf_event *event, u64 flags)
{
	struct perf_output_handle *handle = event->aux_handle;
	struct perf_buffer *rb = handle->rb;

	WRITE_ONCE(handle->event, NULL);
	event->aux_busy = false;
	if (rb->aux.overwrite)
		flags |= PERF_AUX_FLAG_OVERWRITE;
	aux_report(rb, event, rb->aux.head, 0, flags);
	aux_release(rb);
}

/* Return: false if the area is full; the event is then being disabled */
static bool aux_begin(struct perf_output_handle *handle,
		      struct perf_event *event, struct perf_buffer *rb)
{
	handle->rb = rb;
	if (unlikely(!aux_open(handle, &rb->aux))) {
		handle->event = event;
		aux_full(handle, &rb->aux);
		handle->event = NULL;
		return false;
	}

	event->aux_handle = handle;
	event->aux_busy = true;
	trace_perf_aux_begin(event, handle);
	/* perf_get_aux() in an NMI: set event after the rest of the handle. */
	barrier();
	WRITE_ONCE(handle->event, event);
	return true;
}

/**
 * perf_aux_output_begin - begin a transaction on the AUX area of an event
 * @handle: initialized by this function and used until perf_aux_output_end().
 *	head, modulo the size of the area, is where the hardware is to write;
 *	size is how many bytes it may write, 0 in overwrite mode; wakeup is the
 *	head at which the reader wants to be woken.
 * @event: the event; a child writes to the buffer of its parent
 *
 * If the area is full, the event is disabled and its reader is woken. The reader
 * moves perf_event_mmap_page::aux_tail, then continues the trace by
 * PERF_EVENT_IOC_ENABLE.
 *
 * Context: interrupts off, or NMI; on the CPU that runs the event.
 *
 * Return: what pmu::setup_aux() returned; NULL if there is no area for this PMU,
 * the area is being unmapped or is full, or the event is being disabled
 */
void *perf_aux_output_begin(struct perf_output_handle *handle,
			    struct perf_event *event)
{
	struct perf_buffer *rb;

	handle->event = NULL;
	/* The driver has not called perf_aux_output_end() in pmu::stop(). */
	if (unlikely(event->aux_busy))
		perf_aux_forget(event, PERF_AUX_FLAG_PARTIAL);
	if (event->pending_disable)
		return NULL;

	/* AUX_ENABLE: a reader that sets this again may have made room before. */
	WRITE_ONCE(event->pending_enable, false);
	rb = aux_claim(event);
	if (!rb)
		return NULL;

	if (likely(aux_begin(handle, event, rb)))
		return rb->aux.priv;

	aux_release(rb);
	return NULL;
}
EXPORT_SYMBOL_GPL(perf_aux_output_begin);

/**
 * perf_aux_output_flag - set flags of the record that a transaction will write
 * @handle: of an open transaction
 * @flags: PERF_AUX_FLAG_*, except OVERWRITE, which the core sets. With
 *	TRUNCATED, the event is disabled at the end of the transaction.
 *
 * Context: as perf_aux_output_begin().
 */
void perf_aux_output_flag(struct perf_output_handle *handle, u64 flags)
{
	WARN_ON_ONCE(flags & PERF_AUX_FLAG_OVERWRITE);
	handle->aux_flags |= flags & ~(u64)PERF_AUX_FLAG_OVERWRITE;
}
EXPORT_SYMBOL_GPL(perf_aux_output_flag);

/**
 * perf_aux_output_end - end a transaction and report what was written
 * @handle: from perf_aux_output_begin(). In overwrite mode, the driver has set
 *	head to the hardware's position.
 * @size: number of bytes written, which the driver has made visible; in overwrite
 *	mode, number of bytes before head that may hold data
 *
 * Publishes perf_event_mmap_page::aux_head, writes a PERF_RECORD_AUX
 * (include/uapi/linux/perf_event.h) if there are data or flags to report, and wakes
 * the reader at a watermark. PERF_AUX_FLAG_TRUNCATED disables the event and wakes
 * the reader, too. If the data buffer has no room for the record, that is lost and
 * counted as such; its flags go into the next record.
 *
 * Context: as perf_aux_output_begin(). The area may be freed once the driver's own
 * function has returned. A driver should call this in pmu::stop(): until the call,
 * munmap() cannot free the area.
 */
void perf_aux_output_end(struct perf_output_handle *handle, unsigned long size)
{
	struct perf_event *event = handle->event;
	struct perf_buffer *rb = handle->rb;
	struct perf_aux *aux = &rb->aux;
	u64 flags = handle->aux_flags, from, head;
	bool passed;

	if (aux->overwrite) {
		flags |= PERF_AUX_FLAG_OVERWRITE;
		from = handle->head;
		head = from;
	} else {
		from = aux->head;
		head = from + size;
	}
	trace_perf_aux_end(event, from, size, flags);

	aux->head = head;
	/* First, so that a reader of the record finds its data below aux_head. */
	aux_publish(rb);
	aux_report(rb, event, from, size, flags);

	passed = perf_aux_crossed(aux->head, &aux->wakeup, &aux->watermark);
	if (handle->aux_flags & PERF_AUX_FLAG_TRUNCATED)
		aux_full(handle, aux);
	else if (passed)
		aux_wake_reader(handle, aux);

	event->aux_busy = false;
	/* A sample in an NMI uses the handle until writer is cleared. */
	aux_release(rb);
	handle->event = NULL;
}
EXPORT_SYMBOL_GPL(perf_aux_output_end);

/**
 * perf_aux_output_publish - publish what was written, in a kernel that has crashed
 * @handle: of an open transaction, which never ends; in overwrite mode, the
 *	driver has set head to the hardware's position
 * @size: number of bytes written; 0 in overwrite mode
 *
 * Updates perf_event_mmap_page::aux_head, for readers of the crash dump. Writes no
 * record and wakes no reader: the NMI may have interrupted the code that does so.
 *
 * Context: NMI, on the CPU of the transaction.
 */
void perf_aux_output_publish(struct perf_output_handle *handle,
			     unsigned long size)
{
	struct perf_buffer *rb = handle->rb;

	rb->aux.head = rb->aux.overwrite ? handle->head : rb->aux.head + size;
	aux_publish(rb);
}
EXPORT_SYMBOL_GPL(perf_aux_output_publish);

/**
 * perf_aux_output_skip - skip bytes at the beginning of the free part
 * @handle: of an open transaction; the hardware has not written yet
 * @size: number of bytes, which the driver has padded, for example to align
 *	the hardware's output
 *
 * Context: as perf_aux_output_begin().
 *
 * Return: 0, or -ENOSPC if there is less room than that
 */
int perf_aux_output_skip(struct perf_output_handle *handle, unsigned long size)
{
	struct perf_aux *aux = &handle->rb->aux;

	if (handle->size < size)
		return -ENOSPC;

	aux->head += size;
	/* AUX_HEAD: drivers pad by memset() without a barrier of their own. */
	smp_wmb();
	aux_publish(handle->rb);
	if (perf_aux_crossed(aux->head, &aux->wakeup, &aux->watermark)) {
		aux_wake_reader(handle, aux);
		handle->wakeup = aux->wakeup;
	}

	handle->size -= size;
	handle->head = aux->head;
	return 0;
}
EXPORT_SYMBOL_GPL(perf_aux_output_skip);

/**
 * perf_get_aux - get the driver's data of the area of an open transaction
 * @handle: zeroed, or was passed to perf_aux_output_begin()
 *
 * Context: as perf_aux_output_begin().
 *
 * Return: what pmu::setup_aux() returned, or NULL if no transaction is open
 */
void *perf_get_aux(struct perf_output_handle *handle)
{
	return handle->event ? handle->rb->aux.priv : NULL;
}
EXPORT_SYMBOL_GPL(perf_get_aux);

/**
 * perf_output_copy_aux - copy a part of the AUX area into a record
 * @source: of an open transaction
 * @record: the record, in the data buffer
 * @from: position of the first byte, modulo the size of the area
 * @to: position after the last byte; if equal to @from, the part is the whole
 *	area
 *
 * Context: as perf_aux_output_begin(); the hardware is stopped.
 *
 * Return: number of bytes copied, or -EFAULT
 */
long perf_output_copy_aux(struct perf_output_handle *source,
			  struct perf_output_handle *record,
			  unsigned long from, unsigned long to)
{
	struct perf_aux *aux = &source->rb->aux;
	unsigned long mask = perf_aux_size(source->rb) - 1;
	unsigned long size = ((to - from - 1) & mask) + 1;
	unsigned long left, chunk, at = from & mask;

	for (left = size; left; left -= chunk, at = (at + chunk) & mask) {
		chunk = min(left, PAGE_SIZE - offset_in_page(at));
		if (__output_copy(record, aux->pages[at >> PAGE_SHIFT] +
				  offset_in_page(at), chunk))
			return -EFAULT;
	}
	return size;
}
EXPORT_SYMBOL_GPL(perf_output_copy_aux);
