// SPDX-License-Identifier: GPL-2.0-or-later
/* walk.c - all the walks over a stream, and what libipt can do for them. */
#include "flow.h"

#include <inttypes.h>
#include <string.h>

/* IA32_RTIT_CTL, which attr.config of the event has in its own layout */
#define RTIT_CTL_BRANCHEN	BIT_ULL(13)
#define RTIT_CTL_DISTNT		BIT_ULL(55)
#define CONFIG_PASS_THROUGH	BIT_ULL(0)

const char *walk_library_limits(void)
{
#if LIBIPT_VERSION >= 0x201
	return NULL;
#else
	return "CFE and EVD packets (event trace) are unknown to libipt before 2.1";
#endif
}

bool walk_add_erratum(struct pt_errata *errata, const char *name)
{
#define ADD_ERRATUM(one) do {			\
	if (!strcmp(name, #one)) {		\
		errata->one = 1;		\
		return true;			\
	}					\
} while (0)
	ADD_ERRATUM(bdm70);
	ADD_ERRATUM(bdm64);
	ADD_ERRATUM(skd007);
	ADD_ERRATUM(skd022);
	ADD_ERRATUM(skd010);
	ADD_ERRATUM(skl014);
	ADD_ERRATUM(apl12);
	ADD_ERRATUM(apl11);
	ADD_ERRATUM(skl168);
#undef ADD_ERRATUM
	return false;
}

/* perf's "pt" bit says that the branch bit is meant; without it branch tracing is always on. */
bool walk_packets_only(const struct pt_info *pt)
{
	bool no_branches = (pt->config & CONFIG_PASS_THROUGH) && !(pt->config & RTIT_CTL_BRANCHEN);

	return no_branches || (pt->config & RTIT_CTL_DISTNT);
}

void walk_stream(struct walk *walk, const struct stream *stream)
{
	struct walk_stats *stats = walk->stats;
	uint64_t insns = stats->insns, blocks = stats->block_insns;
	uint64_t errors = stats->insn_errors + stats->block_errors;

	stats->bytes += stream->size;
	walk_emit(walk, INSN_STREAM, (uint64_t)stream->tid << 32 | stream->cpu);
	walk_packets(walk, stream);
	if (!walk_packets_only(walk->pt)) {
		walk_insns(walk, stream);
		walk_blocks(walk, stream);
	}
	if (stream->cut)
		walk_emit(walk, INSN_LOST, 0);
	insns = stats->insns - insns;
	blocks = stats->block_insns - blocks;
	if (stream->cut || errors != stats->insn_errors + stats->block_errors || insns == blocks)
		return;
	stats->disagreements++;
	printf("error: idx %u: %" PRIu64 " instructions at instruction level, %" PRIu64
	       " at block level\n", stream->idx, insns, blocks);
}
