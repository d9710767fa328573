// SPDX-License-Identifier: GPL-2.0
/*
 * dlfilter-timeline.c: a timeline of an Intel PT or BTS recording, as Chrome Trace Events
 *
 *	perf script --itrace=cre --dlfilter dlfilter-timeline.so --dlarg FILE
 *
 * Outside of the kernel's tree, where perf_dlfilter.h is installed:
 *
 *	cc -O2 -shared -fPIC -o dlfilter-timeline.so dlfilter-timeline.c timeline-*.c
 *
 * Each part is in a file of its own: what perf's samples say in timeline-calls.c and
 * timeline-untraced.c, where trace is missing in timeline-holes.c, the tracks in
 * timeline-tracks.c. timeline-file.c and those above it read the recording itself.
 * All memory has a limit that does not depend on the length of the trace.
 */
#include <perf/perf_dlfilter.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline-calls.h"
#include "timeline-events.h"
#include "timeline-file.h"
#include "timeline-holes.h"
#include "timeline-json.h"
#include "timeline-untraced.h"

#define OUTPUT		"perf-timeline.json"
#define DATA_ARG	"data="
#define BRANCHES	"branches"

struct perf_dlfilter_fns perf_dlfilter_fns;

static struct {
	const char *output, *data;
	/* perf has called start(), or only asked for the description */
	bool asked, open;
	/* samples; those of them that do not only say that the trace begins */
	u64 samples, decoded;
} timeline = { .output = OUTPUT };

static void say(const char *remedy, const char *fmt, va_list args)
{
	fflush(stdout);
	fprintf(stderr, TL_NAME ": ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, "; %s\n", remedy);
}

void tl_say(const char *remedy, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(remedy, fmt, args);
	va_end(args);
}

void tl_die(const char *remedy, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(remedy, fmt, args);
	va_end(args);
	exit(EXIT_FAILURE);
}

void *tl_alloc(size_t size)
{
	void *mem = calloc(1, size);

	if (!mem)
		tl_die("decode on a machine that has more", "no memory");
	return mem;
}

static int take_args(void *ctx)
{
	int argc = 0, i;
	char **argv = perf_dlfilter_fns.args(ctx, &argc);

	if (argc > 2) {
		tl_say("name only the file to be written", "%d arguments are too many", argc);
		return -1;
	}
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], DATA_ARG, strlen(DATA_ARG)))
			timeline.data = argv[i] + strlen(DATA_ARG);
		else
			timeline.output = argv[i];
	}
	return 0;
}

int start(void **data, void *ctx)
{
	(void)data;
	timeline.asked = true;
	if (take_args(ctx) || tl_file_open(timeline.data) || tl_file_check() ||
	    tl_json_init(timeline.output))
		return -1;
	tl_events_init();
	tl_names_init();
	tl_tracks_init();
	timeline.open = true;
	return 0;
}

static void on_switch_out(const struct tl_event *event, struct tl_thread *thread)
{
	struct tl_area *area = tl_area_of(event->key);

	thread->switched++;
	/* If the kernel is traced, the thread still has samples after that. */
	if (area->ended && area->thread == thread)
		tl_area_run(area, NULL, event->time);
}

static void on_thread_event(const struct tl_event *event, struct tl_thread *thread)
{
	switch (event->type) {
	case TL_EVENT_COMM:
		tl_thread_rename(thread, event->comm);
		thread->exec |= event->exec;
		break;
	case TL_EVENT_EXIT:
		thread->exiting = true;
		break;
	case TL_EVENT_FORK:
		/* Another thread with its number. */
		if (thread->exiting)
			tl_thread_end(thread, NULL);
		break;
	case TL_EVENT_SWITCH_OUT:
		on_switch_out(event, thread);
		break;
	}
}

static void on_event(const struct tl_event *event)
{
	struct tl_thread *thread;

	switch (event->type) {
	case TL_EVENT_AUX:
	case TL_EVENT_LOST:
		tl_holes_event(event);
		return;
	case TL_EVENT_MAP:
		tl_names_forget(event->pid);
		return;
	}
	if (event->exec)
		tl_names_forget(event->pid);
	thread = tl_thread_find(event->tid);
	if (thread)
		on_thread_event(event, thread);
}

/* BTS has no time. A branch has the number that it has in the trace, in microseconds. */
static u64 time_of_branch(struct tl_area *area, struct tl_thread *thread,
			  const struct perf_dlfilter_sample *sample)
{
	u64 number, time;
	u32 lost;

	if (!area->bts) {
		area->bts = tl_alloc(sizeof(*area->bts));
		tl_bts_init(area->bts, area->key);
	}
	number = tl_bts_find(area->bts, sample->ip, sample->addr, &lost);
	time = number ? number * TL_TICK : area->seen;
	if (lost) {
		tl_holes_bts(area, thread, time, time + TL_TICK, lost);
		area->bts->branches++;
		time += TL_TICK;
	}
	return time;
}

static void on_begin(struct tl_thread *thread, u64 time, const struct perf_dlfilter_sample *sample,
		     void *ctx)
{
	bool goes_on = tl_untraced_goes_on(thread, sample->addr);

	if (thread->exec && !tl_is_kernel(sample->addr)) {
		tl_calls_close(thread, 0, thread->ended ? thread->end_time : time, "exec");
		thread->exec = false;
	}
	tl_untraced_end(thread, time, sample);
	if (!goes_on)
		tl_calls_begin(thread, time, sample, ctx);
}

static void on_branch(struct tl_thread *thread, u64 time,
		      const struct perf_dlfilter_sample *sample, void *ctx)
{
	if (sample->flags & PERF_DLFILTER_FLAG_TRACE_BEGIN && !sample->ip) {
		on_begin(thread, time, sample, ctx);
		return;
	}
	timeline.decoded++;
	if (sample->flags & PERF_DLFILTER_FLAG_TRACE_END) {
		if (sample->flags & PERF_DLFILTER_FLAG_RETURN)
			tl_calls_leave(thread, time, sample);
		tl_untraced_begin(thread, time, sample);
	} else if (sample->flags & PERF_DLFILTER_FLAG_CALL) {
		tl_calls_call(thread, time, sample, ctx);
	} else if (sample->flags & PERF_DLFILTER_FLAG_RETURN) {
		tl_calls_return(thread, time, sample, ctx);
	}
}

/* Where samples have no time either, they are counted. */
static u64 time_of_sample(const struct tl_area *area, const struct perf_dlfilter_sample *sample)
{
	return tl_rec.timeless ? area->seen + 2 * TL_TICK : sample->time;
}

static void on_sample(const struct perf_dlfilter_sample *sample, void *ctx)
{
	struct tl_area *area = tl_area_of(tl_rec.per_cpu ? sample->cpu : sample->tid);
	struct tl_thread *thread = tl_thread_of(sample, ctx);
	u64 time;

	if (tl_rec.bts) {
		time = time_of_branch(area, thread, sample);
	} else {
		time = time_of_sample(area, sample);
		tl_holes_sample(area, thread, time, sample->flags);
	}
	thread->insn += sample->insn_cnt;
	thread->cyc += sample->cyc_cnt;
	tl_area_run(area, thread, time);
	on_branch(thread, time, sample, ctx);
	thread->area = area->key;
	area->seen = time;
	area->ended = sample->flags & PERF_DLFILTER_FLAG_TRACE_END;
}

/* The first sample tells whether there is a time. */
static void on_first_sample(const struct perf_dlfilter_sample *sample)
{
	tl_rec.timeless = !sample->time;
	tl_json_events();
	tl_tracks_begin();
}

static bool is_branches(const char *event)
{
	/* perf has one such name, and its address is mostly the one of the sample before. */
	static const char *last;

	if (!event || event == last)
		return event;
	if (strncmp(event, BRANCHES, strlen(BRANCHES)))
		return false;
	last = event;
	return true;
}

int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	(void)data;
	/* Branches that are synthesized have flags; those of an event have none. */
	if (!(sample->flags & PERF_DLFILTER_FLAG_BRANCH) || !is_branches(sample->event)) {
		if (tl_rec.sampling && !sample->flags)
			tl_holes_sampled(sample->tid);
		return 1;
	}
	if (!timeline.samples++)
		on_first_sample(sample);
	if (!tl_rec.timeless)
		tl_events_until(sample->time, on_event);
	on_sample(sample, ctx);
	return 1;
}

static void close_thread(struct tl_thread *thread)
{
	tl_thread_close(thread, "end of trace");
}

static void close_area(struct tl_area *area)
{
	tl_holes_end(area);
	tl_area_run(area, NULL, area->seen);
}

static void finish(void)
{
	char *p;

	if (!tl_rec.timeless)
		tl_events_until(TL_NEVER - 1, on_event);
	tl_areas_for_each(close_area);
	tl_threads_for_each(close_thread);
	tl_json_other();
	p = tl_put(tl_json_reserve(), "\n\"recorded on\":");
	p = tl_put_string(p, tl_rec.host);
	p = tl_put(p, ",\n\"trace\":");
	p = tl_put_string(p, tl_rec.bts ? "Intel BTS" : "Intel PT");
	p = tl_put(p, ",\n\"time\":");
	p = tl_put_string(p, tl_rec.bts ? "a microsecond is a branch" :
			  tl_rec.timeless ? "two microseconds are a call or a return" :
			  "perf's clock");
	p = tl_put(p, ",\n\"holes\":");
	tl_json_commit(tl_holes_put_numbers(p));
	tl_json_close();
}

int stop(void *data, void *ctx)
{
	(void)data;
	(void)ctx;
	if (!timeline.open)
		return 0;
	if (!timeline.samples)
		tl_die("if it says nothing else, run it with --itrace=cre", "perf gave no calls");
	finish();
	if (!timeline.decoded)
		tl_die("decode it there, or bring its programs here, see perf archive and --symfs",
		       "no code of what was traced on '%s' is found here", tl_rec.host);
	tl_tracks_exit();
	tl_names_exit();
	tl_events_exit();
	tl_file_close();
	return 0;
}

/* perf has loaded the filter, and then ended without a start. */
__attribute__((destructor)) static void unload(void)
{
	if (!timeline.asked)
		tl_say("if a newer perf has written it, decode it with that one",
		       "perf did not open the recording");
}

const char *filter_description(const char **long_description)
{
	timeline.asked = true;
	*long_description = "Use it with perf script --itrace=cre. --dlarg names the file.";
	return "Write a timeline of calls as Chrome Trace Events";
}
