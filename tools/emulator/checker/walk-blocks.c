// SPDX-License-Identifier: GPL-2.0-or-later
/* walk-blocks.c - one stream at block level: the same flow by libipt's other implementation. */
#include "flow.h"

static int block_next(struct flow *flow)
{
	struct walk_stats *stats = flow->walk->stats;
	struct pt_block block = {};
	int status = pt_blk_next(flow->decoder, &block, sizeof(block));

	if (block.ninsn) {
		flow->ip = block.end_ip;
		flow->tracing = true;
		stats->blocks++;
		/* The last instruction before an error is not known to have retired. */
		stats->block_insns += block.ninsn - (status < 0);
	}
	return status;
}

DECODER_OPS(block_ops, blk, "block", block_next);

void walk_blocks(struct walk *walk, const struct stream *stream)
{
	struct pt_block_decoder *decoder;
	struct pt_config config;
	struct flow flow;

	walk_config(walk, stream, &config);
	FLOW_SET_EVENT_FLAGS(&config, block, walk->pt);
#if LIBIPT_VERSION >= 0x201
	/* Its block decoder tells the time by events only. */
	config.flags.variant.block.enable_tick_events = 1;
#endif
	decoder = pt_blk_alloc_decoder(&config);
	if (!decoder)
		die("libipt refuses to make a block decoder");
	flow_init(&flow, walk, stream, &block_ops, decoder, pt_blk_get_image(decoder));
	flow.errors = &walk->stats->block_errors;
	flow_walk(&flow);
	pt_blk_free_decoder(decoder);
}
