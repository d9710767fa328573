/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Output into chosen regions of a poisoned window of memory, and the proof
 * that nothing else in the window changed.
 */
#ifndef REGION_H
#define REGION_H

#include "pt.h"

#define WINDOW		ARENA
#define WINDOW_SIZE	0x400000ul

struct region {
	u64 base, size;
};

/* Poisons the window; tracing is off, status and position are zero. */
void window_init(void);
/* Marks bytes that a test itself writes (tables). */
void window_allow(u64 base, u64 size);
/* A table entry at the next place of the table; the table is allowed memory. */
void topa_write(u64 table, u32 index, u64 entry);
/* All entries of a table. */
#define TOPA_TABLE(table, ...) do {					\
	const u64 e_[] = { __VA_ARGS__ };				\
	for (u32 i_ = 0; i_ < ARRAY_SIZE(e_); i_++)			\
		topa_write(table, i_, e_[i_]);				\
} while (0)
#define topa_entry(base, size_code, flags) \
	((base) | FIELD_PREP(TOPA_SIZE, size_code) | (flags))

/* Nothing changed in the window outside the allowed bytes. */
bool window_untouched(void);
bool all_poison(u64 base, u64 size);

/* The traced sequence: snip_bulk with @rounds. */
void bulk_run(u64 rounds, u64 ctl);
/* The bytes that bulk_run() produces, from a run into one large buffer. */
u64 bulk_reference(u64 rounds, u64 ctl);
#define REFERENCE ((const u8 *)OUTPUT_BUFFER)

snippet_fn snip_bulk;

#endif
