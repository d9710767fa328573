// SPDX-License-Identifier: GPL-2.0-or-later
/* walk-blocks.c - one stream at block level: the same flow by libipt's other implementation. */
#include "flow.h"

#include <string.h>

static int sync_forward(void *decoder)
{
	return pt_blk_sync_forward(decoder);
}

static int get_offset(void *decoder, uint64_t *offset)
{
	return pt_blk_get_offset(decoder, offset);
}

static int get_time(void *decoder, uint64_t *tsc)
{
	return pt_blk_time(decoder, tsc, NULL, NULL);
}

static const struct decoder_ops block_ops = {
	.level = "block",
	.sync_forward = sync_forward,
	.get_offset = get_offset,
	.get_time = get_time,
};

static int drain_events(struct flow *flow, int status)
{
	struct pt_event event;

	while (status >= 0 && (status & pts_event_pending)) {
		status = pt_blk_event(flow->decoder, &event, sizeof(event));
		if (status >= 0)
			flow_event(flow, &event);
	}
	return status;
}

static int walk_run(struct flow *flow, int status, uint64_t *ip)
{
	struct walk_stats *stats = flow->walk->stats;
	struct pt_block block;

	for (;;) {
		status = drain_events(flow, status);
		if (status < 0 || (status & pts_eos))
			return status;
		memset(&block, 0, sizeof(block));
		status = pt_blk_next(flow->decoder, &block, sizeof(block));
		if (block.ninsn) {
			*ip = block.end_ip;
			flow->tracing = true;
			stats->blocks++;
			/* The last instruction before an error is not known to have retired. */
			stats->block_insns += block.ninsn - (status < 0);
		}
		if (status < 0)
			return status;
	}
}

void walk_blocks(struct walk *walk, const struct stream *stream)
{
	struct pt_block_decoder *decoder;
	struct pt_config config;
	struct flow flow;
	uint64_t ip = 0;
	int status;
	bool go;

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
	for (go = flow_start(&flow, &status); go; go = flow_resync(&flow, &status)) {
		status = walk_run(&flow, status, &ip);
		if (flow_ended(&flow, status, ip))
			break;
		flow_error(&flow, status, ip);
	}
	flow_finish(&flow);
	pt_blk_free_decoder(decoder);
}
