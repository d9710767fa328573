/* SPDX-License-Identifier: GPL-2.0 */
/* timeline-calls.h - the calls of a thread, as nested slices */
#ifndef TIMELINE_CALLS_H
#define TIMELINE_CALLS_H

#include "timeline-tracks.h"

/* thread->kernel: no call of the stack is the kernel's. */
#define TL_NO_KERNEL	UINT32_MAX

#pragma GCC visibility push(hidden)

/* A sample that calls, or one that returns. */
void tl_calls_call(struct tl_thread *thread, u64 time, const struct perf_dlfilter_sample *sample,
		   void *ctx);
void tl_calls_return(struct tl_thread *thread, u64 time, const struct perf_dlfilter_sample *sample,
		     void *ctx);

/* The trace begins in a function. If it does where that begins, it is a call that was not seen. */
void tl_calls_begin(struct tl_thread *thread, u64 time, const struct perf_dlfilter_sample *sample,
		    void *ctx);
/* A function returns to code that is not traced. */
void tl_calls_leave(struct tl_thread *thread, u64 time,
		    const struct perf_dlfilter_sample *sample);

/* Close all calls but some. @why goes into their slices, if it is not NULL. */
void tl_calls_close(struct tl_thread *thread, u32 depth, u64 time, const char *why);
/* The same, of all, at a hole. */
void tl_calls_cut(struct tl_thread *thread, u64 time, const char *why);

#pragma GCC visibility pop

#endif /* TIMELINE_CALLS_H */
