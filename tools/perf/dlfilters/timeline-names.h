/* SPDX-License-Identifier: GPL-2.0 */
/* timeline-names.h - functions by address, so that perf is not asked for each call */
#ifndef TIMELINE_NAMES_H
#define TIMELINE_NAMES_H

#include <perf/perf_dlfilter.h>

#include "timeline.h"

/**
 * struct tl_name - the function at an address
 * @address: the address
 * @pid: process, or 0 for the kernel
 * @map: which code was mapped there, see tl_names_forget()
 * @refs: calls that need it still
 * @used: when it was last asked for
 * @start: where the function begins; 0 if that is not known
 * @end: where it ends
 * @json: its name and object, as members of a JSON object
 * @len: length of @json; 0 if the entry is free
 * @name_len: how much of it is the name alone
 */
struct tl_name {
	u64 address;
	s32 pid;
	u32 map, refs, used;
	u64 start, end;
	char *json;
	size_t len, name_len;
};

/* perf fills it in, so it is seen from outside. */
extern struct perf_dlfilter_fns perf_dlfilter_fns;

#pragma GCC visibility push(hidden)

void tl_names_init(void);
void tl_names_exit(void);

/*
 * The function that a sample branches to, or from. It stays until the next call of these,
 * unless tl_name_hold() holds it; NULL if there is no room for it.
 */
struct tl_name *tl_name_to(const struct perf_dlfilter_sample *sample, void *ctx);
struct tl_name *tl_name_from(const struct perf_dlfilter_sample *sample, void *ctx);

/* Other code may be mapped in this process from now on; -1: in the kernel. */
void tl_names_forget(s32 pid);

#pragma GCC visibility pop

static inline struct tl_name *tl_name_hold(struct tl_name *name)
{
	if (name)
		name->refs++;
	return name;
}

static inline void tl_name_release(struct tl_name *name)
{
	if (name)
		name->refs--;
}

/* Whether an address is in this function; false if its extent is not known. */
static inline bool tl_name_has(const struct tl_name *name, u64 address)
{
	return name && address >= name->start && address < name->end;
}

#endif /* TIMELINE_NAMES_H */
