/* SPDX-License-Identifier: GPL-2.0 */
/*
 * timeline-json.h - the Chrome Trace Event file that is written
 *
 * An event is put together in the buffer itself: tl_json_reserve() gives the place, each
 * tl_put...() the place behind what it has put, and tl_json_commit() takes the last one.
 */
#ifndef TIMELINE_JSON_H
#define TIMELINE_JSON_H

#include <string.h>

#include "timeline.h"

/* No event is longer. */
#define TL_EVENT_MAX	65536

#pragma GCC visibility push(hidden)

/* The file to be written; "-" is standard output, which then is perf's no longer. */
int tl_json_init(const char *path);
/* End the last object, and write what is left. */
void tl_json_close(void);

/* Open the file. The array of events begins with one that has no comma before it. */
void tl_json_events(void);
/* It ends, and an object follows; its members have no comma before the first one either. */
void tl_json_other(void);

/* Room for TL_EVENT_MAX bytes, and the end of what was put there. */
char *tl_json_reserve(void);
void tl_json_commit(char *end);

char *tl_put_number(char *p, u64 number);
/* A number with two decimals: n / d. */
char *tl_put_ratio(char *p, u64 n, u64 d);
/* Nanoseconds, as microseconds with three decimals. */
char *tl_put_time(char *p, u64 ns);
/* A string in quotes. */
char *tl_put_string(char *p, const char *text);
/* Its escaped bytes alone: at most six times as many as it has. */
char *tl_put_escaped(char *p, const char *text);

#pragma GCC visibility pop

static inline char *tl_put_bytes(char *p, const char *bytes, size_t len)
{
	memcpy(p, bytes, len);
	return p + len;
}

#define tl_put(p, literal)	tl_put_bytes(p, literal, sizeof(literal) - 1)

#endif /* TIMELINE_JSON_H */
