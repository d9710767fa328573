// SPDX-License-Identifier: GPL-2.0
/*
 * timeline-bts.c - where in the trace of BTS a branch is, as it has no time
 *
 * perf hands out the branches of an area in their order, but not all of them. Each is
 * looked for from the one before on. So its number is known, and what AUX records say
 * of the positions between the two.
 */
#include "timeline-bts.h"

#include <string.h>

struct branch {
	u64 from, to, flags;
};

void tl_bts_init(struct tl_bts *bts, s32 key)
{
	tl_bytes_init(&bts->bytes, key);
	tl_losses_init(&bts->losses, key);
	bts->branches = 0;
}

void tl_bts_free(struct tl_bts *bts)
{
	tl_bytes_free(&bts->bytes);
	tl_losses_free(&bts->losses);
}

/* A piece may follow that is another snapshot, or comes behind what was written over. */
static bool have_branch(struct tl_bts *bts)
{
	while (tl_bytes_peek(&bts->bytes, sizeof(struct branch)) < sizeof(struct branch)) {
		if (!tl_bytes_over_gap(&bts->bytes))
			return false;
	}
	return true;
}

u64 tl_bts_find(struct tl_bts *bts, u64 from, u64 to, u32 *lost)
{
	struct branch branch;

	*lost = 0;
	while (have_branch(bts)) {
		memcpy(&branch, tl_bytes_at(&bts->bytes), sizeof(branch));
		*lost |= tl_losses_until(&bts->losses, bts->bytes.pos);
		tl_bytes_skip(&bts->bytes, sizeof(branch));
		/* Padding at the end of a part of the area. */
		bts->branches += branch.from || branch.to;
		if (branch.from == from && branch.to == to)
			return bts->branches;
	}
	return 0;
}
