/* SPDX-License-Identifier: GPL-2.0 */
/* timeline-losses.h - where in an area's trace the kernel tells of a loss */
#ifndef TIMELINE_LOSSES_H
#define TIMELINE_LOSSES_H

#include "timeline-file.h"
#include "timeline-records.h"

/**
 * struct tl_losses - a walk through an area's AUX records that tell of a loss
 * @cursor: walk through the records
 * @key: CPU or thread of the area
 * @at: position in the trace of the next one; TL_NEVER if there is none
 * @flags: its flags
 */
struct tl_losses {
	struct tl_cursor cursor;
	s32 key;
	u64 at;
	u32 flags;
};

#pragma GCC visibility push(hidden)

void tl_losses_init(struct tl_losses *losses, s32 key);
void tl_losses_free(struct tl_losses *losses);
/* The flags of those up to a position in the trace, each once. */
u32 tl_losses_until(struct tl_losses *losses, u64 position);

#pragma GCC visibility pop

#endif /* TIMELINE_LOSSES_H */
