/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow.h - what the walks have in common. */
#ifndef CHECKER_FLOW_H
#define CHECKER_FLOW_H

#include "insnfile.h"
#include "walk.h"

/* IA32_RTIT_CTL, which attr.config of the event has in its own layout */
#define RTIT_CTL_EVENTEN	BIT_ULL(31)

struct flow;

/* The parts of a libipt decoder that the levels have under different names. */
struct decoder_ops {
	const char *level;
	int (*sync_forward)(void *decoder);
	int (*get_offset)(void *decoder, uint64_t *offset);
	int (*get_time)(void *decoder, uint64_t *tsc);
	int (*get_event)(void *decoder, struct pt_event *event);
	/* decode one step and count what retired */
	int (*next)(struct flow *flow);
};

/* Define @ops, of the level whose functions in libipt begin with pt_@kind_. */
#define DECODER_OPS(ops, kind, name, step)				\
static int sync_forward(void *decoder)					\
{									\
	return pt_##kind##_sync_forward(decoder);			\
}									\
									\
static int get_offset(void *decoder, uint64_t *offset)			\
{									\
	return pt_##kind##_get_offset(decoder, offset);			\
}									\
									\
static int get_time(void *decoder, uint64_t *tsc)			\
{									\
	return pt_##kind##_time(decoder, tsc, NULL, NULL);		\
}									\
									\
static int get_event(void *decoder, struct pt_event *event)		\
{									\
	return pt_##kind##_event(decoder, event, sizeof(*event));	\
}									\
									\
static const struct decoder_ops ops = {					\
	.level = name,							\
	.sync_forward = sync_forward,					\
	.get_offset = get_offset,					\
	.get_time = get_time,						\
	.get_event = get_event,						\
	.next = step,							\
}

struct flow {
	struct walk *walk;
	const struct stream *stream;
	const struct decoder_ops *ops;
	void *decoder;
	struct side_state state;
	uint64_t cr3;
	/* the last instruction that was read, for errors */
	uint64_t ip;
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
/* Decode the whole stream, beyond errors, and give back what flow_init() took. */
void flow_walk(struct flow *flow);

void walk_print_error(struct walk *walk, const struct stream *stream, const char *level,
		      uint64_t offset, const char *what);
void walk_emit_insn(struct walk *walk, const struct pt_insn *insn, uint64_t cr3, bool branch);
/* A record of another kind. */
void walk_emit(struct walk *walk, enum insn_kind kind, uint64_t ip);

#endif
