// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * streams.c - joins AUXTRACE pieces, and cuts where data was lost.
 *
 *   pieces      [0........)[....)      [.......)     by offset, one buffer
 *   truncated            ^                           end of an AUX record that says so
 *   streams     [0......)[......)      [.......)
 *                        starts_anywhere from here on
 *
 * perf rounds a piece up to 8 bytes with zeros, so a piece ends where the next one begins. A
 * snapshot's offset is only a place in the buffer, so snapshots are streams of their own; what two
 * of them have in common is walked twice.
 */
#include "streams.h"

#include <stdlib.h>
#include <string.h>

/* perf's PERF_AUXTRACE_RECORD_ALIGNMENT */
#define PIECE_ALIGN	8
/* MNT's header has three bytes, its payload eight */
#define MNT_LENGTH	11

static int by_place(const void *a, const void *b)
{
	const struct aux_piece *x = a, *y = b;

	if (x->idx != y->idx)
		return x->idx < y->idx ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return 0;
}

static bool same_buffer(const struct aux_record *aux, const struct aux_piece *piece)
{
	return piece->cpu != UINT32_MAX ? aux->cpu == piece->cpu : aux->tid == piece->tid;
}

/* The first announced loss inside [from, to] of the piece's buffer, or UINT64_MAX. */
static uint64_t next_cut(const struct sideband *sb, const struct aux_piece *piece,
			 uint64_t from, uint64_t to)
{
	uint64_t best = UINT64_MAX;
	size_t i;

	if (sb->file->pt.snapshot)
		return best;
	for (i = 0; i < sb->nr_aux; i++) {
		const struct aux_record *aux = &sb->aux[i];
		uint64_t end = aux->offset + aux->size;

		if ((aux->flags & PERF_AUX_FLAG_TRUNCATED) && same_buffer(aux, piece) &&
		    end >= from && end <= to && end < best)
			best = end;
	}
	return best;
}

static struct stream *open_stream(struct streams *out, const struct aux_piece *piece,
				  uint64_t offset, bool anywhere)
{
	struct stream *st = array_add(out->list, out->nr);

	memset(st, 0, sizeof(*st));
	st->idx = piece->idx;
	st->cpu = piece->cpu;
	st->tid = piece->tid;
	st->offset = offset;
	st->starts_anywhere = anywhere;
	return st;
}

static void append(struct stream *st, const uint8_t *data, size_t size)
{
	st->data = xrealloc(st->data, st->size + size);
	memcpy(st->data + st->size, data, size);
	st->size += size;
}

static void add_piece(struct streams *out, const struct sideband *sb,
		      const struct aux_piece *piece)
{
	struct stream *st = out->nr ? &out->list[out->nr - 1] : NULL;
	uint64_t at = piece->offset, end = at + piece->size;
	bool snapshot = sb->file->pt.snapshot;

	if (snapshot || !st || st->idx != piece->idx) {
		st = open_stream(out, piece, at, snapshot);
	} else if (at > st->offset + st->size) {
		st->cut = true;
		st = open_stream(out, piece, at, true);
	}
	while (at < end) {
		uint64_t cut = next_cut(sb, piece, at + 1, end);
		uint64_t stop = cut < end ? cut : end;

		append(st, piece->data + (at - piece->offset), stop - at);
		at = stop;
		if (cut == stop) {
			st->cut = true;
			st = open_stream(out, piece, at, true);
		}
	}
}

/* What both pieces have is taken from the later one; up to 7 bytes are perf's padding. */
static void trim_piece(struct streams *out, struct aux_piece *piece, const struct aux_piece *next)
{
	uint64_t end = piece->offset + piece->size;

	if (end <= next->offset)
		return;
	if (end - next->offset >= PIECE_ALIGN)
		out->overlap += end - next->offset;
	piece->size = next->offset - piece->offset;
}

/* The last piece of a buffer ends where the last AUX record does; the rest is perf's padding. */
static void trim_last_piece(const struct sideband *sb, struct aux_piece *piece)
{
	uint64_t end = piece->offset + piece->size, written = 0;
	size_t i;

	for (i = 0; i < sb->nr_aux; i++) {
		const struct aux_record *aux = &sb->aux[i];
		uint64_t to = aux->offset + aux->size;

		if (same_buffer(aux, piece) && to <= end && to > written)
			written = to;
	}
	if (end - written < PIECE_ALIGN)
		piece->size -= end - written;
}

static void trim_pieces(struct streams *out, const struct sideband *sb, struct aux_piece *pieces)
{
	size_t i;

	for (i = 0; i < sb->nr_pieces; i++) {
		if (i + 1 < sb->nr_pieces && pieces[i + 1].idx == pieces[i].idx)
			trim_piece(out, &pieces[i], &pieces[i + 1]);
		else
			trim_last_piece(sb, &pieces[i]);
	}
}

void streams_build(struct streams *out, const struct sideband *sb)
{
	size_t size = sb->nr_pieces * sizeof(struct aux_piece), i, kept = 0;
	struct aux_piece *pieces = xalloc(size);

	memset(out, 0, sizeof(*out));
	if (sb->nr_pieces)
		memcpy(pieces, sb->pieces, size);
	if (!sb->file->pt.snapshot) {
		qsort(pieces, sb->nr_pieces, sizeof(*pieces), by_place);
		trim_pieces(out, sb, pieces);
	}
	for (i = 0; i < sb->nr_pieces; i++)
		add_piece(out, sb, &pieces[i]);
	free(pieces);
	for (i = 0; i < sb->nr_aux; i++)
		out->truncated += !!(sb->aux[i].flags & PERF_AUX_FLAG_TRUNCATED);
	for (i = 0; i < out->nr; i++)
		if (out->list[i].size)
			out->list[kept++] = out->list[i];
	out->nr = kept;
}

void streams_free(struct streams *streams)
{
	size_t i;

	for (i = 0; i < streams->nr; i++)
		free(streams->list[i].data);
	free(streams->list);
}

size_t stream_padding(const struct stream *stream)
{
	static const unsigned char mnt[] = { 0x02, 0xc3, 0x88 };
	size_t at = 0;

	while (at < stream->size) {
		if (!stream->data[at])
			at++;
		else if (stream->size - at >= MNT_LENGTH &&
			 !memcmp(stream->data + at, mnt, sizeof(mnt)))
			at += MNT_LENGTH;
		else
			break;
	}
	return at;
}
