// SPDX-License-Identifier: GPL-2.0-only
/*
 * The AUX area's arithmetic against models that are too simple to be wrong.
 *
 * Bytes: a ring whose cells say whether they hold an unread byte, and which
 * one of the stream. Each byte that is written or read is looked at. The reader
 * goes by what records say, and must find each byte of the stream once, padding
 * aside, before the writer gets that cell again.
 *
 * Counts: the same with large areas and without cells, over tens of GiB.
 */
#include "arith.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define GIB		(1UL << 30)
#define NO_BYTE		(~0UL)

/* What the kernel's output.c keeps for an area. */
struct area {
	u64 size, head, tail, wakeup, watermark;
};

struct ring {
	struct area area;
	/* of each cell: the number of the unread byte in it, or NO_BYTE; whether it is padding */
	u64 *cells;
	bool *padding;
	u64 occupied;
	/* the stream as written: its next byte, and the one behind the last that is no padding */
	u64 next, data_end;
	u64 until_wakeup;
	/* the reader: the next byte that it has not been told of */
	u64 told;
	u64 wakeups, wakeups_wanted;
	u64 records;
	const char *fault;
};

static void blame(struct ring *r, const char *fault)
{
	if (!r->fault)
		r->fault = fault;
}

/* One byte goes to its cell; returns whether it is a multiple of the watermark. */
static bool put_byte(struct ring *r, bool padding)
{
	u64 index = r->next & (r->area.size - 1);

	if (r->cells[index] != NO_BYTE)
		blame(r, "an unread byte is overwritten");
	r->cells[index] = r->next++;
	r->padding[index] = padding;
	r->occupied++;
	if (!padding)
		r->data_end = r->next;
	if (--r->until_wakeup)
		return false;
	r->until_wakeup = r->area.watermark;
	return true;
}

static void put_bytes(struct ring *r, u64 count, bool padding)
{
	bool wake = false;

	for (u64 i = 0; i < count && !r->fault; i++)
		wake |= put_byte(r, padding);
	r->wakeups_wanted += wake;

	r->area.head += count;
	r->wakeups += perf_aux_crossed(r->area.head, &r->area.wakeup, &r->area.watermark);
}

static void take_byte(struct ring *r)
{
	u64 *cell = &r->cells[r->area.tail & (r->area.size - 1)];

	if (*cell != r->area.tail)
		blame(r, "the reader finds another byte than the record said");
	*cell = NO_BYTE;
	r->area.tail++;
	r->occupied--;
}

/* The reader gets a record; padding before it is known from its offset. */
static void hear(struct ring *r, u64 offset, u64 size)
{
	r->records++;
	for (; !r->fault && r->told != offset; r->told++) {
		if (!r->padding[r->told & (r->area.size - 1)])
			blame(r, "no record tells of a byte");
	}
	r->told = offset + size;
	if (r->told != r->data_end)
		blame(r, "the last record does not end where the data ends");
}

/* One transaction: perhaps padding, then data, then a record. */
static void transact(struct ring *r)
{
	struct area *a = &r->area;
	u64 room = perf_aux_room(a->head, a->tail, a->size);
	u64 pad, offset, count;

	if (room != (r->occupied < a->size ? a->size - 1 - r->occupied : 0))
		blame(r, "the room is not the number of free cells but one");

	/* Padding alone must not fill the area: the reader waits for a record. */
	pad = random_below(4) || !room ? 0 : random_up_to(room <= 16 ? room - 1 : 16);
	put_bytes(r, pad, true);

	offset = a->head;
	count = random_up_to(room - pad);
	if (pad && room < a->size / 2 && !count)
		count = 1;
	put_bytes(r, count, false);
	if (count)
		hear(r, offset, count);
}

static void consume(struct ring *r)
{
	u64 count = random_up_to(r->told - r->area.tail);

	if (r->told - r->area.tail > r->area.size)
		blame(r, "the reader is told of more than an area");
	for (u64 i = 0; i < count && !r->fault; i++)
		take_byte(r);
}

static void check_ring(const char *name, u64 size, u64 watermark, u64 start, u64 steps)
{
	struct ring r = {
		.area = { .size = size, .head = start, .tail = start, .wakeup = start + watermark,
			  .watermark = watermark },
		.next = start, .data_end = start, .told = start, .until_wakeup = watermark,
	};

	r.cells = malloc(size * sizeof(*r.cells));
	r.padding = calloc(size, sizeof(*r.padding));
	if (!r.cells || !r.padding)
		abort();
	memset(r.cells, 0xff, size * sizeof(*r.cells));

	while (steps-- && !r.fault) {
		transact(&r);
		consume(&r);
	}
	free(r.cells);
	free(r.padding);

	if (r.wakeups != r.wakeups_wanted)
		blame(&r, "the wakeups are not those of the watermark");
	if (!r.records || !r.wakeups)
		blame(&r, "the model has not seen everything");
	if (r.fault)
		diag("%s; at byte %lu", r.fault, r.next);
	point(!r.fault, "bytes: %s: %lu bytes, %lu records, %lu wakeups", name, r.next - start,
	      r.records, r.wakeups);
}

/* As above, for areas too large to look at bytes; multiples are counted by division. */
static void check_counts(const char *name, u64 size, u32 requested, u64 want, u64 steps)
{
	struct area a = { .size = size, .watermark = perf_aux_watermark(requested, size),
			  .wakeup = perf_aux_watermark(requested, size) };
	u64 wakeups = 0, wanted = 0;
	bool good = a.watermark == want;

	for (u64 step = 0; good && (step < steps || a.head < 5 * GIB); step++) {
		u64 room = perf_aux_room(a.head, a.tail, size);
		u64 count = random_up_to(room);

		good = room == size - 1 - (a.head - a.tail);
		wanted += (a.head + count) / want > a.head / want;
		a.head += count;
		wakeups += perf_aux_crossed(a.head, &a.wakeup, &a.watermark);
		good = good && wakeups == wanted && a.wakeup == (a.head / want + 1) * want;
		a.tail += random_up_to(a.head - a.tail);
	}
	point(good, "counts: %s: %lu MiB, %lu wakeups, %lu wanted", name, a.head >> 20, wakeups,
	      wanted);
}

void test_models(unsigned long steps)
{
	check_ring("a tiny area", 8, 3, 0, steps);
	check_ring("watermark of one byte", 64, 1, 0, steps);
	check_ring("half a small area", 256, 128, 0, steps);
	check_ring("odd watermark", 512, 77, 0, steps);
	check_ring("watermark of more than the area", 128, 333, 0, steps);
	check_ring("across 4 GiB", 256, 64, 4 * GIB - 64 * 100, steps);

	check_counts("1 MiB, default", GIB >> 10, 0, GIB >> 11, steps * 4);
	check_counts("1 MiB, 4 KiB", GIB >> 10, 4096, 4096, steps);
	check_counts("1 MiB, odd", GIB >> 10, 77777, 77777, steps);
	check_counts("2 GiB, default", 2 * GIB, 0, GIB, steps);
	check_counts("4 GiB, default", 4 * GIB, 0, 2 * GIB, steps);
	check_counts("8 GiB, default", 8 * GIB, 0, U32_MAX, steps);
	check_counts("64 GiB, default", 64 * GIB, 0, U32_MAX, steps);
}
