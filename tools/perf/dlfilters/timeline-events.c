// SPDX-License-Identifier: GPL-2.0
/*
 * timeline-events.c - what the kernel recorded beside the trace, in order of time
 *
 * perf record copies one data buffer after the other into the file, and writes a
 * mark (TL_FINISHED_ROUND) when it has copied each. So a record may stand behind
 * others that are later, but not behind the mark of the round after them. Events
 * wait in a heap, until what may be earlier has been read.
 *
 * The heap has a fixed size. If a round has more events, the earliest go at once:
 * a name or a loss is then seen a little early.
 */
#include "timeline-events.h"

#include <stdlib.h>
#include <string.h>

#include "timeline-file.h"
#include "timeline-records.h"

#define HEAP_MAX	32768
#define CPUS_MAX	8192

u64 tl_events_next;

static struct {
	struct tl_cursor cursor;
	struct tl_event *heap;
	size_t nr;
	struct tl_event newest;
	u64 serial;
	/* latest time that was read; the same at the end of the round before */
	u64 latest, round;
	/* all events up to this time have been read */
	u64 known;
	/* the last record of each CPU, as what LOST tells of is later */
	u64 *cpu_last;
	void (*fn)(const struct tl_event *event);
} ev;

static bool earlier(const struct tl_event *a, const struct tl_event *b)
{
	return a->time != b->time ? a->time < b->time : a->serial < b->serial;
}

static void swap(size_t a, size_t b)
{
	struct tl_event tmp = ev.heap[a];

	ev.heap[a] = ev.heap[b];
	ev.heap[b] = tmp;
}

static void push(const struct tl_event *event)
{
	size_t i = ev.nr++;

	ev.newest = *event;
	ev.heap[i] = *event;
	for (; i && earlier(&ev.heap[i], &ev.heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(i, (i - 1) / 2);
}

static struct tl_event pop(void)
{
	struct tl_event first = ev.heap[0];
	size_t i = 0, child;

	ev.heap[0] = ev.heap[--ev.nr];
	while ((child = 2 * i + 1) < ev.nr) {
		if (child + 1 < ev.nr && earlier(&ev.heap[child + 1], &ev.heap[child]))
			child++;
		if (!earlier(&ev.heap[child], &ev.heap[i]))
			break;
		swap(i, child);
		i = child;
	}
	return first;
}

static u64 word(const struct tl_record *rec, size_t n)
{
	u64 value = 0;

	if (rec->len >= (n + 1) * sizeof(value))
		memcpy(&value, rec->body + n * sizeof(value), sizeof(value));
	return value;
}

static s32 half(const struct tl_record *rec, size_t n)
{
	return n & 1 ? word(rec, n / 2) >> 32 : (u32)word(rec, n / 2);
}

static void add(const struct tl_event *event)
{
	struct tl_event early;

	if (ev.nr == HEAP_MAX) {
		early = pop();
		ev.fn(&early);
	}
	push(event);
}

/* Pid and tid are the first words of records of tasks and of mappings. */
static void add_of_task(const struct tl_record *rec, struct tl_event *event)
{
	event->pid = half(rec, 0);
	event->tid = half(rec, 1);
	switch (rec->type) {
	case PERF_RECORD_COMM:
		event->type = TL_EVENT_COMM;
		event->exec = rec->misc & PERF_RECORD_MISC_COMM_EXEC;
		memcpy(event->comm, rec->body + sizeof(u64),
		       tl_min(sizeof(event->comm) - 1, rec->len - tl_min(rec->len, sizeof(u64))));
		break;
	case PERF_RECORD_EXIT:
	case PERF_RECORD_FORK:
		event->type = rec->type == PERF_RECORD_EXIT ? TL_EVENT_EXIT : TL_EVENT_FORK;
		/* pid, its parent's, tid, its parent's */
		event->tid = half(rec, 2);
		break;
	default:
		event->type = TL_EVENT_MAP;
	}
	add(event);
}

static void add_lost(const struct tl_record *rec, struct tl_event *event, s32 cpu)
{
	event->type = TL_EVENT_LOST;
	event->count = word(rec, rec->type == PERF_RECORD_LOST);
	event->from = cpu >= 0 && cpu < CPUS_MAX ? ev.cpu_last[cpu] : 0;
	/* What perf counts at the end has no time, and LOST records tell of it as well. */
	if (event->time)
		add(event);
}

static void add_event(const struct tl_record *rec, const struct tl_origin *origin)
{
	struct tl_event event = {
		.time = origin->time == TL_NEVER ? 0 : origin->time,
		.serial = ++ev.serial,
		.pid = origin->pid,
		.tid = origin->tid,
		.key = tl_rec.per_cpu ? origin->cpu : origin->tid,
	};

	switch (rec->type) {
	case PERF_RECORD_AUX:
		event.type = TL_EVENT_AUX;
		event.flags = word(rec, 2);
		/* Only losses matter; and where one may be in the middle, each that is not. */
		if (tl_rec.partial || event.flags & PERF_AUX_FLAG_TRUNCATED)
			add(&event);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		add_lost(rec, &event, origin->cpu);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		event.type = TL_EVENT_SWITCH_OUT;
		if (rec->misc & PERF_RECORD_MISC_SWITCH_OUT)
			add(&event);
		break;
	default:
		add_of_task(rec, &event);
	}
}

static bool matters(u32 type)
{
	switch (type) {
	case PERF_RECORD_AUX:
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
	case PERF_RECORD_COMM:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_FORK:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return true;
	default:
		return false;
	}
}

static void see(const struct tl_record *rec)
{
	struct tl_origin origin;

	if (rec->type == TL_FINISHED_ROUND) {
		ev.known = ev.round;
		ev.round = ev.latest;
		return;
	}
	if (!matters(rec->type))
		return;
	tl_origin_of(rec, &origin);
	add_event(rec, &origin);
	if (origin.time == TL_NEVER)
		return;
	ev.latest = tl_max(ev.latest, origin.time);
	if (origin.cpu >= 0 && origin.cpu < CPUS_MAX)
		ev.cpu_last[origin.cpu] = origin.time;
}

/* Read one more record; false if there is none. */
static bool read_on(void)
{
	struct tl_record rec;

	if (tl_next(&ev.cursor, &rec) <= 0) {
		ev.known = TL_NEVER;
		return false;
	}
	see(&rec);
	return true;
}

void tl_events_until(u64 time, void (*fn)(const struct tl_event *event))
{
	struct tl_event event;

	if (time < tl_events_next)
		return;
	ev.fn = fn;
	while (ev.known <= time && ev.known != TL_NEVER && read_on())
		;
	while (ev.nr && ev.heap[0].time <= time) {
		event = pop();
		fn(&event);
	}
	tl_events_next = ev.nr ? tl_min(ev.heap[0].time, ev.known) : ev.known;
}

/* The first event of that kind in the heap. */
static const struct tl_event *find_aux(s32 key, u64 time)
{
	const struct tl_event *event, *found = NULL;

	for (event = ev.heap; event < ev.heap + ev.nr; event++) {
		if (event->type == TL_EVENT_AUX && event->key == key && event->time >= time &&
		    (!found || earlier(event, found)))
			found = event;
	}
	return found;
}

const struct tl_event *tl_events_aux_after(s32 key, u64 time)
{
	const struct tl_event *found = find_aux(key, time);

	while (!found && ev.nr < HEAP_MAX && read_on()) {
		if (ev.newest.type == TL_EVENT_AUX && ev.newest.key == key)
			found = find_aux(key, time);
	}
	return found;
}

void tl_events_init(void)
{
	tl_cursor_init(&ev.cursor, TL_CURSOR_WHOLE);
	ev.heap = tl_alloc(HEAP_MAX * sizeof(*ev.heap));
	ev.cpu_last = tl_alloc(CPUS_MAX * sizeof(*ev.cpu_last));
}

void tl_events_exit(void)
{
	tl_cursor_free(&ev.cursor);
	free(ev.heap);
	free(ev.cpu_last);
}
