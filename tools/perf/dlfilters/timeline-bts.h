/* SPDX-License-Identifier: GPL-2.0 */
/* timeline-bts.h - where in the trace of BTS a branch is, as it has no time */
#ifndef TIMELINE_BTS_H
#define TIMELINE_BTS_H

#include "timeline-bytes.h"
#include "timeline-losses.h"

/**
 * struct tl_bts - a walk through the branches of one area, and what was lost of them
 * @bytes: walk through the trace
 * @losses: walk through what the kernel tells of it
 * @branches: branches so far
 */
struct tl_bts {
	struct tl_bytes bytes;
	struct tl_losses losses;
	u64 branches;
};

#pragma GCC visibility push(hidden)

void tl_bts_init(struct tl_bts *bts, s32 key);
void tl_bts_free(struct tl_bts *bts);

/*
 * Go on to the branch from one address to another. @lost gets the flags of AUX records
 * that tell of a loss before it. The result is the number of branches up to this one,
 * or 0 if it is not there.
 */
u64 tl_bts_find(struct tl_bts *bts, u64 from, u64 to, u32 *lost);

#pragma GCC visibility pop

#endif /* TIMELINE_BTS_H */
