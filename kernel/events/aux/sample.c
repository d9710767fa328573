// SPDX-License-Identifier: GPL-2.0-only
/*
 * PERF_SAMPLE_AUX: samples that carry the newest data of the AUX event that
 * leads their group.
 *
 * perf determines the size of a sample first, then writes it. The area may be
 * unmapped in between; what is missing is then padded, because the record's header
 * already says how long it is.
 */
#include <linux/perf_event.h>
#include <linux/rcupdate.h>

#include "../internal.h"

/* Zeros are padding in the formats of all AUX PMUs that support samples. */
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
 * Return: the buffer to sample, under RCU. NULL unless the trace has an open
 * transaction on this CPU, its area is in overwrite mode, and this context has
 * not interrupted another sample of it.
 */
static struct perf_buffer *aux_sampled(struct perf_event *trace)
{
	struct perf_buffer *rb;

	/* The AUX event is scheduled out before the others of its group. */
	if (!trace || READ_ONCE(trace->state) != PERF_EVENT_STATE_ACTIVE ||
	    READ_ONCE(trace->oncpu) != smp_processor_id())
		return NULL;

	/* A child writes to the buffer of its parent. */
	rb = READ_ONCE((trace->parent ?: trace)->rb);
	if (!rb || READ_ONCE(rb->aux.writer) != trace || !rb->aux.overwrite ||
	    READ_ONCE(rb->aux.in_sample))
		return NULL;
	return rb;
}

/**
 * perf_aux_sample_size - determine the size of the AUX data of a sample
 * @event: the event that is sampled
 * @sample: aux_size is set by this function
 * @room: maximum number of bytes
 *
 * Context: on the CPU of the event, possibly in NMI.
 *
 * Return: number of bytes, a multiple of 8
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
 * Let the driver copy its newest data.
 *
 * munmap() stops the writer by an interrupt. With interrupts off, the pages
 * therefore stay until the copy is done. This may be an NMI that interrupted the
 * driver: pmu::snapshot_aux() does not change the state of the event, and uses
 * the handle only if perf_output_handle::event is set.
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
		/* An NMI during the copy sees in_sample. */
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
 * @record: the sample, in the data buffer
 * @size: from perf_aux_sample_size(); exactly this many bytes are written
 *
 * Context: as perf_aux_sample_size().
 */
void perf_aux_sample_write(struct perf_event *event,
			   struct perf_output_handle *record, unsigned long size)
{
	long written = aux_snapshot(event->aux_event, record, size);

	if (WARN_ON_ONCE(written > (long)size))
		return;
	/* If the driver returns an error, it has copied nothing. */
	aux_pad_sample(record, size - max(written, 0));
}
