/* SPDX-License-Identifier: GPL-2.0 */
/* timeline-pt.h - what the packets of Intel PT tell of a hole, and samples do not */
#ifndef TIMELINE_PT_H
#define TIMELINE_PT_H

#include "timeline-bytes.h"
#include "timeline-losses.h"

/* More than there are between two TSC packets; others are not seen. */
#define TL_PT_TOKENS	32768

/**
 * struct tl_pt - a walk through the packets of one area
 * @bytes: walk through the trace
 * @losses: walk through what the kernel tells of it, if the trace has no time
 * @synced: packets are followed; otherwise the next PSB is looked for
 * @block: a block of items is open, in which bytes mean something else
 * @wide: its items have 8 bytes
 * @in_psb: packets repeat the state, until PSBEND
 * @lost: there was an OVF, and no address since
 * @anew: perf begins to decode with the next PSB
 * @from: when the window began
 * @to: when it ended; TL_NEVER if the trace ends with it
 * @tokens: what happened in the window, as far as it matters here
 * @nr: number of @tokens
 * @at: those before it have been matched with samples
 */
struct tl_pt {
	struct tl_bytes bytes;
	struct tl_losses losses;
	bool synced, block, wide, in_psb, lost, anew;
	u64 from, to;
	u8 tokens[TL_PT_TOKENS];
	u32 nr, at;
};

/* What was before a sample, or was not. */
enum {
	/* OVF packets */
	TL_PT_OVERFLOW	= 1 << 0,
	/* bytes that are not in the recording */
	TL_PT_GAP	= 1 << 1,
	/* the packet that the sample must come of: perf has lost its way */
	TL_PT_ASTRAY	= 1 << 2,
	/* what the area had no room for; only told if the trace has no time */
	TL_PT_TRUNCATED	= 1 << 3,
	/* what else the driver could not keep, likewise */
	TL_PT_PARTIAL	= 1 << 4,
};

/**
 * struct tl_snapshots - a walk through the snapshots of an area
 * @pt: the packets, from which the times are
 * @end: when the current one was taken
 * @begin: when the trace in the next one begins; TL_NEVER if there is none
 * @next_end: when that was taken
 */
struct tl_snapshots {
	struct tl_pt pt;
	u64 end, begin, next_end;
};

#pragma GCC visibility push(hidden)

void tl_pt_init(struct tl_pt *pt, s32 key);
void tl_pt_free(struct tl_pt *pt);

/* A sample at which the trace ends, or begins. Each must be told. */
void tl_pt_end(struct tl_pt *pt, u64 time);
u32 tl_pt_begin(struct tl_pt *pt, u64 time);

void tl_snapshots_init(struct tl_snapshots *snapshots, s32 key);
void tl_snapshots_free(struct tl_snapshots *snapshots);
/* Whether there is a gap between snapshots before a sample with this time, each once. */
bool tl_snapshots_gap(struct tl_snapshots *snapshots, u64 time);

#pragma GCC visibility pop

#endif /* TIMELINE_PT_H */
