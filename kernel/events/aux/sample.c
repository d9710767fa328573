// SPDX-License-Identifier: GPL-2.0-only
/*
 * PERF_SAMPLE_AUX: samples of an event that carry the newest data of the AUX
 * event that leads its group.
 *
 * A sample is laid out before it is written: first it is said how many bytes of
 * AUX data there will be, then so many are written, come what may.
 */
#include <linux/perf_event.h>

#include "../internal.h"
#include "sample.h"

/* Zeros are padding in the formats of all AUX PMUs that can be sampled. */
static void aux_pad_sample(struct perf_output_handle *record, unsigned long size)
{
	static const u64 zeros[8];
	unsigned long chunk;

	for (; size; size -= chunk) {
		chunk = min(size, sizeof(zeros));
		perf_output_copy(record, zeros, chunk);
	}
}

/*
 * The buffer of a trace that can be sampled here and now, or NULL; under RCU.
 * So it is while a transaction is open, on this CPU, in an area whose newest
 * data are kept; the driver finds by perf_get_aux() whether it was just about to
 * be. It is not where the group is being scheduled out, for the
 * trace goes first; where the area has gone, is full or for a reader that takes
 * all of it; or where we have interrupted another sample.
 */
static struct perf_buffer *aux_sampled(struct perf_event *trace)
{
	struct perf_buffer *rb;

	if (!trace || READ_ONCE(trace->state) != PERF_EVENT_STATE_ACTIVE ||
	    READ_ONCE(trace->oncpu) != smp_processor_id())
		return NULL;

	/* Who is inherited writes to its parent's. */
	rb = READ_ONCE((trace->parent ?: trace)->rb);
	if (!rb || READ_ONCE(rb->aux.writer) != trace || !rb->aux.overwrite ||
	    READ_ONCE(rb->aux.in_sample))
		return NULL;
	return rb;
}

/**
 * perf_aux_sample_size - lay out the AUX data of a sample
 * @event: the event that is sampled
 * @sample: aux_size is set
 * @room: the most that fits in, in bytes
 *
 * Context: on the CPU of the event, NMI possibly.
 *
 * Return: bytes, a multiple of 8
 */
unsigned long perf_aux_sample_size(struct perf_event *event,
				   struct perf_sample_data *sample,
				   unsigned long room)
{
	struct perf_buffer *rb;
	unsigned long most = 0;

	rcu_read_lock();
	rb = aux_sampled(event->aux_event);
	if (rb)
		most = min(room, perf_aux_size(rb));
	rcu_read_unlock();

	sample->aux_size = round_up(most, sizeof(u64));
	return sample->aux_size;
}

/*
 * Let the driver copy its newest data, if it still has any.
 *
 * Interrupts are off: so the stop of the area's writer, which comes as one,
 * waits until its pages are left alone. pmu::snapshot_aux() does not change
 * the state of the event, for it may have interrupted who does.
 */
static long aux_snapshot(struct perf_event *trace,
			 struct perf_output_handle *record, unsigned long size)
{
	unsigned long irq_flags;
	struct perf_buffer *rb;
	long written = 0;

	local_irq_save(irq_flags);
	rcu_read_lock();
	rb = aux_sampled(trace);
	if (rb) {
		WRITE_ONCE(rb->aux.in_sample, true);
		/* An NMI from here on finds in_sample set, on this CPU. */
		barrier();
		written = trace->pmu->snapshot_aux(trace, record, size);
		barrier();
		WRITE_ONCE(rb->aux.in_sample, false);
	}
	rcu_read_unlock();
	local_irq_restore(irq_flags);
	return written;
}

/**
 * perf_aux_sample_write - write the AUX data of a sample
 * @event: the event that is sampled
 * @record: of the sample, in the data buffer
 * @size: from perf_aux_sample_size()
 *
 * What the driver does not deliver, is padded: its area may have been unmapped
 * since the sample was laid out.
 *
 * Context: as perf_aux_sample_size().
 */
void perf_aux_sample_write(struct perf_event *event,
			   struct perf_output_handle *record, unsigned long size)
{
	long written = aux_snapshot(event->aux_event, record, size);

	if (WARN_ON_ONCE(written > (long)size))
		return;
	/* An error is one before anything was copied. */
	aux_pad_sample(record, size - max(written, 0));
}
