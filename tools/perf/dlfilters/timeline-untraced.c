// SPDX-License-Identifier: GPL-2.0
/*
 * timeline-untraced.c - where a thread ran, but was not traced on purpose
 *
 * The trace tells that it ends, by which instruction, and where it begins again. It does
 * not tell why: only the kernel or only user code may be traced, addresses may be filtered,
 * and events may pause the trace. What the recording does not have cannot be the reason; of
 * what is left, all reasons are named.
 */
#include "timeline-untraced.h"

#include <string.h>

#include "timeline-json.h"

#define INSN_MAX	15
#define CALL		PERF_DLFILTER_FLAG_CALL
#define RETURN		PERF_DLFILTER_FLAG_RETURN
#define SYSTEM		PERF_DLFILTER_FLAG_SYSCALLRET
#define INTERRUPT	PERF_DLFILTER_FLAG_INTERRUPT
#define ASYNC		PERF_DLFILTER_FLAG_ASYNC

void tl_untraced_begin(struct tl_thread *thread, u64 time,
		       const struct perf_dlfilter_sample *sample)
{
	thread->ended = true;
	thread->end_flags = sample->flags;
	thread->end_ip = sample->ip;
	thread->end_time = time;
}

bool tl_untraced_goes_on(const struct tl_thread *thread, u64 address)
{
	return thread->ended && address - thread->end_ip <= INSN_MAX;
}

struct kind {
	const char *cat, *name;
};

/* Somebody has arranged for it, or the driver did something. */
static struct kind by_arrangement(const struct tl_thread *thread)
{
	if (tl_rec.actions && tl_rec.filters)
		return (struct kind){ "untraced", "paused or filtered" };
	if (tl_rec.actions)
		return (struct kind){ "untraced", "paused" };
	if (tl_rec.filters)
		return (struct kind){ "untraced", "filtered" };
	return (struct kind){ "untraced", thread->switched ? "switched out" : "not traced" };
}

static struct kind kind_of(const struct tl_thread *thread, u64 address)
{
	u32 flags = thread->end_flags;
	bool arranged = tl_rec.actions || tl_rec.filters;

	if (flags & CALL && flags & SYSTEM)
		return (struct kind){ "syscall", "syscall" };
	if (flags & CALL && flags & INTERRUPT)
		return (struct kind){ "interrupt", "interrupt" };
	if (flags & RETURN && flags & (SYSTEM | INTERRUPT) && !tl_rec.user)
		return (struct kind){ "untraced", "user code" };
	if (flags & ASYNC && !tl_rec.kernel && !tl_is_kernel(thread->end_ip)) {
		if (!arranged || tl_untraced_goes_on(thread, address))
			return (struct kind){ "interrupt", "interrupt or exception" };
		/*
		 * After an interrupt or exception the program goes on where the trace ended,
		 * unless the kernel calls a signal's handler.
		 */
		return by_arrangement(thread);
	}
	if (flags & ASYNC && thread->switched)
		return (struct kind){ "untraced", "switched out" };
	return by_arrangement(thread);
}

void tl_untraced_end(struct tl_thread *thread, u64 time,
		     const struct perf_dlfilter_sample *sample)
{
	struct kind kind;
	u64 from;
	char *p;

	if (!thread->ended)
		return;
	kind = kind_of(thread, sample->addr);
	from = tl_tick(&thread->last, thread->end_time);
	p = tl_slice_of_thread(thread, from, tl_tick(&thread->last, time));
	p = tl_put(p, ",\"name\":");
	p = tl_put_string(p, kind.name);
	p = tl_put(p, ",\"cat\":");
	p = tl_put_string(p, kind.cat);
	if (thread->switched) {
		p = tl_put(p, ",\"args\":{\"switched out\":");
		p = tl_put_number(p, thread->switched);
		p = tl_put(p, "}");
	}
	tl_json_commit(tl_put(p, "}"));
	thread->ended = false;
	thread->switched = 0;
}
