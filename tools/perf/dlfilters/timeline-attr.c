// SPDX-License-Identifier: GPL-2.0
/* timeline-attr.c - the events of a recording, as its header lists them */
#include "timeline-attr.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "timeline-file.h"
#include "timeline-records.h"

/* More than a recording of any machine has, so that a damaged size cannot take all memory. */
#define IDS_MAX		4000000
/* aux_action of struct perf_event_attr, which headers of 2022 lack. */
#define ACTION_AT	116
#define ACTION_BITS	7

struct attr {
	struct perf_event_attr attr;
	bool actions;
};

struct id {
	u64 id;
	u32 attr;
};

static struct {
	struct attr *attrs;
	u32 nr;
	struct id *ids;
	size_t nr_ids;
} events;

static int by_id(const void *a, const void *b)
{
	const struct id *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* The IDs of an event: one for each CPU or thread. */
static int read_ids(u32 attr, u64 at, u64 size)
{
	u64 nr = size / sizeof(u64), i, id;

	if (nr > IDS_MAX - events.nr_ids)
		return -1;
	events.ids = realloc(events.ids, (events.nr_ids + nr + 1) * sizeof(*events.ids));
	if (!events.ids)
		return -1;
	for (i = 0; i < nr; i++) {
		if (tl_read(at + i * sizeof(id), &id, sizeof(id)) != sizeof(id))
			return -1;
		events.ids[events.nr_ids++] = (struct id){ .id = id, .attr = attr };
	}
	return 0;
}

static int read_one(u64 at, u64 entry)
{
	struct attr *attr = &events.attrs[events.nr];
	u64 ids[2], size = entry - sizeof(ids);
	u32 action = 0;

	if (tl_read(at, &attr->attr, tl_min(size, sizeof(attr->attr))) <
	    tl_min(size, sizeof(attr->attr)) ||
	    tl_read(at + size, ids, sizeof(ids)) != sizeof(ids))
		return -1;
	if (size >= ACTION_AT + sizeof(action) && attr->attr.size >= ACTION_AT + sizeof(action))
		tl_read(at + ACTION_AT, &action, sizeof(action));
	attr->actions = action & ACTION_BITS;
	return read_ids(events.nr++, ids[0], ids[1]);
}

int tl_attr_read(u64 at, u64 size, u64 entry)
{
	u64 i;

	if (entry <= 2 * sizeof(u64) || !size || size > IDS_MAX)
		return -1;
	events.attrs = calloc(size / entry + 1, sizeof(*events.attrs));
	if (!events.attrs)
		return -1;
	for (i = 0; i + entry <= size; i += entry) {
		if (read_one(at + i, entry))
			return -1;
	}
	if (events.nr_ids)
		qsort(events.ids, events.nr_ids, sizeof(*events.ids), by_id);
	return events.nr ? 0 : -1;
}

void tl_attr_free(void)
{
	free(events.attrs);
	free(events.ids);
	memset(&events, 0, sizeof(events));
}

bool tl_attr_has_id(void)
{
	return events.attrs[0].attr.sample_type & PERF_SAMPLE_IDENTIFIER;
}

u64 tl_attr_sample_type(u64 id)
{
	const struct id key = { .id = id }, *found = NULL;
	const struct perf_event_attr *attr;

	if (events.nr_ids)
		found = bsearch(&key, events.ids, events.nr_ids, sizeof(key), by_id);
	/* Records that perf made up have ID 0, and the layout of the first event. */
	attr = &events.attrs[found ? found->attr : 0].attr;
	return attr->sample_id_all ? attr->sample_type : 0;
}

void tl_attr_of_trace(u32 type, u64 cyc)
{
	const struct perf_event_attr *attr;
	u32 i;

	for (i = 0; i < events.nr; i++) {
		attr = &events.attrs[i].attr;
		tl_rec.actions |= events.attrs[i].actions;
		tl_rec.sampling |= !!(attr->sample_type & PERF_SAMPLE_AUX);
		if (attr->type != type)
			continue;
		tl_rec.user |= !attr->exclude_user;
		tl_rec.kernel |= !attr->exclude_kernel;
		tl_rec.cycles |= !!(attr->config & cyc);
	}
}
