// SPDX-License-Identifier: GPL-2.0-or-later
/* walk-insns.c - one stream at instruction level; also the source of the oracle's comparison. */
#include "flow.h"

#include <string.h>

static int sync_forward(void *decoder)
{
	return pt_insn_sync_forward(decoder);
}

static int get_offset(void *decoder, uint64_t *offset)
{
	return pt_insn_get_offset(decoder, offset);
}

static int get_time(void *decoder, uint64_t *tsc)
{
	return pt_insn_time(decoder, tsc, NULL, NULL);
}

static const struct decoder_ops insn_ops = {
	.level = "instruction",
	.sync_forward = sync_forward,
	.get_offset = get_offset,
	.get_time = get_time,
};

static bool is_branch(enum pt_insn_class iclass)
{
	switch (iclass) {
	case ptic_call:
	case ptic_return:
	case ptic_jump:
	case ptic_cond_jump:
	case ptic_far_call:
	case ptic_far_return:
	case ptic_far_jump:
#if LIBIPT_VERSION >= 0x201
	case ptic_indirect:
#endif
		return true;
	default:
		return false;
	}
}

static void retire(struct flow *flow, const struct pt_insn *insn)
{
	struct walk_stats *stats = flow->walk->stats;
	bool branch = is_branch(insn->iclass);

	flow->tracing = true;
	stats->insns++;
	stats->branches += branch;
	if (is_kernel_addr(insn->ip))
		stats->kernel_insns++;
	else
		stats->user_insns++;
	walk_emit_insn(flow->walk, insn, flow->cr3, branch);
}

static int drain_events(struct flow *flow, int status)
{
	struct pt_event event;

	while (status >= 0 && (status & pts_event_pending)) {
		status = pt_insn_event(flow->decoder, &event, sizeof(event));
		if (status >= 0)
			flow_event(flow, &event);
	}
	return status;
}

/* Until an error or the end; returns what ended it. */
static int walk_run(struct flow *flow, int status, uint64_t *ip)
{
	struct pt_insn insn;

	for (;;) {
		status = drain_events(flow, status);
		if (status < 0 || (status & pts_eos))
			return status;
		memset(&insn, 0, sizeof(insn));
		status = pt_insn_next(flow->decoder, &insn, sizeof(insn));
		if (insn.ip)
			*ip = insn.ip;
		/*
		 * An instruction that comes with an error was read, but nothing says that it
		 * retired.
		 */
		if (status < 0)
			return status;
		retire(flow, &insn);
	}
}

void walk_insns(struct walk *walk, const struct stream *stream)
{
	struct pt_insn_decoder *decoder;
	struct pt_config config;
	struct flow flow;
	uint64_t ip = 0;
	int status;
	bool go;

	walk_config(walk, stream, &config);
	FLOW_SET_EVENT_FLAGS(&config, insn, walk->pt);
	decoder = pt_insn_alloc_decoder(&config);
	if (!decoder)
		die("libipt refuses to make an instruction decoder");
	flow_init(&flow, walk, stream, &insn_ops, decoder, pt_insn_get_image(decoder));
	flow.errors = &walk->stats->insn_errors;
	flow.counts_events = true;
	for (go = flow_start(&flow, &status); go; go = flow_resync(&flow, &status)) {
		status = walk_run(&flow, status, &ip);
		if (flow_ended(&flow, status, ip))
			break;
		flow_error(&flow, status, ip);
	}
	flow_finish(&flow);
	pt_insn_free_decoder(decoder);
}
