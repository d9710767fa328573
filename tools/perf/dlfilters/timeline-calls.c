// SPDX-License-Identifier: GPL-2.0
/*
 * timeline-calls.c - the calls of a thread, as nested slices
 *
 * A slice is written when its call has returned. A return ends the innermost call whose
 * next instruction it goes to. What was called inside of that, and did not return, was
 * left by longjmp() or the like. If a function calls that is not the innermost one, it
 * was gone on with by such a leap, or by a jump, as of a tail call.
 */
#include "timeline-calls.h"

#include <stdlib.h>
#include <string.h>

#include "timeline-json.h"

#define DEPTH_MAX		2048
#define DEPTH_FIRST		32
/* The longest instruction: a call returns to the one behind it. */
#define INSN_MAX		15
#define LEFT			"left without return"

/* The members of "args". */
struct args {
	char *p;
	bool any;
};

static void arg(struct args *args, const char *key)
{
	if (args->any)
		args->p = tl_put(args->p, ",");
	else
		args->p = tl_put(args->p, ",\"args\":{");
	args->any = true;
	args->p = tl_put_string(args->p, key);
	args->p = tl_put(args->p, ":");
}

static void arg_text(struct args *args, const char *key, const char *text)
{
	if (!text)
		return;
	arg(args, key);
	args->p = tl_put_string(args->p, text);
}

static void arg_number(struct args *args, const char *key, u64 number)
{
	if (!number)
		return;
	arg(args, key);
	args->p = tl_put_number(args->p, number);
}

static void arg_counts(struct args *args, u64 insn, u64 cyc)
{
	arg_number(args, "instructions", insn);
	arg_number(args, "cycles", cyc);
	arg(args, "IPC");
	args->p = tl_put_ratio(args->p, insn, cyc);
}

static char *put_address(char *p, u64 address)
{
	int shift;

	p = tl_put(p, "\"name\":\"0x");
	for (shift = 60; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[address >> shift & 15];
	return tl_put(p, "\"");
}

static char *put_name(char *p, const struct tl_call *call)
{
	static const char * const kinds[] = {
		[TL_CALL] = "unknown", [TL_SYSCALL] = "syscall", [TL_INTERRUPT] = "interrupt",
	};
	const struct tl_name *name = call->name;

	p = tl_put(p, ",");
	if (name && call->kind == TL_CALL)
		return tl_put_bytes(p, name->json, name->len);
	if (name && name->end) {
		p = tl_put_bytes(p, name->json, name->name_len);
	} else if (call->kind != TL_CALL) {
		p = tl_put(p, "\"name\":");
		p = tl_put_string(p, kinds[call->kind]);
	} else {
		p = put_address(p, call->address);
	}
	p = tl_put(p, ",\"cat\":");
	return tl_put_string(p, kinds[call->kind]);
}

/* Write the innermost call, and forget it. */
static void close_one(struct tl_thread *thread, u64 time, const char *key, const char *why)
{
	struct tl_call *call = &thread->calls[--thread->depth];
	struct args args = { NULL, false };

	args.p = tl_slice_of_thread(thread, call->since, tl_tick(&thread->last, time));
	args.p = put_name(args.p, call);
	/* Without CYC packets, perf has cycles from times, which go on where nothing is traced. */
	if (tl_rec.cycles && thread->cyc > call->cyc)
		arg_counts(&args, thread->insn - call->insn, thread->cyc - call->cyc);
	arg_text(&args, "entered", !call->from ? "without a call" :
		 call->jumped ? "by a jump" : NULL);
	arg_number(&args, "deeper calls, not shown", thread->hidden);
	arg_text(&args, key, why);
	if (args.any)
		args.p = tl_put(args.p, "}");
	tl_json_commit(tl_put(args.p, "}"));
	thread->deeper = 0;
	thread->hidden = 0;
	tl_name_release(call->name);
	if (thread->depth <= thread->kernel)
		thread->kernel = TL_NO_KERNEL;
}

void tl_calls_close(struct tl_thread *thread, u32 depth, u64 time, const char *why)
{
	while (thread->depth > depth)
		close_one(thread, time, "end", why);
}

void tl_calls_cut(struct tl_thread *thread, u64 time, const char *why)
{
	while (thread->depth)
		close_one(thread, time, "cut", why);
}

/* A call returns; those that it made, and which are open, were left. */
static void return_from(struct tl_thread *thread, u32 depth, u64 time)
{
	tl_calls_close(thread, depth + 1, time, LEFT);
	tl_calls_close(thread, depth, time, NULL);
}

static bool grow(struct tl_thread *thread)
{
	u32 room = thread->room ? 2 * thread->room : DEPTH_FIRST;

	if (thread->depth < thread->room)
		return true;
	if (room > DEPTH_MAX)
		return false;
	thread->calls = realloc(thread->calls, room * sizeof(*thread->calls));
	if (!thread->calls)
		tl_die("decode a part of the trace by --time", "no memory for calls");
	thread->room = room;
	return true;
}

static void open_call(struct tl_thread *thread, u64 time, const struct tl_call *call)
{
	struct tl_call *new;

	if (!grow(thread)) {
		thread->deeper++;
		thread->hidden++;
		return;
	}
	if (call->kind != TL_CALL && !tl_is_kernel(call->from) && thread->kernel == TL_NO_KERNEL)
		thread->kernel = thread->depth;
	new = &thread->calls[thread->depth++];
	*new = *call;
	tl_name_hold(new->name);
	new->since = tl_tick(&thread->last, time);
	new->insn = thread->insn;
	new->cyc = thread->cyc;
}

/* The kernel goes back to user code: all that it had called is over. */
static void leave_kernel(struct tl_thread *thread, u64 time)
{
	const struct tl_call *calls = thread->calls;
	u32 depth = thread->kernel;

	if (depth == TL_NO_KERNEL) {
		/* Its entry was not seen. */
		for (depth = thread->depth; depth; depth--) {
			if (!tl_is_kernel(calls[depth - 1].from ? : calls[depth - 1].address))
				break;
		}
		tl_calls_close(thread, depth, time, NULL);
	} else {
		return_from(thread, depth, time);
	}
	if (thread->exec)
		tl_calls_close(thread, 0, time, "exec");
	thread->exec = false;
}

/* User code runs, so the kernel has returned, though that was not seen. */
static void enter_user(struct tl_thread *thread, u64 time, u64 ip)
{
	if (!tl_is_kernel(ip) && thread->kernel != TL_NO_KERNEL)
		leave_kernel(thread, time);
}

/* The innermost function jumped to the one that now calls. */
static void replace_top(struct tl_thread *thread, u64 time, struct tl_name *name)
{
	struct tl_call call = thread->calls[thread->depth - 1];

	close_one(thread, time, "end", "jump");
	call.name = name;
	call.address = name->start;
	call.jumped = true;
	open_call(thread, time, &call);
}

/* Have the function that calls as the innermost one. */
static void go_to_caller(struct tl_thread *thread, u64 time,
			 const struct perf_dlfilter_sample *sample, void *ctx)
{
	struct tl_call *top = &thread->calls[thread->depth - 1], *call;
	struct tl_name *name;

	if (!thread->depth || thread->deeper || top->kind != TL_CALL || !top->name ||
	    tl_name_has(top->name, sample->ip))
		return;
	name = tl_name_from(sample, ctx);
	if (!name || !name->end)
		return;
	for (call = top; call >= thread->calls; call--) {
		if (tl_name_has(call->name, sample->ip)) {
			tl_calls_close(thread, call - thread->calls + 1, time, LEFT);
			return;
		}
		if (call->kind != TL_CALL)
			break;
	}
	replace_top(thread, time, name);
}

void tl_calls_call(struct tl_thread *thread, u64 time, const struct perf_dlfilter_sample *sample,
		   void *ctx)
{
	struct tl_call call = { .address = sample->addr, .from = sample->ip };

	if (sample->flags & PERF_DLFILTER_FLAG_SYSCALLRET)
		call.kind = TL_SYSCALL;
	else if (sample->flags & (PERF_DLFILTER_FLAG_INTERRUPT | PERF_DLFILTER_FLAG_VMEXIT))
		call.kind = TL_INTERRUPT;
	enter_user(thread, time, sample->ip);
	if (call.kind == TL_CALL)
		go_to_caller(thread, time, sample, ctx);
	call.name = tl_name_to(sample, ctx);
	open_call(thread, time, &call);
}

static bool returns_to(const struct tl_call *call, u64 address)
{
	u64 distance = address - call->from;

	/* What was interrupted goes on where it was. */
	return call->from && distance <= INSN_MAX && (distance || call->kind == TL_INTERRUPT);
}

/* Where a function that was not seen called returns to is not known. */
static void leave_uncalled(struct tl_thread *thread, u64 time)
{
	if (thread->depth && !thread->calls[thread->depth - 1].from)
		tl_calls_close(thread, thread->depth - 1, time, NULL);
}

/* The kernel goes back, or to another place: a handler of signals, or another program. */
static void return_to_user(struct tl_thread *thread, u64 time,
			   const struct perf_dlfilter_sample *sample, void *ctx)
{
	bool goes_on = thread->kernel == TL_NO_KERNEL ||
		       returns_to(&thread->calls[thread->kernel], sample->addr);

	leave_kernel(thread, time);
	if (!goes_on)
		tl_calls_begin(thread, time, sample, ctx);
}

void tl_calls_return(struct tl_thread *thread, u64 time, const struct perf_dlfilter_sample *sample,
		     void *ctx)
{
	u32 depth, least = 0;

	if (tl_is_kernel(sample->ip) && !tl_is_kernel(sample->addr)) {
		return_to_user(thread, time, sample, ctx);
		return;
	}
	enter_user(thread, time, sample->ip);
	if (thread->deeper) {
		thread->deeper--;
		return;
	}
	if (tl_is_kernel(sample->ip) && thread->kernel != TL_NO_KERNEL)
		least = thread->kernel;
	for (depth = thread->depth; depth > least; depth--) {
		if (returns_to(&thread->calls[depth - 1], sample->addr)) {
			return_from(thread, depth - 1, time);
			return;
		}
	}
	leave_uncalled(thread, time);
}

void tl_calls_begin(struct tl_thread *thread, u64 time, const struct perf_dlfilter_sample *sample,
		    void *ctx)
{
	struct tl_call call = { .address = sample->addr };
	struct tl_name *name = tl_name_to(sample, ctx);

	if (!name || !name->end || name->start != sample->addr)
		return;
	call.name = name;
	open_call(thread, time, &call);
}

void tl_calls_leave(struct tl_thread *thread, u64 time,
		    const struct perf_dlfilter_sample *sample)
{
	if (tl_is_kernel(sample->ip) &&
	    sample->flags & (PERF_DLFILTER_FLAG_SYSCALLRET | PERF_DLFILTER_FLAG_INTERRUPT))
		leave_kernel(thread, time);
	else
		leave_uncalled(thread, time);
}
