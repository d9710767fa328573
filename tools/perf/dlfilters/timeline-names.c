// SPDX-License-Identifier: GPL-2.0
/*
 * timeline-names.c - functions by address, so that perf is not asked for each call
 *
 * A table of a fixed size, in sets. An entry is taken again when it is the one of its set
 * that was not asked for the longest, and no call that is open needs it.
 */
#include "timeline-names.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline-json.h"

#define SETS		8192
#define WAYS		8
/* A counter for each process, or for some whose ids are alike. */
#define MAPS		4096
#define KERNEL_PID	0
/* Longer names are cut. A byte takes six at most if it is escaped. */
#define TEXT_MAX	4096
#define JSON_MAX	(2 * 6 * TEXT_MAX + 32)

/* What is looked at first stands together. */
struct set {
	u64 addresses[WAYS];
	struct tl_name names[WAYS];
};

static struct {
	struct set *sets;
	u32 maps[MAPS];
	u32 clock;
} names;

static u32 *map_of(s32 pid)
{
	return &names.maps[(u32)pid % MAPS];
}

void tl_names_forget(s32 pid)
{
	++*map_of(pid == -1 ? KERNEL_PID : pid);
}

static struct set *set_of(u64 address, s32 pid)
{
	u64 hash = (address ^ (u64)pid << 32) * 0x9e3779b97f4a7c15ULL;

	return &names.sets[hash >> 32 & (SETS - 1)];
}

static struct tl_name *look_up(const struct set *set, u64 address, s32 pid, u32 map)
{
	const struct tl_name *name;
	int i;

	for (i = 0; i < WAYS; i++) {
		name = &set->names[i];
		if (set->addresses[i] == address && name->len && name->pid == pid &&
		    name->map == map)
			return (struct tl_name *)name;
	}
	return NULL;
}

/* An entry to be taken for another address; NULL if calls need all. */
static struct tl_name *make_room(struct set *set)
{
	struct tl_name *name, *oldest = NULL;

	for (name = set->names; name < set->names + WAYS; name++) {
		if (!name->len)
			return name;
		/* Ages, so that a counter that starts again is no harm. */
		if (!name->refs && (!oldest || names.clock - name->used >
					       names.clock - oldest->used))
			oldest = name;
	}
	return oldest;
}

static char *put_cut(char *p, const char *text)
{
	static char cut[TEXT_MAX + 1];

	if (strlen(text) > TEXT_MAX)
		text = memcpy(cut, text, TEXT_MAX);
	return tl_put_escaped(p, text);
}

/* "name":"...","cat":"..." */
static void write_json(struct tl_name *name, const char *sym, const char *dso)
{
	const char *base = dso && *dso != '[' ? strrchr(dso, '/') : NULL;
	static char text[JSON_MAX];
	char number[24], *p;

	/* So an event has room for a name, and for what else it is made of. */
	static_assert(sizeof(text) < TL_EVENT_MAX - 1024, "names are too long");
	snprintf(number, sizeof(number), "0x%llx", (unsigned long long)name->address);
	dso = base ? base + 1 : dso ? dso : "unknown";
	p = tl_put(text, "\"name\":\"");
	p = put_cut(p, sym ? sym : number);
	p = tl_put(p, "\"");
	name->name_len = p - text;
	p = tl_put(p, ",\"cat\":\"");
	p = put_cut(p, dso);
	p = tl_put(p, "\"");
	name->len = p - text;
	name->json = realloc(name->json, name->len);
	if (!name->json)
		tl_die("decode a part of the trace by --time", "no memory for names");
	memcpy(name->json, text, name->len);
}

static void take(struct tl_name *name, u64 address, s32 pid, u32 map,
		 const struct perf_dlfilter_al *al)
{
	name->address = address;
	name->pid = pid;
	name->map = map;
	name->start = 0;
	name->end = 0;
	if (al && al->sym) {
		name->start = address - al->symoff;
		name->end = name->start + (al->sym_end - al->sym_start);
	}
	write_json(name, al ? al->sym : NULL, al ? al->dso : NULL);
}

static struct tl_name *find(u64 address, s32 pid, void *ctx,
			    const struct perf_dlfilter_al *(*resolve)(void *ctx))
{
	struct tl_name *name;
	struct set *set;
	u32 map;

	if (tl_is_kernel(address))
		pid = KERNEL_PID;
	set = set_of(address, pid);
	map = *map_of(pid);
	name = look_up(set, address, pid, map);
	if (!name) {
		name = make_room(set);
		if (!name)
			return NULL;
		take(name, address, pid, map, resolve ? resolve(ctx) : NULL);
		set->addresses[name - set->names] = address;
	}
	name->used = ++names.clock;
	return name;
}

struct tl_name *tl_name_to(const struct perf_dlfilter_sample *sample, void *ctx)
{
	return find(sample->addr, sample->pid, ctx,
		    sample->addr_correlates_sym ? perf_dlfilter_fns.resolve_addr : NULL);
}

struct tl_name *tl_name_from(const struct perf_dlfilter_sample *sample, void *ctx)
{
	return find(sample->ip, sample->pid, ctx, perf_dlfilter_fns.resolve_ip);
}

void tl_names_init(void)
{
	names.sets = tl_alloc(SETS * sizeof(*names.sets));
}

void tl_names_exit(void)
{
	u32 set, way;

	for (set = 0; set < SETS; set++) {
		for (way = 0; way < WAYS; way++)
			free(names.sets[set].names[way].json);
	}
	free(names.sets);
}
