/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk.h - libipt's three decoders run over one stream each. */
#ifndef CHECKER_WALK_H
#define CHECKER_WALK_H

#include <stdio.h>

#include <intel-pt.h>

#include "image.h"
#include "streams.h"

/* libipt counts packet types from 0; the last one depends on its version. */
#define WALK_PACKET_TYPES	32

struct walk_stats {
	uint64_t bytes, skipped;
	uint64_t packets[WALK_PACKET_TYPES];
	uint64_t packet_errors;
	uint64_t insns, branches, user_insns, kernel_insns;
	uint64_t enables, disables, async_branches, overflows, ptwrites, pagings;
	uint64_t insn_errors;
	uint64_t blocks, block_insns;
	uint64_t block_errors;
	uint64_t resyncs;
	/* streams whose instruction and block levels retire different numbers of instructions */
	uint64_t disagreements;
	uint64_t early_maps;
};

struct walk {
	const struct pt_info *pt;
	const struct sideband *sb;
	struct image *img;
	struct walk_stats *stats;
	/* where the retired instructions go; may be NULL */
	FILE *insns;
	/* what libipt has to bear with */
	struct pt_errata errata;
	/* the range of addresses that is traced; last is 0 without one */
	uint64_t first, last;
	/* print which packets a full area has cut off */
	bool show_cut;
	/* how many errors are printed in full */
	uint64_t max_printed;
	uint64_t printed;
};

const char *walk_packet_name(unsigned int type);
/* What the libipt in use cannot read, or NULL. */
const char *walk_library_limits(void);

/* Adds an erratum by its name; false: libipt does not know it. */
bool walk_add_erratum(struct pt_errata *errata, const char *name);

/* Branch tracing off or DisTNT: no flow can be reconstructed from such a trace. */
bool walk_packets_only(const struct pt_info *pt);

void walk_config(const struct walk *walk, const struct stream *stream, struct pt_config *config);
void walk_packets(struct walk *walk, const struct stream *stream);
void walk_insns(struct walk *walk, const struct stream *stream);
void walk_blocks(struct walk *walk, const struct stream *stream);
/* All three, and whether the levels agree. */
void walk_stream(struct walk *walk, const struct stream *stream);

#endif
