/* SPDX-License-Identifier: GPL-2.0 */
/* timeline-attr.h - the events of a recording, as its header lists them */
#ifndef TIMELINE_ATTR_H
#define TIMELINE_ATTR_H

#include "timeline.h"

#pragma GCC visibility push(hidden)

/* Read the list of size bytes at a place; each entry has entry bytes. 0, or -1 if damaged. */
int tl_attr_read(u64 at, u64 size, u64 entry);
void tl_attr_free(void);

/* Which members of a record's end the event with this ID has; 0 if none. */
u64 tl_attr_sample_type(u64 id);
/* Whether the ID is at the end of each record, so that it tells the event. */
bool tl_attr_has_id(void);
/* Take what the event of this type says into tl_rec; cyc is the bit that asks for CYC packets. */
void tl_attr_of_trace(u32 type, u64 cyc);

#pragma GCC visibility pop

#endif /* TIMELINE_ATTR_H */
