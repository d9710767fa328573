/* SPDX-License-Identifier: GPL-2.0 */
/* timeline-records.h - the records of a perf.data file, one after the other */
#ifndef TIMELINE_RECORDS_H
#define TIMELINE_RECORDS_H

#include <linux/perf_event.h>

#include "timeline.h"

/* Records that the perf tool itself adds; the kernel's are in linux/perf_event.h. */
enum {
	TL_FINISHED_ROUND	= 68,
	TL_AUXTRACE_INFO	= 70,
	TL_AUXTRACE		= 71,
	TL_COMPRESSED		= 81,
	TL_COMPRESSED2		= 83,
};

/* Room for any record; room for those of losses and of trace, of which there are more cursors. */
#define TL_CURSOR_WHOLE		131072
#define TL_CURSOR_HEADS		4096

/**
 * struct tl_record - a record of the file
 * @type: of struct perf_event_header
 * @misc: of struct perf_event_header
 * @body: what follows the header
 * @len: how much of @body there is; less than in the file if a cursor is small
 * @at: where it is in the file
 * @payload: TL_AUXTRACE: bytes of trace that follow
 * @payload_at: where these are
 */
struct tl_record {
	u32 type;
	u16 misc;
	const u8 *body;
	size_t len;
	u64 at;
	u64 payload, payload_at;
};

/* A walk through the records. The trace between them is skipped. */
struct tl_cursor {
	u64 at;
	u8 *buf;
	size_t room, len;
	u64 buf_at;
};

/* Who a record is of, and when: the end of most of the kernel's records. */
struct tl_origin {
	s32 pid, tid, cpu;
	u64 time;
};

/* The body of TL_AUXTRACE. */
struct tl_auxtrace {
	u64 size, offset, reference;
	u32 idx;
	s32 tid, cpu;
};

#pragma GCC visibility push(hidden)

/* A cursor at the first record; it gives at least room bytes of each. */
void tl_cursor_init(struct tl_cursor *cursor, size_t room);
void tl_cursor_free(struct tl_cursor *cursor);
/* 1: the next record; 0: there is no more; -1: the file is damaged there. */
int tl_next(struct tl_cursor *cursor, struct tl_record *rec);

void tl_origin_of(const struct tl_record *rec, struct tl_origin *origin);
/* All of them that the file has, at most len bytes; the result is their number. */
size_t tl_read(u64 at, void *buf, size_t len);

#pragma GCC visibility pop

#endif /* TIMELINE_RECORDS_H */
