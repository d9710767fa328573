// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records in the data buffer that belong to AUX traces (all of them in
 * include/uapi/linux/perf_event.h).
 */
#include <linux/export.h>
#include <linux/perf_event.h>

#include "../internal.h"

/*
 * Write a record of fixed size with the event's sample_id behind it.
 *
 * Every transaction with data pays for this: so it is inline, its sizes are
 * constants, and what attr.sample_id_all asks for costs nobody else a call.
 *
 * Return: false if the data buffer has no room, or is paused; perf counts it
 * as lost
 */
static __always_inline bool aux_put_record(struct perf_event *event,
					   struct perf_event_header *header,
					   u32 type, u16 size)
{
	bool with_ids = event->attr.sample_id_all;
	struct perf_output_handle out;
	/* Who, when and where */
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
 * @event: whose transaction it was
 * @offset: where in the stream the new data begins
 * @size: bytes of new data
 * @flags: PERF_AUX_FLAG_*
 *
 * Context: within the transaction.
 *
 * Return: false if the data buffer has no room, or is paused
 */
bool perf_aux_put_range(struct perf_event *event, u64 offset, u64 size,
			u64 flags)
{
	struct {
		struct perf_event_header	header;
		struct perf_aux_range		range;
	} record;

	record.range = (struct perf_aux_range) { offset, size, flags };
	return aux_put_record(event, &record.header, PERF_RECORD_AUX,
			      sizeof(record));
}

/**
 * perf_event_itrace_started - the event's PERF_RECORD_ITRACE_START is out
 * @event: of a PMU with PERF_PMU_CAP_ITRACE, which calls this
 */
void perf_event_itrace_started(struct perf_event *event)
{
	event->attach_state |= PERF_ATTACH_ITRACE;
}

/**
 * perf_aux_put_itrace_start - write a PERF_RECORD_ITRACE_START, unless it is out
 * @event: of a PMU with PERF_PMU_CAP_ITRACE, and nobody's child
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

	if (event->attach_state & PERF_ATTACH_ITRACE)
		return;

	record.tid = perf_event_tid(event, current);
	record.pid = perf_event_pid(event, current);
	aux_put_record(event, &record.header, PERF_RECORD_ITRACE_START,
		       sizeof(record));
}

/**
 * perf_report_aux_output_id - tell the reader which hardware ID an event has
 * @event: whose data is in an AUX trace
 * @id: what the trace calls it
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
