/* SPDX-License-Identifier: GPL-2.0 */
/* timeline-holes.h - where trace is missing, and why */
#ifndef TIMELINE_HOLES_H
#define TIMELINE_HOLES_H

#include "timeline-events.h"
#include "timeline-tracks.h"

#pragma GCC visibility push(hidden)

/* The kernel told of a loss, or of the end of a transaction. */
void tl_holes_event(const struct tl_event *event);

/* A sample of this thread has a trace of its own, which ends there. */
void tl_holes_sampled(s32 tid);

/* Before a sample is looked at: if there is a hole before it, cut what it cuts. */
void tl_holes_sample(struct tl_area *area, struct tl_thread *thread, u64 time, u32 flags);
/* The same for BTS, where AUX records with these flags tell of a loss before the sample. */
void tl_holes_bts(struct tl_area *area, struct tl_thread *thread, u64 from, u64 to, u32 flags);
/* After the last sample. */
void tl_holes_end(struct tl_area *area);

/* How many holes there are, by reason, as an object. */
char *tl_holes_put_numbers(char *p);

#pragma GCC visibility pop

#endif /* TIMELINE_HOLES_H */
