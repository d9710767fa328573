/* SPDX-License-Identifier: GPL-2.0-or-later */
/* streams.h - the AUX area's pieces joined to runs of trace bytes without holes. */
#ifndef CHECKER_STREAMS_H
#define CHECKER_STREAMS_H

#include "sideband.h"

struct stream {
	uint32_t idx, cpu, tid;
	/* position of the first byte in the AUX area's own count */
	uint64_t offset;
	uint8_t *data;
	size_t size;
	/* its beginning may lie inside a packet: a snapshot, or after a loss */
	bool starts_anywhere;
	/* the kernel said that what follows was lost */
	bool cut;
};

struct streams {
	struct stream *list;
	size_t nr;
	/* AUX records that announce lost data */
	uint64_t truncated;
	/* bytes that two pieces of one buffer have, beyond perf's padding */
	uint64_t overlap;
};

void streams_build(struct streams *out, const struct sideband *sb);
void streams_free(struct streams *streams);
/* How many bytes of PAD and MNT a stream begins with. */
size_t stream_padding(const struct stream *stream);

#endif
