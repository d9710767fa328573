/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow.h - what the walks have in common. */
#ifndef JUDGE_FLOW_H
#define JUDGE_FLOW_H

#include "insnfile.h"
#include "walk.h"

/* IA32_RTIT_CTL, which attr.config of the event has in its own layout */
#define RTIT_CTL_EVENTEN	BIT_ULL(31)

/* The parts of a libipt decoder that both levels have under different names. */
struct decoder_ops {
	const char *level;
	int (*sync_forward)(void *decoder);
	int (*get_offset)(void *decoder, uint64_t *offset);
	int (*get_time)(void *decoder, uint64_t *tsc);
};

struct flow {
	struct walk *walk;
	const struct stream *stream;
	const struct decoder_ops *ops;
	void *decoder;
	struct side_state state;
	uint64_t cr3;
	/* time of the last event that had one, 0 before */
	uint64_t event_tsc;
	uint64_t *errors;
	bool counts_events;
	/* the last instruction was read from a user address */
	bool in_user;
	/* instructions retired since tracing was last disabled */
	bool tracing;
};

/* libipt 2.1 follows the interrupt flag when told that event trace was on. */
#if LIBIPT_VERSION >= 0x201
#define FLOW_SET_EVENT_FLAGS(cfg, kind, pt) \
	((cfg)->flags.variant.kind.enable_iflags_events = \
	 !!((pt)->config & RTIT_CTL_EVENTEN))
#else
#define FLOW_SET_EVENT_FLAGS(cfg, kind, pt)	((void)(pt))
#endif

void flow_init(struct flow *flow, struct walk *walk, const struct stream *stream,
	       const struct decoder_ops *ops, void *decoder, struct pt_image *image);
void flow_finish(struct flow *flow);
void flow_event(struct flow *flow, const struct pt_event *event);
void flow_error(struct flow *flow, int status, uint64_t ip);
/* First PSB of the stream; false if there is none. */
bool flow_start(struct flow *flow, int *status);
/* A later PSB after an error; false at the end of the stream. */
bool flow_resync(struct flow *flow, int *status);
/* Whether status is the end of the stream, be it the proper one or an error. */
bool flow_ended(struct flow *flow, int status, uint64_t ip);

void walk_print_error(struct walk *walk, const struct stream *stream, const char *level,
		      uint64_t offset, const char *what);
void walk_emit_insn(struct walk *walk, const struct pt_insn *insn, uint64_t cr3, bool branch);
/* A record of another kind. */
void walk_emit(struct walk *walk, enum insn_kind kind, uint64_t ip);

#endif
