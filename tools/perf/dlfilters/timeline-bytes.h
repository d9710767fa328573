/* SPDX-License-Identifier: GPL-2.0 */
/* timeline-bytes.h - the bytes of one area's trace, in their order */
#ifndef TIMELINE_BYTES_H
#define TIMELINE_BYTES_H

#include "timeline-file.h"
#include "timeline-records.h"

/**
 * struct tl_bytes - a walk through the trace of one area
 * @cursor: walk through the records
 * @key: CPU or thread of the area
 * @left: bytes of the current piece in the file that are not in @buf
 * @left_at: where these are in the file
 * @next: position in the trace that follows what was read
 * @read_at: the TSC when perf had read the current piece
 * @buf: bytes that were read
 * @off: where in @buf the walk is
 * @len: bytes from there on
 * @pos: position in the trace of the first of them
 */
struct tl_bytes {
	struct tl_cursor cursor;
	s32 key;
	u64 left, left_at, next, read_at;
	u8 *buf;
	size_t off, len;
	u64 pos;
};

/* The bytes where the walk is. */
static inline const u8 *tl_bytes_at(const struct tl_bytes *bytes)
{
	return bytes->buf + bytes->off;
}

/* Go on; no more bytes than the last peek has said. */
static inline void tl_bytes_skip(struct tl_bytes *bytes, size_t len)
{
	bytes->off += len;
	bytes->len -= len;
	bytes->pos += len;
}

#pragma GCC visibility push(hidden)

void tl_bytes_init(struct tl_bytes *bytes, s32 key);
void tl_bytes_free(struct tl_bytes *bytes);

/*
 * Try to have at least want bytes, which is less than a page, from the place where
 * the walk is. The result is how many there are: less if the trace ends, or if what
 * follows is not what comes next in it.
 */
size_t tl_bytes_peek(struct tl_bytes *bytes, size_t want);
/* Go on behind a place where bytes are missing; false at the end of the trace. */
bool tl_bytes_over_gap(struct tl_bytes *bytes);

#pragma GCC visibility pop

#endif /* TIMELINE_BYTES_H */
