// SPDX-License-Identifier: GPL-2.0
/*
 * timeline-bytes.c - the bytes of one area's trace, in their order
 *
 * The file has the trace in pieces, as perf read them. A piece tells the position of
 * its first byte in the trace. Its length is rounded up to a multiple of 8, so the end
 * of one may lie a little behind the beginning of the next: then it is padding.
 */
#include "timeline-bytes.h"

#include <stdlib.h>
#include <string.h>

#define ROOM		16384
#define ROUNDED_TO	8

void tl_bytes_init(struct tl_bytes *bytes, s32 key)
{
	memset(bytes, 0, sizeof(*bytes));
	tl_cursor_init(&bytes->cursor, TL_CURSOR_HEADS);
	bytes->key = key;
	bytes->buf = tl_alloc(ROOM);
}

void tl_bytes_free(struct tl_bytes *bytes)
{
	tl_cursor_free(&bytes->cursor);
	free(bytes->buf);
}

static bool find_piece(struct tl_bytes *bytes, struct tl_auxtrace *aux)
{
	struct tl_record rec;

	while (tl_next(&bytes->cursor, &rec) > 0) {
		if (rec.type != TL_AUXTRACE || rec.len < sizeof(*aux))
			continue;
		memcpy(aux, rec.body, sizeof(*aux));
		if ((tl_rec.per_cpu ? aux->cpu : aux->tid) != bytes->key || !aux->size)
			continue;
		bytes->left = aux->size;
		bytes->left_at = rec.payload_at;
		bytes->read_at = aux->reference;
		return true;
	}
	return false;
}

/* Whether the next piece continues what was read. Its padding is then taken off. */
static bool continues(struct tl_bytes *bytes, const struct tl_auxtrace *aux)
{
	u64 padding = bytes->next - aux->offset;

	/* Snapshots may overlap, or there is a gap between them. */
	if (tl_rec.snapshot || padding >= ROUNDED_TO || padding > bytes->len)
		return false;
	bytes->len -= padding;
	bytes->next = aux->offset;
	return true;
}

static void fill(struct tl_bytes *bytes)
{
	size_t n = tl_min(bytes->left, ROOM - bytes->len);

	memmove(bytes->buf, bytes->buf + bytes->off, bytes->len);
	bytes->off = 0;
	n = tl_read(bytes->left_at, bytes->buf + bytes->len, n);
	bytes->len += n;
	bytes->next += n;
	bytes->left_at += n;
	/* What cannot be read is not tried again. */
	bytes->left = n ? bytes->left - n : 0;
}

static void start_at(struct tl_bytes *bytes, u64 position)
{
	bytes->off = 0;
	bytes->len = 0;
	bytes->pos = position;
	bytes->next = position;
}

size_t tl_bytes_peek(struct tl_bytes *bytes, size_t want)
{
	struct tl_auxtrace aux;
	u64 at;

	while (bytes->len < want) {
		if (bytes->left) {
			fill(bytes);
			continue;
		}
		at = bytes->cursor.at;
		if (!find_piece(bytes, &aux))
			break;
		if (!bytes->next) {
			start_at(bytes, aux.offset);
		} else if (!continues(bytes, &aux)) {
			/* The piece is for tl_bytes_over_gap(). */
			bytes->cursor.at = at;
			bytes->left = 0;
			break;
		}
	}
	return bytes->len;
}

bool tl_bytes_over_gap(struct tl_bytes *bytes)
{
	struct tl_auxtrace aux;

	if (!find_piece(bytes, &aux))
		return false;
	start_at(bytes, aux.offset);
	return true;
}
