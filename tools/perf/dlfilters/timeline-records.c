// SPDX-License-Identifier: GPL-2.0
/*
 * timeline-records.c - the records of a perf.data file, one after the other
 *
 * A record of trace (TL_AUXTRACE) is followed by bytes that the size in its header does
 * not count.
 */
#include "timeline-records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "timeline-attr.h"
#include "timeline-file.h"

size_t tl_read(u64 at, void *buf, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pread(tl_rec.fd, (char *)buf + done, len - done, at + done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += n;
	}
	return done;
}

void tl_cursor_init(struct tl_cursor *cursor, size_t room)
{
	memset(cursor, 0, sizeof(*cursor));
	cursor->at = tl_rec.data;
	cursor->room = room;
	cursor->buf = tl_alloc(room);
}

void tl_cursor_free(struct tl_cursor *cursor)
{
	free(cursor->buf);
	cursor->buf = NULL;
}

/* As many bytes at the cursor as there are, up to len; their number. */
static size_t look(struct tl_cursor *cursor, size_t len)
{
	u64 skip = cursor->at - cursor->buf_at;

	len = tl_min(len, tl_min(cursor->room, tl_rec.end - cursor->at));
	if (cursor->at < cursor->buf_at || skip + len > cursor->len) {
		cursor->buf_at = cursor->at;
		cursor->len = tl_read(cursor->at, cursor->buf,
				      tl_min(cursor->room, tl_rec.end - cursor->at));
	}
	return tl_min(len, cursor->len - (cursor->at - cursor->buf_at));
}

int tl_next(struct tl_cursor *cursor, struct tl_record *rec)
{
	struct perf_event_header header;
	u64 size;

	if (cursor->at >= tl_rec.end)
		return 0;
	if (look(cursor, sizeof(header)) < sizeof(header))
		return -1;
	memcpy(&header, cursor->buf + (cursor->at - cursor->buf_at), sizeof(header));
	if (header.size < sizeof(header))
		return -1;
	rec->len = look(cursor, header.size);
	if (rec->len < tl_min(header.size, cursor->room))
		return -1;
	rec->len -= sizeof(header);
	rec->body = cursor->buf + (cursor->at - cursor->buf_at) + sizeof(header);
	rec->type = header.type;
	rec->misc = header.misc;
	rec->at = cursor->at;
	rec->payload = 0;
	rec->payload_at = cursor->at + header.size;
	if (header.type == TL_AUXTRACE && rec->len >= sizeof(size)) {
		memcpy(&size, rec->body, sizeof(size));
		rec->payload = size;
	}
	if (header.size + rec->payload > tl_rec.end - cursor->at)
		return -1;
	cursor->at += header.size + rec->payload;
	return 1;
}

/* The members that an event has of those at the end of a record, last one first. */
void tl_origin_of(const struct tl_record *rec, struct tl_origin *origin)
{
	const u8 *end = rec->body + rec->len;
	u64 type, word = 0, size;

	*origin = (struct tl_origin){ .pid = -1, .tid = -1, .cpu = -1, .time = TL_NEVER };
	if (tl_attr_has_id() && rec->len >= sizeof(word))
		memcpy(&word, end - sizeof(word), sizeof(word));
	type = tl_attr_sample_type(word);
	size = sizeof(u64) * __builtin_popcountll(type &
		(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER));
	if (rec->len < size)
		return;
	end -= sizeof(u64) * !!(type & PERF_SAMPLE_IDENTIFIER);
	if (type & PERF_SAMPLE_CPU)
		memcpy(&origin->cpu, end -= sizeof(u64), sizeof(origin->cpu));
	end -= sizeof(u64) * !!(type & PERF_SAMPLE_STREAM_ID);
	end -= sizeof(u64) * !!(type & PERF_SAMPLE_ID);
	if (type & PERF_SAMPLE_TIME)
		memcpy(&origin->time, end -= sizeof(u64), sizeof(origin->time));
	if (type & PERF_SAMPLE_TID) {
		memcpy(&origin->pid, end -= sizeof(u64), sizeof(origin->pid));
		memcpy(&origin->tid, end + sizeof(s32), sizeof(origin->tid));
	}
	/* So it is in records of what was there before. */
	if (!origin->time)
		origin->time = TL_NEVER;
}
