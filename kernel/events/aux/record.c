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
 * Return: false if the data buffer has no room, or is paused; perf counts it
 * as lost
 */
static bool aux_put_record(struct perf_event *event,
			   struct perf_event_header *header, u32 type, u16 size)
{
	struct perf_output_handle out;
	/* Who, when and where, as attr.sample_id_all asks for it */
	struct perf_sample_data ids;

	perf_event_header__init(header, &ids, type, 0, size, event);
	if (perf_output_begin(&out, &ids, event, header->size))
		return false;

	perf_output_copy(&out, header, size);
	perf_event__output_id_sample(event, &out, &ids);
	perf_output_end(&out);
	return true;
}

/* PERF_RECORD_AUX */
static bool aux_put_range(struct perf_event *event,
			  const struct perf_aux_range *range)
{
	struct {
		struct perf_event_header	header;
		struct perf_aux_range		range;
	} record = { .range = *range };

	return aux_put_record(event, &record.header, PERF_RECORD_AUX,
			      sizeof(record));
}

static bool aux_has_backlog(struct perf_aux *aux)
{
	return aux->backlog.size || aux->backlog.flags;
}

/* The record itself, and all that sample_id_all may put behind it */
#define AUX_RECORD_MOST	128

/* perf counts each record that finds no room: do not ask in vain. */
static bool aux_record_fits(struct perf_buffer *rb)
{
	u64 used = local_read(&rb->head) - READ_ONCE(rb->user_page->data_tail);

	return !rb->paused &&
	       (rb->overwrite || used + AUX_RECORD_MOST <= perf_data_size(rb));
}

static void aux_put_backlog(struct perf_aux *aux, struct perf_event *event)
{
	if (aux_put_range(event, &aux->backlog))
		aux->backlog = (struct perf_aux_range) { };
}

/**
 * perf_aux_log - write a PERF_RECORD_AUX, now or as a part of the next one
 * @aux: the area
 * @event: whose transaction it was
 * @range: what it wrote
 *
 * Where the data buffer has no room, the range is kept, and the next record
 * tells of both: aux_head has moved, so the reader must hear what the data is.
 *
 * Context: within the transaction.
 */
void perf_aux_log(struct perf_aux *aux, struct perf_event *event,
		  const struct perf_aux_range *range)
{
	if (likely(!aux_has_backlog(aux))) {
		if (!aux_put_range(event, range))
			aux->backlog = *range;
		return;
	}
	perf_aux_merge(&aux->backlog, range, aux->overwrite);
	aux_put_backlog(aux, event);
}

/**
 * perf_aux_log_backlog - write what found no room before, if there is some now
 * @rb: the buffer
 * @event: whose transaction is open
 *
 * Context: within a transaction.
 */
void perf_aux_log_backlog(struct perf_buffer *rb, struct perf_event *event)
{
	if (unlikely(aux_has_backlog(&rb->aux)) && aux_record_fits(rb))
		aux_put_backlog(&rb->aux, event);
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
 * perf_log_itrace_start - say which task an instruction trace begins with
 * @event: about to be scheduled in; nothing happens unless its PMU has
 *	PERF_PMU_CAP_ITRACE and has not yet started
 *
 * Context: interrupts off, on the CPU of the event.
 */
void perf_log_itrace_start(struct perf_event *event)
{
	struct {
		struct perf_event_header	header;
		u32				pid;
		u32				tid;
	} record;
	bool wanted;

	event = event->parent ?: event;
	wanted = event->pmu->capabilities & PERF_PMU_CAP_ITRACE;
	if (!wanted || event->attach_state & PERF_ATTACH_ITRACE)
		return;

	record.tid = perf_event_tid(event, current);
	record.pid = perf_event_pid(event, current);
	aux_put_record(event, &record.header, PERF_RECORD_ITRACE_START,
		       sizeof(record));
}

/**
 * perf_report_aux_output_id - tell the reader which hardware ID an event has
 * @event: whose data is in an AUX trace
 * @hw_id: what the trace calls it
 *
 * Writes a PERF_RECORD_AUX_OUTPUT_HW_ID. Context: interrupts off, on the CPU
 * of the event.
 */
void perf_report_aux_output_id(struct perf_event *event, u64 hw_id)
{
	struct {
		struct perf_event_header	header;
		u64				hw_id;
	} record = { .hw_id = hw_id };

	aux_put_record(event->parent ?: event, &record.header,
		       PERF_RECORD_AUX_OUTPUT_HW_ID, sizeof(record));
}
EXPORT_SYMBOL_GPL(perf_report_aux_output_id);
