/* SPDX-License-Identifier: GPL-2.0 */
/*
 * timeline-events.h - what the kernel recorded beside the trace, in order of time
 */
#ifndef TIMELINE_EVENTS_H
#define TIMELINE_EVENTS_H

#include "timeline.h"

enum tl_event_type {
	/* a transaction of the area ended: @flags as in the record */
	TL_EVENT_AUX,
	/* @count records were lost since @from */
	TL_EVENT_LOST,
	/* the thread has the name @comm; @exec: since it runs another program */
	TL_EVENT_COMM,
	/* the thread ends */
	TL_EVENT_EXIT,
	/* it was made */
	TL_EVENT_FORK,
	/* the thread was taken off its CPU */
	TL_EVENT_SWITCH_OUT,
	/* code was mapped into the process, or into the kernel if pid is -1 */
	TL_EVENT_MAP,
};

/**
 * struct tl_event - what a record says, if it matters here
 * @time: when it was written; 0: it was so before
 * @from: when what it tells of began, at the earliest
 * @serial: its number, as several may have one time
 * @type: what it is
 * @exec: see TL_EVENT_COMM
 * @flags: see TL_EVENT_AUX
 * @pid: process
 * @tid: thread
 * @key: area: CPU or thread
 * @count: see TL_EVENT_LOST
 * @comm: see TL_EVENT_COMM
 */
struct tl_event {
	u64 time, from;
	u64 serial;
	u8 type;
	bool exec;
	u32 flags;
	s32 pid, tid, key;
	union {
		u64 count;
		char comm[16];
	};
};

#pragma GCC visibility push(hidden)

/* There is no event that is new up to this time; then tl_events_until() does nothing. */
extern u64 tl_events_next;

void tl_events_init(void);
void tl_events_exit(void);

/* Hand all events up to a time to a function, each once, in their order. */
void tl_events_until(u64 time, void (*fn)(const struct tl_event *event));

/* The first TL_EVENT_AUX of an area at or after a time, from those to come; NULL if none. */
const struct tl_event *tl_events_aux_after(s32 key, u64 time);

#pragma GCC visibility pop

#endif /* TIMELINE_EVENTS_H */
