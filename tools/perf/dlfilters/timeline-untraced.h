/* SPDX-License-Identifier: GPL-2.0 */
/* timeline-untraced.h - where a thread ran, but was not traced on purpose */
#ifndef TIMELINE_UNTRACED_H
#define TIMELINE_UNTRACED_H

#include "timeline-tracks.h"

#pragma GCC visibility push(hidden)

/* The trace of a thread ends with this sample. */
void tl_untraced_begin(struct tl_thread *thread, u64 time,
		       const struct perf_dlfilter_sample *sample);
/* It begins with this one: a slice tells of what was between. */
void tl_untraced_end(struct tl_thread *thread, u64 time,
		     const struct perf_dlfilter_sample *sample);
/* Whether the trace goes on where it had ended. */
bool tl_untraced_goes_on(const struct tl_thread *thread, u64 address);

#pragma GCC visibility pop

#endif /* TIMELINE_UNTRACED_H */
