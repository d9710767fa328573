// SPDX-License-Identifier: GPL-2.0
/*
 * timeline-losses.c - where in an area's trace the kernel tells of a loss
 *
 * This is for traces that have no time. Where there is one, AUX records have it too, and
 * timeline-events.c says when something was lost.
 */
#include "timeline-losses.h"

#include <string.h>

#define LOSSES	(PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_COLLISION)

static void next_loss(struct tl_losses *losses)
{
	struct tl_origin origin;
	struct tl_record rec;
	/* offset, size, flags */
	u64 words[3];

	losses->at = TL_NEVER;
	while (tl_next(&losses->cursor, &rec) > 0) {
		if (rec.type != PERF_RECORD_AUX || rec.len < sizeof(words))
			continue;
		memcpy(words, rec.body, sizeof(words));
		tl_origin_of(&rec, &origin);
		if (!(words[2] & LOSSES) ||
		    (tl_rec.per_cpu ? origin.cpu : origin.tid) != losses->key)
			continue;
		losses->at = words[0] + words[1];
		losses->flags = words[2] & LOSSES;
		return;
	}
}

void tl_losses_init(struct tl_losses *losses, s32 key)
{
	memset(losses, 0, sizeof(*losses));
	tl_cursor_init(&losses->cursor, TL_CURSOR_HEADS);
	losses->key = key;
	next_loss(losses);
}

void tl_losses_free(struct tl_losses *losses)
{
	tl_cursor_free(&losses->cursor);
}

u32 tl_losses_until(struct tl_losses *losses, u64 position)
{
	u32 flags = 0;

	for (; losses->at <= position; next_loss(losses))
		flags |= losses->flags;
	return flags;
}
