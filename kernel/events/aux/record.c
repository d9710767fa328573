// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records about AUX traces, written to the data buffer
 * (include/uapi/linux/perf_event.h).
 *
 * Derived from core.c:
 *  Copyright (C) 2008-2011 Red Hat, Inc., Peter Zijlstra
 */
#include <linux/export.h>
#include <linux/perf_event.h>

#include "../internal.h"

/*
 * Write a record of fixed size, followed by the event's sample_id.
 *
 * Inline, because each transaction with data writes a record, and a constant size
 * makes the copy cheap.
 *
 * Return: false if the data buffer has no room or output to it is paused; the core
 * counts the record as lost
 */
static __always_inline bool aux_put_record(struct perf_event *event,
					   struct perf_event_header *header,
					   u32 type, u16 size)
{
	bool with_ids = event->attr.sample_id_all;
	struct perf_output_handle out;
	struct perf_sample_data ids;

	*header = (struct perf_event_header) { .type = type, .size = size };
	if (with_ids)
		perf_event_header__init(header, &ids, type, 0, size, event);
	if (perf_output_begin(&out, &ids, event, header->size))
		return false;

	__output_copy(&out, header, size);
	if (with_ids)
		perf_event__output_id_sample(event, &out, &ids);
	perf_output_end(&out);
	return true;
}

/**
 * perf_aux_put_range - write a PERF_RECORD_AUX
 * @rb: the buffer of the area
 * @event: the event that has written the data
 * @offset: position of the new data in the stream
 * @size: number of bytes of new data
 * @flags: PERF_AUX_FLAG_*
 *
 * A record that is not written is counted as lost, by PERF_RECORD_LOST and
 * PERF_FORMAT_LOST. So is one whose event was redirected to another buffer while
 * its driver kept the transaction open: it does not describe that buffer's area.
 *
 * Context: within the transaction.
 *
 * Return: false if the record is lost
 */
bool perf_aux_put_range(struct perf_buffer *rb, struct perf_event *event,
			u64 offset, u64 size, u64 flags)
{
	struct perf_event *owner = event->parent ?: event;
	struct {
		struct perf_event_header	header;
		u64				offset;
		u64				size;
		u64				flags;
	} record;

	if (unlikely(READ_ONCE(owner->rb) != rb)) {
		atomic64_inc(&owner->lost_samples);
		return false;
	}

	record.offset = offset;
	record.size = size;
	record.flags = flags;
	return aux_put_record(event, &record.header, PERF_RECORD_AUX,
			      sizeof(record));
}

/**
 * perf_event_itrace_started - write no further PERF_RECORD_ITRACE_START
 * @event: an event whose PMU has PERF_PMU_CAP_ITRACE; called by its driver once
 *	the trace has begun
 */
void perf_event_itrace_started(struct perf_event *event)
{
	/* An inherited event on another CPU may look at its parent meanwhile. */
	WRITE_ONCE(event->attach_state,
		   event->attach_state | PERF_ATTACH_ITRACE);
}
EXPORT_SYMBOL_GPL(perf_event_itrace_started);

/**
 * perf_aux_put_itrace_start - write PERF_RECORD_ITRACE_START
 * @event: a parent event whose PMU has PERF_PMU_CAP_ITRACE
 *
 * The record is written each time until the driver calls
 * perf_event_itrace_started() for this event.
 *
 * Context: interrupts off, on the CPU of the event.
 */
void perf_aux_put_itrace_start(struct perf_event *event)
{
	struct {
		struct perf_event_header	header;
		u32				pid;
		u32				tid;
	} record;

	if (READ_ONCE(event->attach_state) & PERF_ATTACH_ITRACE)
		return;

	record.tid = perf_event_tid(event, current);
	record.pid = perf_event_pid(event, current);
	aux_put_record(event, &record.header, PERF_RECORD_ITRACE_START,
		       sizeof(record));
}

/**
 * perf_report_aux_output_id - report the hardware ID of an event in an AUX trace
 * @event: an event whose data are in the trace
 * @id: the ID by which the trace names the event
 *
 * Writes a PERF_RECORD_AUX_OUTPUT_HW_ID. Context: interrupts off, on the CPU
 * of the event.
 */
void perf_report_aux_output_id(struct perf_event *event, u64 id)
{
	struct {
		struct perf_event_header	header;
		u64				id;
	} record;

	record.id = id;
	aux_put_record(event->parent ?: event, &record.header,
		       PERF_RECORD_AUX_OUTPUT_HW_ID, sizeof(record));
}
EXPORT_SYMBOL_GPL(perf_report_aux_output_id);
