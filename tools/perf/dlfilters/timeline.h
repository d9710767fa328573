/* SPDX-License-Identifier: GPL-2.0 */
/*
 * timeline.h - what all parts of dlfilter-timeline share
 *
 * The filter is a shared object in a program that exports functions of its own.
 * So whatever a header declares is hidden, and has a name that begins with tl_.
 */
#ifndef TIMELINE_H
#define TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;

#define TL_NAME		"dlfilter-timeline"
#define TL_NEVER	UINT64_MAX
/* Time of one branch where the trace has no time: a microsecond, in nanoseconds. */
#define TL_TICK		1000

#define TL_ARRAY_SIZE(a)	(sizeof(a) / sizeof(*(a)))

/* The kernel's half of the address space. */
static inline bool tl_is_kernel(u64 address)
{
	return address >> 63;
}

static inline u64 tl_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 tl_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

#pragma GCC visibility push(hidden)

/* One line on standard error: what is wrong, and what to do about it. */
void tl_say(const char *remedy, const char *fmt, ...);

/* The same, and the end of perf: a filter cannot make its exit status otherwise. */
noreturn void tl_die(const char *remedy, const char *fmt, ...);

/* Memory that perf could not run without either. */
void *tl_alloc(size_t size);

#pragma GCC visibility pop

#endif /* TIMELINE_H */
