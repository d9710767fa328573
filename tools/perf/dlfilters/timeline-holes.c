// SPDX-License-Identifier: GPL-2.0
/*
 * timeline-holes.c - where trace is missing, and why
 *
 * A trace that begins, and had not ended before, has a hole. AUX records tell of two kinds:
 * of TRUNCATED, the place is where the record is, and tracing begins again behind it; of
 * PARTIAL, it is somewhere in the transaction. Packets tell of overflows, and of bytes that
 * are not in the recording. What is left is an error of perf's decoder.
 */
#include "timeline-holes.h"

#include <string.h>

#include "timeline-calls.h"
#include "timeline-json.h"

#define GAPS	(PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_COLLISION)

static const struct {
	u32 bit;
	const char *name, *why;
} reasons[] = {
	{ TL_TRUNCATED, "TRUNCATED", "the area was full, and tracing stopped until it was read" },
	{ TL_PARTIAL, "PARTIAL", "the driver could not keep all data of this transaction" },
	{ TL_LOST, "LOST", "the data buffer was full, and records were lost" },
	{ TL_OVERFLOW, "overflow", "the processor lost packets (OVF)" },
	{ TL_ERROR, "decoder error", "perf could not follow the trace; --itrace=e says where" },
	{ TL_SNAPSHOT, "between snapshots", "nothing is kept from between snapshots" },
	{ TL_SAMPLE, "between samples", "nothing is kept from between samples" },
	{ TL_OVERWRITTEN, "overwritten", "perf did not read this part before it was written over" },
};

static u64 numbers[TL_ARRAY_SIZE(reasons)];

/* The reasons' names, one behind the other. */
static const char *names_of(u32 why)
{
	static char text[128];
	size_t i;

	text[0] = 0;
	for (i = 0; i < TL_ARRAY_SIZE(reasons); i++) {
		if (!(why & reasons[i].bit))
			continue;
		if (*text)
			strcat(text, ", ");
		strcat(text, reasons[i].name);
	}
	return text;
}

/* The rest of a slice. */
static void write_reason(char *p, u32 why, u64 lost)
{
	bool any = false;
	size_t i;

	p = tl_put(p, ",\"cat\":\"hole\",\"name\":\"hole: ");
	p = tl_put_escaped(p, names_of(why));
	p = tl_put(p, "\",\"args\":{");
	for (i = 0; i < TL_ARRAY_SIZE(reasons); i++) {
		if (!(why & reasons[i].bit))
			continue;
		if (any)
			p = tl_put(p, ",");
		any = true;
		p = tl_put_string(p, reasons[i].name);
		p = tl_put(p, ":");
		p = tl_put_string(p, reasons[i].why);
	}
	if (lost) {
		p = tl_put(p, ",\"records lost\":");
		p = tl_put_number(p, lost);
	}
	tl_json_commit(tl_put(p, "}}"));
}

static void hole_of_area(struct tl_area *area, u64 from, u64 to, u32 why, u64 lost)
{
	size_t i;

	from = tl_tick(&area->hole_last, from);
	write_reason(tl_slice_of_holes(area, from, tl_tick(&area->hole_last, to)), why, lost);
	for (i = 0; i < TL_ARRAY_SIZE(reasons); i++)
		numbers[i] += !!(why & reasons[i].bit);
}

static void hole_of_thread(struct tl_thread *thread, u64 from, u64 to, u32 why)
{
	tl_calls_cut(thread, from, names_of(why));
	thread->ended = false;
	from = tl_tick(&thread->last, from);
	write_reason(tl_slice_of_thread(thread, from, tl_tick(&thread->last, to)), why, 0);
}

/* Both the thread that ran before and the one that runs now have a hole. */
static void make_hole(struct tl_area *area, struct tl_thread *thread, u64 from, u64 to, u32 why)
{
	struct tl_thread *before = area->thread;

	hole_of_area(area, from, to, why, 0);
	if (before && before->area == area->key)
		hole_of_thread(before, from, to, why);
	if (thread && thread != before && thread->last)
		hole_of_thread(thread, from, to, why);
	tl_area_run(area, NULL, from);
}

/* Whether data is missing in the transaction of this time, which may not have ended yet. */
static bool is_partial(struct tl_area *area, u64 time)
{
	const struct tl_event *event;

	if (area->gap_to && area->seen <= area->gap_to) {
		area->gap_to = 0;
		return true;
	}
	event = tl_rec.partial ? tl_events_aux_after(area->key, time) : NULL;
	if (!event || !(event->flags & GAPS))
		return false;
	area->gap_known = event->time;
	return true;
}

/* Why there is a hole before the trace begins; 0 if there is none. */
static u32 find_reason(struct tl_area *area, u64 time, u32 met)
{
	u32 why = area->why;

	if (met & TL_PT_TRUNCATED)
		why |= TL_TRUNCATED;
	if (met & TL_PT_PARTIAL)
		why |= TL_PARTIAL;
	if (why & (TL_TRUNCATED | TL_PARTIAL))
		return why;
	if (!area->ended && is_partial(area, time))
		return why | TL_PARTIAL;
	if (met & TL_PT_OVERFLOW)
		return why | TL_OVERFLOW;
	if (met & TL_PT_GAP && !tl_rec.snapshot)
		return why | TL_OVERWRITTEN;
	if (area->ended)
		return 0;
	return why | TL_ERROR;
}

/* A transaction was partial, and no hole is there to show it. */
static void show_gap(struct tl_area *area)
{
	if (area->gap_to && area->gap_to != area->gap_known)
		hole_of_area(area, area->gap_from, area->gap_to, TL_PARTIAL, 0);
	area->gap_to = 0;
}

void tl_holes_event(const struct tl_event *event)
{
	struct tl_area *area = tl_area_of(event->key);

	if (event->type == TL_EVENT_LOST) {
		hole_of_area(area, event->from, event->time, TL_LOST, event->count);
		area->why |= TL_LOST;
		return;
	}
	if (event->flags & PERF_AUX_FLAG_TRUNCATED) {
		area->why |= TL_TRUNCATED;
		area->why_time = event->time;
	}
	if (event->flags & GAPS && area->gap_known != event->time) {
		show_gap(area);
		area->gap_from = area->aux_time;
		area->gap_to = event->time;
	}
	area->aux_time = event->time;
}

/* The packets of a sample at which the trace ends or begins: what else they tell. */
static u32 follow_packets(struct tl_area *area, u64 time, bool begins)
{
	if (tl_rec.sampling)
		return 0;
	if (!area->pt) {
		area->pt = tl_alloc(sizeof(*area->pt));
		tl_pt_init(area->pt, area->key);
	}
	if (begins)
		return tl_pt_begin(area->pt, time);
	tl_pt_end(area->pt, time);
	return 0;
}

/* Where a hole begins before the first sample is not known. */
static void before_first(struct tl_area *area, u64 time, u32 met)
{
	u32 why = area->why & TL_TRUNCATED;

	if (why)
		time = area->why_time;
	if (met & TL_PT_OVERFLOW)
		why |= TL_OVERFLOW;
	if (why)
		hole_of_area(area, time, time, why, 0);
}

static u32 before_begin(struct tl_area *area, u64 time)
{
	u32 met = follow_packets(area, time, true), why = 0;

	if (area->seen)
		why = find_reason(area, time, met);
	else
		before_first(area, time, met);
	area->why = 0;
	return why;
}

/* Between two snapshots, or two samples, perf does not say that the trace begins again. */
static u32 before_piece(struct tl_area *area, u64 time)
{
	bool sampled = area->sampled;

	area->sampled = false;
	if (tl_rec.sampling)
		return sampled ? TL_SAMPLE : 0;
	if (!area->snapshots) {
		area->snapshots = tl_alloc(sizeof(*area->snapshots));
		tl_snapshots_init(area->snapshots, area->key);
	}
	return tl_snapshots_gap(area->snapshots, time) ? TL_SNAPSHOT : 0;
}

void tl_holes_sampled(s32 tid)
{
	struct tl_thread *thread = tl_thread_find(tid);

	if (thread)
		tl_area_of(thread->area)->sampled = true;
}

/*
 * The area was full before this sample, so the trace was off. If what was full ends in the middle
 * of a packet, perf may go on without saying that the trace begins.
 */
static u32 before_unsaid(struct tl_area *area)
{
	u32 why = area->why;

	if (!(why & TL_TRUNCATED))
		return 0;
	area->why = 0;
	return why;
}

void tl_holes_sample(struct tl_area *area, struct tl_thread *thread, u64 time, u32 flags)
{
	u32 why = 0;

	if (flags & PERF_DLFILTER_FLAG_TRACE_END)
		follow_packets(area, time, false);
	if (flags & PERF_DLFILTER_FLAG_TRACE_BEGIN)
		why = before_begin(area, time);
	else if (area->seen)
		why = before_unsaid(area);
	if (tl_rec.snapshot || area->sampled)
		why = before_piece(area, time) ? : why;
	if (why && area->seen)
		make_hole(area, thread, area->seen, time, why);
	if (area->gap_to && time > area->gap_to)
		show_gap(area);
}

void tl_holes_bts(struct tl_area *area, struct tl_thread *thread, u64 from, u64 to, u32 flags)
{
	u32 why = (flags & PERF_AUX_FLAG_TRUNCATED ? TL_TRUNCATED : 0) |
		  (flags & GAPS ? TL_PARTIAL : 0);

	make_hole(area, thread, from, to, why);
}

void tl_holes_end(struct tl_area *area)
{
	if (!area->seen)
		before_first(area, area->why_time, 0);
	else if (area->why & TL_TRUNCATED)
		make_hole(area, NULL, area->seen, tl_max(area->seen, area->why_time), area->why);
	show_gap(area);
}

char *tl_holes_put_numbers(char *p)
{
	bool any = false;
	size_t i;

	p = tl_put(p, "{");
	for (i = 0; i < TL_ARRAY_SIZE(reasons); i++) {
		if (!numbers[i])
			continue;
		if (any)
			p = tl_put(p, ",");
		any = true;
		p = tl_put_string(p, reasons[i].name);
		p = tl_put(p, ":");
		p = tl_put_number(p, numbers[i]);
	}
	return tl_put(p, "}");
}
