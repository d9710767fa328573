// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output transactions: a driver takes the free part of the AUX area, lets its
 * hardware write, and gives back what was written.
 *
 * Begin and end run on the CPU of the event, with interrupts off or in NMI;
 * nothing here takes a lock, sleeps or allocates.
 */
#include <linux/export.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include <trace/events/perf_aux.h>

#include "../internal.h"

/* Give the area back, and with it the transaction's reference on the buffer. */
static void aux_release(struct perf_buffer *rb)
{
	/*
	 * AUX_CLOSE, as in aux_claim(): nothing of the area is used after it,
	 * and no sample is taken of it on this CPU.
	 */
	xchg(&rb->aux.writer, NULL);
	if (unlikely(READ_ONCE(rb->aux.state) == PERF_AUX_CLOSING))
		perf_aux_reap(rb);
	else
		ring_buffer_put(rb);
}

/* Whether there is an area, and an event may write to it. */
static bool aux_serves(struct perf_aux *aux, struct perf_event *event)
{
	/*
	 * AUX_PUBLISH, pairs with the release in aux_create(). An event of
	 * another PMU may output to the same buffer.
	 */
	return smp_load_acquire(&aux->state) == PERF_AUX_LIVE &&
	       aux->pmu == event->pmu;
}

/*
 * Take the area of an event for a transaction.
 *
 * Return: its buffer, to be given to aux_release(), or NULL
 */
static struct perf_buffer *aux_claim(struct perf_event *event)
{
	struct perf_buffer *rb = ring_buffer_get(event);
	struct perf_event *writer;
	struct perf_aux *aux;

	if (!rb)
		return NULL;

	aux = &rb->aux;
	/* Who finds the writer knows where it is. */
	WRITE_ONCE(aux->last_cpu, smp_processor_id());
	/*
	 * One at a time: the hardware of a CPU writes one stream. An event of
	 * another PMU may hold the area until it sees that it is not its own.
	 * AUX_ENABLE.
	 */
	writer = cmpxchg(&aux->writer, NULL, event);
	if (unlikely(writer)) {
		WARN_ON_ONCE(writer->pmu == event->pmu);
		ring_buffer_put(rb);
		return NULL;
	}

	/* AUX_CLOSE, the cmpxchg() above pairs with aux_stop_writer() */
	if (likely(aux_serves(aux, event)))
		return rb;

	aux_release(rb);
	return NULL;
}

/* AUX_HEAD: what is published has been written; the caller sees to that. */
static void aux_publish(struct perf_buffer *rb)
{
	WRITE_ONCE(rb->user_page->aux_head, rb->aux.head);
}

static bool aux_watermark_passed(struct perf_aux *aux)
{
	return perf_aux_crossed(aux->head, &aux->mark, aux->watermark);
}

static inline void aux_wake_reader(struct perf_output_handle *handle,
				   struct perf_aux *aux)
{
	trace_perf_aux_wakeup(handle->event, aux->head);
	perf_output_wakeup(handle);
}

/* No room: the reader has to make some, and then to enable the event. */
static void aux_full(struct perf_output_handle *handle, struct perf_aux *aux)
{
	aux_wake_reader(handle, aux);
	trace_perf_aux_full(handle->event, aux->head);
	perf_event_disable_inatomic(handle->event);
}

/*
 * Fill in the handle, but for whose it is; how much may be written, unless
 * newest data win.
 *
 * Return: false if the area is full
 */
static bool aux_open(struct perf_output_handle *handle, struct perf_aux *aux)
{
	u64 head = aux->head, tail;

	handle->head = head;
	handle->size = 0;
	handle->aux_flags = 0;
	if (aux->overwrite)
		return true;

	handle->wakeup = aux->mark + aux->watermark;
	/* AUX_TAIL: hardware starts only where there is room. */
	tail = READ_ONCE(handle->rb->user_page->aux_tail);
	/* Where a long has 32 bits it is read in two, and only the lower is sure. */
	tail = head - (unsigned long)(head - tail);
	handle->size = perf_aux_room(head, tail, perf_aux_size(handle->rb));
	return handle->size;
}

/*
 * Whether a record would tell the reader something. The format of the data is
 * no news by itself, and neither is a position in a buffer that wraps.
 */
static bool aux_worth_a_record(const struct perf_aux_range *range)
{
	return range->size || range->flags & ~(u64)(PERF_AUX_FLAG_OVERWRITE |
					PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK);
}

/*
 * PERF_RECORD_LOST, of which there is news, and PERF_RECORD_AUX, each with all
 * that sample_id_all may put behind it
 */
#define AUX_RECORDS_MOST	(24 + 48 + 32 + 48)

static bool aux_record_fits(struct perf_buffer *rb, struct perf_event *event)
{
	unsigned long used = local_read(&rb->head) -
			     READ_ONCE(rb->user_page->data_tail);

	if (is_write_backward(event))
		used = -used;
	return !rb->paused &&
	       (rb->overwrite || used + AUX_RECORDS_MOST < perf_data_size(rb));
}

/*
 * Tell of a range together with what found no room before: aux_head has moved,
 * so the reader must hear what the data is. Without a new range nothing is
 * tried in vain: perf counts each record that finds no room.
 */
static noinline void aux_report_backlog(struct perf_buffer *rb,
					struct perf_event *event,
					struct perf_aux_range range)
{
	struct perf_aux *aux = &rb->aux;

	if (aux_worth_a_record(&range))
		perf_aux_merge(&aux->backlog, &range, aux->overwrite);
	else if (!aux_record_fits(rb, event))
		return;
	aux->behind = !perf_aux_put_range(event, aux->backlog.offset,
					  aux->backlog.size,
					  aux->backlog.flags);
}

/* Write the record of a transaction; or keep it, where there is no room. */
static void aux_report(struct perf_buffer *rb, struct perf_event *event,
		       struct perf_aux_range range)
{
	struct perf_aux *aux = &rb->aux;

	if (unlikely(aux->behind)) {
		aux_report_backlog(rb, event, range);
	} else if (aux_worth_a_record(&range) &&
		   !perf_aux_put_range(event, range.offset, range.size,
				       range.flags)) {
		aux->backlog = range;
		aux->behind = true;
	}
}

/**
 * perf_aux_output_begin - open a transaction on the AUX area of an event
 * @handle: to be used until perf_aux_output_end(); head is where the hardware
 *	begins, modulo the size of the area; size is how much it may write, 0 in
 *	overwrite mode; wakeup is the head at which the reader wants to be woken
 * @event: whose trace it is; its parent's buffer is used if it is inherited
 *
 * Where the area is full, the event is disabled and its reader woken: when the
 * reader has moved perf_event_mmap_page::aux_tail, PERF_EVENT_IOC_ENABLE starts
 * it again.
 *
 * Context: interrupts off, or NMI; on the CPU that runs the event.
 *
 * Return: what pmu::setup_aux() returned, or NULL: there is no area, it is
 * being unmapped, it is full, or the event is about to be disabled
 */
void *perf_aux_output_begin(struct perf_output_handle *handle,
			    struct perf_event *event)
{
	struct perf_buffer *rb;

	/* An NMI that samples finds whose the handle is when all of it is set. */
	handle->event = NULL;
	/* One that is about to be disabled does not begin again. */
	if (event->pending_disable)
		return NULL;
	rb = aux_claim(event);
	if (!rb)
		return NULL;

	/* Who enables an event whose area was full wants to know what is in it. */
	if (unlikely(rb->aux.behind))
		aux_report_backlog(rb, event, (struct perf_aux_range) { });

	handle->rb = rb;
	if (likely(aux_open(handle, &rb->aux))) {
		trace_perf_aux_begin(event, handle->head, handle->size);
		barrier();
		WRITE_ONCE(handle->event, event);
		return rb->aux.priv;
	}

	handle->event = event;
	aux_full(handle, &rb->aux);
	handle->event = NULL;
	aux_release(rb);
	return NULL;
}
EXPORT_SYMBOL_GPL(perf_aux_output_begin);

/* pmu::add() of s390 may fail with a transaction open, and forgets it. */
static void aux_forget(struct perf_event *event)
{
	struct perf_buffer *rb = ring_buffer_get(event);

	if (!rb)
		return;
	if (READ_ONCE(rb->aux.writer) == event)
		aux_release(rb);
	ring_buffer_put(rb);
}

/**
 * perf_aux_refused - clean up after an event that could not be scheduled in
 * @event: which pmu::add() refused
 * @ctx: its context, locked
 *
 * If it is to be disabled, because perf_aux_output_begin() found its area full,
 * that happens here: usually it happens when an event is scheduled out, but
 * this one was never in.
 */
void perf_aux_refused(struct perf_event *event, struct perf_event_context *ctx)
{
	if (!has_aux(event))
		return;
	aux_forget(event);
	if (event->pending_disable) {
		perf_event_set_state(event, PERF_EVENT_STATE_OFF);
		perf_cgroup_event_disable(event, ctx);
		event->pending_disable = 0;
	}
}

/* On the CPU of the event, with its context locked. */
static void aux_finish_disable(struct perf_event *event,
			       struct perf_cpu_context *cpuctx,
			       struct perf_event_context *ctx, void *info)
{
	if (!event->pending_disable)
		return;
	event->pending_disable = 0;
	__perf_event_disable(event, cpuctx, ctx, info);
}

/**
 * perf_aux_enable - prepare PERF_EVENT_IOC_ENABLE of an event that may be on
 * @event: to be enabled; a reader may have made room in its area
 *
 * A full area disables its event, but the interrupt that does it may still be
 * on its way: for the caller the event would be on, nothing would be done, and
 * nobody would enable it again. So the CPU that it runs on is asked, where
 * either the driver finds the reader's room afterwards, or has found none
 * before. An event that does not run has nothing pending, and begins anew.
 *
 * Context: process; as for event_function_call().
 */
void perf_aux_enable(struct perf_event *event)
{
	if (!has_aux(event))
		return;
	/* AUX_ENABLE, pairs with the cmpxchg() in aux_claim() */
	smp_mb();
	if (READ_ONCE(event->state) == PERF_EVENT_STATE_ACTIVE)
		event_function_call(event, aux_finish_disable, NULL);
}

/**
 * perf_aux_output_flag - add to the flags of the transaction's record
 * @handle: of an open transaction
 * @flags: PERF_AUX_FLAG_*, but for OVERWRITE, which is the core's to know.
 *	TRUNCATED says that there was no room: the event is disabled at the end.
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
 * perf_aux_output_end - close a transaction: tell what was written
 * @handle: from perf_aux_output_begin(); in overwrite mode head is the new
 *	head, as the driver says
 * @size: bytes written; the driver has made sure that they are visible
 *
 * Publishes perf_event_mmap_page::aux_head, writes a PERF_RECORD_AUX
 * (include/uapi/linux/perf_event.h) if there is something to tell, wakes the
 * reader at a watermark. With PERF_AUX_FLAG_TRUNCATED the event is disabled and
 * the reader woken.
 *
 * Context: as perf_aux_output_begin(). To be called from pmu::stop() at the
 * latest, so that whoever stops the event may free the area.
 */
void perf_aux_output_end(struct perf_output_handle *handle, unsigned long size)
{
	struct perf_event *event = handle->event;
	struct perf_buffer *rb = handle->rb;
	struct perf_aux *aux = &rb->aux;
	struct perf_aux_range range = {
		.offset	= aux->overwrite ? handle->head : aux->head,
		.size	= size,
		.flags	= handle->aux_flags,
	};
	bool passed;

	if (aux->overwrite) {
		range.flags |= PERF_AUX_FLAG_OVERWRITE;
		aux->head = handle->head;
	} else {
		aux->head += size;
	}

	trace_perf_aux_end(event, range.offset, range.size, range.flags);
	aux_report(rb, event, range);
	aux_publish(rb);

	passed = aux_watermark_passed(aux);
	if (handle->aux_flags & PERF_AUX_FLAG_TRUNCATED)
		aux_full(handle, aux);
	else if (passed)
		aux_wake_reader(handle, aux);

	/* The driver's samples need the handle while the transaction is open. */
	aux_release(rb);
	handle->event = NULL;
}
EXPORT_SYMBOL_GPL(perf_aux_output_end);

/**
 * perf_aux_output_skip - leave out bytes at the begin of the free part
 * @handle: of an open transaction, before hardware writes
 * @size: bytes that the driver has padded, for example for alignment
 *
 * Context: as perf_aux_output_begin().
 *
 * Return: 0, or -ENOSPC where there is less room than that
 */
int perf_aux_output_skip(struct perf_output_handle *handle, unsigned long size)
{
	struct perf_aux *aux = &handle->rb->aux;

	if (handle->size < size)
		return -ENOSPC;

	aux->head += size;
	/* AUX_HEAD: drivers pad by memset(), and leave the barrier to us. */
	smp_wmb();
	aux_publish(handle->rb);
	if (aux_watermark_passed(aux)) {
		aux_wake_reader(handle, aux);
		handle->wakeup = aux->mark + aux->watermark;
	}

	handle->size -= size;
	handle->head = aux->head;
	return 0;
}
EXPORT_SYMBOL_GPL(perf_aux_output_skip);

/**
 * perf_get_aux - the driver's data of the area of an open transaction
 * @handle: where perf_aux_output_begin() may have been called on
 *
 * Context: as perf_aux_output_begin().
 *
 * Return: what pmu::setup_aux() returned; NULL: no transaction is open
 */
void *perf_get_aux(struct perf_output_handle *handle)
{
	return handle->event ? handle->rb->aux.priv : NULL;
}
EXPORT_SYMBOL_GPL(perf_get_aux);

/**
 * perf_output_copy_aux - copy a part of the AUX area into a data record
 * @source: of an open transaction
 * @record: where to
 * @from: where the part begins, in bytes; counted modulo the area
 * @to: where it ends; if it is the same place, the part is the whole area
 *
 * Context: as perf_aux_output_begin(); the hardware is stopped.
 *
 * Return: bytes copied, or -EFAULT
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
