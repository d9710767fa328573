// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flow.c - what the walks have in common: configuration, synchronization, events, errors.
 *
 * Rule of judgement: a stream is synchronized once, at its first PSB. Whatever makes a decoder
 * stop before the end of the stream is an error, and so is every further synchronization.
 */
#include "flow.h"

#include <inttypes.h>
#include <string.h>

/* IA32_RTIT_CTL.ADDRn_CFG: trace in the range only */
#define RTIT_ADDR_FILTER	1
#define CR3_FRAME_SHIFT		12
#define MAX_SYNC_TRIES		64

void walk_config(const struct walk *walk, const struct stream *stream, struct pt_config *config)
{
	const struct pt_info *pt = walk->pt;

	pt_config_init(config);
	config->begin = stream->data;
	config->end = stream->data + stream->size;
	config->nom_freq = pt->max_nonturbo_ratio;
	config->errata = walk->errata;
	if (walk->last) {
		config->addr_filter.config.ctl.addr0_cfg = RTIT_ADDR_FILTER;
		config->addr_filter.addr0_a = walk->first;
		config->addr_filter.addr0_b = walk->last;
	}
	if (pt->mtc_bit && (pt->config & pt->mtc_bit) && pt->mtc_freq_bits) {
		config->mtc_freq = (pt->config & pt->mtc_freq_bits) >>
				   __builtin_ctzll(pt->mtc_freq_bits);
		config->cpuid_0x15_eax = pt->tsc_ctc_d;
		config->cpuid_0x15_ebx = pt->tsc_ctc_n;
	}
}

void walk_print_error(struct walk *walk, const struct stream *stream, const char *level,
		      uint64_t offset, const char *what)
{
	char where[32];

	if (walk->printed++ >= walk->max_printed)
		return;
	if (stream->cpu != UINT32_MAX)
		snprintf(where, sizeof(where), "cpu %u", stream->cpu);
	else
		snprintf(where, sizeof(where), "tid %u", stream->tid);
	printf("error: %s, %s level, offset 0x%" PRIx64 " (0x%" PRIx64 " of its stream): %s\n",
	       where, level, stream->offset + offset, offset, what);
}

static void write_record(struct walk *walk, const struct insn_rec *rec)
{
	if (walk->insns && fwrite(rec, sizeof(*rec), 1, walk->insns) != 1)
		die("cannot write the instruction file (disk full?)");
}

void walk_emit(struct walk *walk, enum insn_kind kind, uint64_t ip)
{
	struct insn_rec rec = { .ip = ip, .kind = kind };

	write_record(walk, &rec);
}

void walk_emit_insn(struct walk *walk, const struct pt_insn *insn, uint64_t cr3, bool branch)
{
	static const uint8_t modes[] = {
		[ptem_unknown] = INSN_MODE_UNKNOWN,
		[ptem_16bit] = INSN_MODE_16,
		[ptem_32bit] = INSN_MODE_32,
		[ptem_64bit] = INSN_MODE_64,
	};
	struct insn_rec rec = {
		.ip = insn->ip,
		.cr3_frame = cr3 >> CR3_FRAME_SHIFT,
		.kind = INSN_RETIRED,
		.mode = modes[insn->mode],
		.cpl = is_kernel_addr(insn->ip) ? 0 : 3,
		.branch = branch,
	};

	write_record(walk, &rec);
}

/* The block decoder of libipt 2.1 has no time of its own; its events have. */
static bool flow_time(struct flow *flow, uint64_t *tsc)
{
	if (!flow->ops->get_time(flow->decoder, tsc))
		return true;
	*tsc = flow->event_tsc;
	return flow->event_tsc;
}

/*
 * Let libipt read instruction bytes. The side band is brought to the decoder's time in the kernel
 * and where user code is entered, not while user code runs on: nothing can change under it
 * then, and the decoder's time is an estimate.
 */
static int read_memory(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
		       void *context)
{
	struct flow *flow = context;
	uint64_t tsc;
	size_t got;

	(void)asid;
	if ((is_kernel_addr(ip) || !flow->in_user) && flow_time(flow, &tsc))
		side_state_advance(&flow->state, tsc);
	flow->in_user = !is_kernel_addr(ip);
	got = image_read(flow->walk->img, ip, buffer, size);
	return got ? (int)got : -pte_nomap;
}

void flow_init(struct flow *flow, struct walk *walk, const struct stream *stream,
	       const struct decoder_ops *ops, void *decoder, struct pt_image *image)
{
	int status;

	memset(flow, 0, sizeof(*flow));
	flow->walk = walk;
	flow->stream = stream;
	flow->ops = ops;
	flow->decoder = decoder;
	side_state_init(&flow->state, walk->sb, stream->cpu, stream->tid);
	if (!walk->pt->time_valid || !(walk->pt->config & walk->pt->tsc_bit))
		side_state_settle(&flow->state);
	image_start_walk(walk->img, &flow->state);
	status = pt_image_set_callback(image, read_memory, flow);
	if (status < 0)
		die("libipt: %s", pt_errstr(pt_errcode(status)));
}

static void flow_event_counts(struct flow *flow, const struct pt_event *event)
{
	struct walk_stats *stats = flow->walk->stats;

	switch (event->type) {
	case ptev_enabled:
		stats->enables++;
		walk_emit(flow->walk, INSN_ENABLED, event->variant.enabled.ip);
		break;
	case ptev_disabled:
	case ptev_async_disabled:
		stats->disables++;
		break;
	case ptev_async_branch:
		stats->async_branches++;
		break;
	case ptev_overflow:
		stats->overflows++;
		walk_emit(flow->walk, INSN_LOST, 0);
		break;
	case ptev_ptwrite:
		stats->ptwrites++;
		break;
	case ptev_paging:
	case ptev_async_paging:
		stats->pagings++;
		break;
	default:
		break;
	}
}

static void flow_event(struct flow *flow, const struct pt_event *event)
{
	if (event->has_tsc)
		flow->event_tsc = event->tsc;
	if (event->type == ptev_enabled)
		flow->in_user = false;
	if (event->type == ptev_paging)
		flow->cr3 = event->variant.paging.cr3;
	else if (event->type == ptev_async_paging)
		flow->cr3 = event->variant.async_paging.cr3;
	if (event->type == ptev_disabled || event->type == ptev_async_disabled) {
		flow->tracing = false;
		/* CR3 may change meanwhile, and only a PSB+ or the next change tells it again. */
		flow->cr3 = 0;
	}
	if (event->type == ptev_overflow && event->ip_suppressed)
		flow->tracing = false;
	if (flow->counts_events)
		flow_event_counts(flow, event);
}

static uint64_t flow_offset(struct flow *flow)
{
	uint64_t offset;

	/* A decoder that never synchronized has no position. */
	return flow->ops->get_offset(flow->decoder, &offset) < 0 ? 0 : offset;
}

static void flow_error(struct flow *flow, int status)
{
	uint64_t tsc, offset = flow_offset(flow);
	char text[160], when[48] = "no time";

	(*flow->errors)++;
	if (flow_time(flow, &tsc)) {
		uint64_t ns = perf_tsc_to_time(flow->walk->pt, tsc);

		snprintf(when, sizeof(when), "time %" PRIu64 ".%09" PRIu64, ns / 1000000000,
			 ns % 1000000000);
	}
	snprintf(text, sizeof(text), "ip 0x%" PRIx64 ", pid %u, %s: %s", flow->ip,
		 side_state_pid(&flow->state), when, pt_errstr(pt_errcode(status)));
	walk_print_error(flow->walk, flow->stream, flow->ops->level, offset, text);
	if (flow->counts_events)
		walk_emit(flow->walk, INSN_LOST, flow->ip);
}

/* A later PSB after an error; false at the end of the stream. */
static bool flow_resync(struct flow *flow, int *status)
{
	unsigned int tries;

	/* A PSB whose header is broken too is passed over; libipt may not move past it. */
	for (tries = 0; tries < MAX_SYNC_TRIES; tries++) {
		*status = flow->ops->sync_forward(flow->decoder);
		if (*status == -pte_eos)
			return false;
		if (*status >= 0) {
			flow->walk->stats->resyncs++;
			return true;
		}
	}
	return false;
}

/* First PSB of the stream; false if there is none. */
static bool flow_start(struct flow *flow, int *status)
{
	uint64_t offset;
	char text[64];

	*status = flow->ops->sync_forward(flow->decoder);
	if (*status == -pte_eos) {
		if (!flow->stream->starts_anywhere) {
			(*flow->errors)++;
			walk_print_error(flow->walk, flow->stream, flow->ops->level, 0,
					 "no PSB in the whole stream");
		}
		return false;
	}
	if (*status < 0) {
		flow_error(flow, *status);
		return flow_resync(flow, status);
	}
	offset = flow_offset(flow);
	/* The position is behind the PSB+; but for padding the first packet is the PSB. */
	if (!flow->stream->starts_anywhere &&
	    memcmp(flow->stream->data + stream_padding(flow->stream), "\x02\x82", 2)) {
		(*flow->errors)++;
		snprintf(text, sizeof(text), "the stream does not begin with a PSB (%" PRIu64 ")",
			 offset);
		walk_print_error(flow->walk, flow->stream, flow->ops->level, 0, text);
	}
	return true;
}

/* Whether status is the end of the stream, be it the proper one or an error. */
static bool flow_ended(struct flow *flow, int status)
{
	if (status < 0 && status != -pte_eos)
		return false;
	/* Complete trace data ends with tracing disabled. */
	if (!flow->stream->cut && (status < 0 || flow->tracing))
		flow_error(flow, -pte_eos);
	return true;
}

/* Until an error or the end; returns what ended it. */
static int flow_run(struct flow *flow, int status)
{
	struct pt_event event;

	for (;;) {
		while (status >= 0 && (status & pts_event_pending)) {
			status = flow->ops->get_event(flow->decoder, &event);
			if (status >= 0)
				flow_event(flow, &event);
		}
		if (status < 0 || (status & pts_eos))
			return status;
		status = flow->ops->next(flow);
	}
}

void flow_walk(struct flow *flow)
{
	int status;
	bool go;

	for (go = flow_start(flow, &status); go; go = flow_resync(flow, &status)) {
		status = flow_run(flow, status);
		if (flow_ended(flow, status))
			break;
		flow_error(flow, status);
	}
	flow->walk->stats->early_maps += flow->state.early_maps;
	side_state_free(&flow->state);
}
