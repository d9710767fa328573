/* SPDX-License-Identifier: GPL-2.0 */
/*
 * timeline-tracks.h - threads and areas, and the tracks that they have
 *
 * A thread has a track with its calls. A CPU has one with the threads that ran on it.
 * An area, which is a CPU's or a thread's, has one with its holes.
 */
#ifndef TIMELINE_TRACKS_H
#define TIMELINE_TRACKS_H

#include "timeline-bts.h"
#include "timeline-names.h"
#include "timeline-pt.h"

/* What a call is of. */
enum tl_call_kind {
	TL_CALL,
	/* a system call */
	TL_SYSCALL,
	/* an interrupt, or an exception */
	TL_INTERRUPT,
};

/**
 * struct tl_call - a call that is open
 * @name: the function; NULL if there was no room for the name
 * @address: where it begins
 * @from: the instruction that called; 0 if the call was not seen
 * @since: when
 * @insn: instructions of the thread before
 * @cyc: cycles of the thread before
 * @kind: what it is
 * @jumped: the function was not called, but another one that was went on there
 */
struct tl_call {
	struct tl_name *name;
	u64 address, from, since, insn, cyc;
	u8 kind;
	bool jumped;
};

/**
 * struct tl_thread - a thread, or the idle task of a CPU
 * @pid: its process
 * @tid: the thread; 0 is the idle task, -1 a thread that is not known
 * @cpu: CPU of an idle or unknown task, otherwise -1
 * @serial: number of the last sample of it; 0 if the entry is free
 * @last: the latest time on its track
 * @area: key of the area that had its last sample
 * @insn: instructions so far
 * @cyc: cycles so far
 * @calls: calls that are open
 * @depth: their number
 * @room: how many of them have room
 * @deeper: calls below them that had none, and are open
 * @hidden: such calls below the innermost of them, open or not
 * @kernel: how many of @calls are of user code; more than @depth if all are
 * @exec: another program runs in it, from the next return to user code on
 * @exiting: it ends, though some code of the kernel may still run in it
 * @ended: its trace has ended, as code ran that is not traced
 * @end_flags: the flags of the sample that said so
 * @end_ip: its instruction
 * @end_time: its time
 * @switched: how often it was taken off a CPU since its trace last began
 * @comm: its name
 * @ids: its numbers, as members of an event
 * @ids_len: length of @ids
 */
struct tl_thread {
	s32 pid, tid, cpu;
	u64 serial, last;
	s32 area;
	u64 insn, cyc;
	struct tl_call *calls;
	u32 depth, room, kernel;
	u64 deeper, hidden;
	bool exec, exiting, ended;
	u32 end_flags;
	u64 end_ip, end_time;
	u32 switched;
	char comm[16], ids[48];
	u8 ids_len;
};

/* Why there is a hole. Bits, as there may be several reasons. */
enum {
	TL_TRUNCATED	= 1 << 0,
	TL_PARTIAL	= 1 << 1,
	TL_LOST		= 1 << 2,
	TL_OVERFLOW	= 1 << 3,
	TL_ERROR	= 1 << 4,
	TL_SNAPSHOT	= 1 << 5,
	TL_SAMPLE	= 1 << 6,
	TL_OVERWRITTEN	= 1 << 7,
};

/**
 * struct tl_area - an area, and the CPU if it is one's
 * @key: CPU or thread
 * @used: the entry is taken
 * @seen: time of its last sample; 0 if there was none
 * @ended: the trace had ended with it
 * @thread: the thread that it was of
 * @why: losses since, that the kernel told of
 * @lost: records that were lost since
 * @why_time: time of the last of these losses
 * @gap_from: a transaction in which data is missing somewhere; it began here
 * @gap_to: it ended here; 0 if there is none
 * @gap_known: the end of such a transaction for which there is a hole already
 * @aux_time: when the last transaction ended
 * @run_since: since when @thread runs on the CPU; 0 if it does not
 * @run_last: the latest time on the CPU's track
 * @hole_last: the latest time on the track of holes
 * @holes_named: that track has its name
 * @pt: walk through the packets, if they are of PT
 * @snapshots: walk through the snapshots, if it has such
 * @sampled: a sample with a trace was there since
 * @bts: walk through the branches, if they are of BTS
 */
struct tl_area {
	s32 key;
	bool used, ended;
	u64 seen;
	struct tl_thread *thread;
	u32 why;
	u64 lost, why_time;
	u64 gap_from, gap_to, gap_known, aux_time;
	u64 run_since, run_last, hole_last;
	bool holes_named;
	struct tl_pt *pt;
	struct tl_snapshots *snapshots;
	bool sampled;
	struct tl_bts *bts;
};

#pragma GCC visibility push(hidden)

void tl_tracks_init(void);
void tl_tracks_exit(void);
/* Write the first event. */
void tl_tracks_begin(void);

/* The thread of a sample; a new one has a name from perf. */
struct tl_thread *tl_thread_of(const struct perf_dlfilter_sample *sample, void *ctx);
/* The thread with this tid, or NULL if no sample was of it. */
struct tl_thread *tl_thread_find(s32 tid);
void tl_thread_rename(struct tl_thread *thread, const char *comm);
/* Close its calls, which have not returned, and say why. */
void tl_thread_close(struct tl_thread *thread, const char *why);
/* The same, and forget it. */
void tl_thread_end(struct tl_thread *thread, const char *why);
void tl_threads_for_each(void (*fn)(struct tl_thread *thread));

/* The area with this key; a new one if need be. */
struct tl_area *tl_area_of(s32 key);
void tl_areas_for_each(void (*fn)(struct tl_area *area));
/* A thread is run by the area's CPU, since a time; NULL: none. */
void tl_area_run(struct tl_area *area, struct tl_thread *thread, u64 time);

/* A time on a track that is later than all others there; at least time. */
static inline u64 tl_tick(u64 *last, u64 time)
{
	*last = time > *last ? time : *last + 1;
	return *last;
}

/* Begin a slice on a track. Name and category are to be put behind it, then "}". */
char *tl_slice_of_thread(const struct tl_thread *thread, u64 from, u64 to);
char *tl_slice_of_holes(struct tl_area *area, u64 from, u64 to);

#pragma GCC visibility pop

#endif /* TIMELINE_TRACKS_H */
