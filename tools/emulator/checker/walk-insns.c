// SPDX-License-Identifier: GPL-2.0-or-later
/* walk-insns.c - one stream at instruction level; also the source of the oracle's comparison. */
#include "flow.h"

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

static int insn_next(struct flow *flow)
{
	struct pt_insn insn = {};
	int status = pt_insn_next(flow->decoder, &insn, sizeof(insn));

	if (insn.ip)
		flow->ip = insn.ip;
	/* An instruction that comes with an error was read, but nothing says that it retired. */
	if (status >= 0)
		retire(flow, &insn);
	return status;
}

DECODER_OPS(insn_ops, insn, "instruction", insn_next);

void walk_insns(struct walk *walk, const struct stream *stream)
{
	struct pt_insn_decoder *decoder;
	struct pt_config config;
	struct flow flow;

	walk_config(walk, stream, &config);
	FLOW_SET_EVENT_FLAGS(&config, insn, walk->pt);
	decoder = pt_insn_alloc_decoder(&config);
	if (!decoder)
		die("libipt refuses to make an instruction decoder");
	flow_init(&flow, walk, stream, &insn_ops, decoder, pt_insn_get_image(decoder));
	flow.errors = &walk->stats->insn_errors;
	flow.counts_events = true;
	flow_walk(&flow);
	pt_insn_free_decoder(decoder);
}
