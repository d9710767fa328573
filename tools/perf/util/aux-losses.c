// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was lost of an AUX area trace, and what to do about it: lines at the end of perf record.
 *
 * perf record copies records from the data buffers to its output without a look at them. Of a
 * recording that has AUX areas, aux_losses__count() looks at the type of each record before it
 * goes, and at the flags of AUX records. Whatever becomes of them (a file, a pipe, compressed,
 * written by AIO), nothing has to be read again.
 */
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <api/fs/fs.h>
#include <internal/lib.h>
#include <perf/event.h>
#include <perf/evlist.h>

#include "aux-losses.h"
#include "aux-losses-base.h"
#include "auxtrace.h"
#include "debug.h"
#include "event.h"
#include "evlist.h"
#include "evsel.h"
#include "mmap.h"
#include "pmu.h"
#include "record.h"
#include "units.h"

static void *at(struct perf_mmap *md, u64 pos)
{
	return md->base + page_size + (pos & md->mask);
}

static void count_aux(struct aux_losses *losses, u64 flags)
{
	losses->records += 1;
	/* In overwrite mode, an area is always full, and nothing stops. */
	losses->nr[AUX_LOSS_FULL] += (flags & PERF_AUX_FLAG_TRUNCATED) &&
				     !(flags & PERF_AUX_FLAG_OVERWRITE);
	losses->nr[AUX_LOSS_GAP] += !!(flags & PERF_AUX_FLAG_PARTIAL);
	losses->nr[AUX_LOSS_COLLISION] += !!(flags & PERF_AUX_FLAG_COLLISION);
}

/*
 * Count what is between map->core.start and map->core.end. In overwrite mode, positions fall from 0
 * on, so only their differences tell which one is first. Records are multiples of eight bytes:
 * one may go round the end of the buffer, but none of its words does.
 */
void aux_losses__count(struct mmap *map)
{
	struct aux_losses *losses = &map->losses;
	struct perf_mmap *md = &map->core;
	struct perf_event_header *header;
	u64 pos = md->start, *word;

	/* It is set where any map of the recording has an AUX area. */
	if (!map->auxtrace_mmap.len)
		return;

	/* What comes while perf_mmap__push() reads, it reads a second time. */
	if (!md->overwrite) {
		pos = max(pos, losses->end);
		losses->end = md->end;
	}

	for (; (s64)(md->end - pos) > 0; pos += header->size) {
		header = at(md, pos);
		if (header->size < sizeof(*header))
			break;
		if (header->type == PERF_RECORD_AUX) {
			word = at(md, pos + offsetof(struct perf_record_aux, flags));
			count_aux(losses, *word);
		} else if (header->type == PERF_RECORD_LOST) {
			word = at(md, pos + offsetof(struct perf_record_lost, lost));
			losses->nr[AUX_LOSS_RECORDS] += *word;
		}
	}
}

/* Move the counts of all maps of a kind to a sum. */
static void take(struct aux_losses *sum, struct evlist *evlist, bool overwrite)
{
	struct aux_losses *losses;
	struct perf_mmap *md;
	int kind;

	perf_evlist__for_each_mmap(evlist__core(evlist), md, overwrite) {
		losses = &container_of(md, struct mmap, core)->losses;
		sum->records += losses->records;
		losses->records = 0;
		for (kind = 0; kind < AUX_LOSS_MAX; kind++) {
			sum->nr[kind] += losses->nr[kind];
			losses->nr[kind] = 0;
		}
	}
}

/* Four times as large, or twice, if there is room for that; else 0. */
u64 aux_losses__larger(u64 size, u64 room)
{
	u64 larger;

	for (larger = 4 * size; larger > size; larger /= 2) {
		if (larger <= room)
			return larger;
	}

	return 0;
}

/* How many bytes of buffers perf may have in all; a quarter of the memory at most. */
static u64 room_for_buffers(void)
{
	u64 memory = sysconf(_SC_PHYS_PAGES) * (u64)page_size / 4;
	struct rlimit limit;
	u64 lockable;
	int kb;

	if (perf_event_paranoid() < 0 || perf_cap__may_lock())
		return memory;

	if (sysctl__read_int("kernel/perf_event_mlock_kb", &kb) < 0 ||
	    getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return 0;

	if (limit.rlim_cur == RLIM_INFINITY)
		return memory;

	/* The kernel multiplies the one limit by the number of CPUs, not the other. */
	lockable = (u64)kb * SZ_1K * sysconf(_SC_NPROCESSORS_ONLN) + limit.rlim_cur;
	return min(memory, lockable);
}

static void find_sizes(struct aux_remedies *remedies, const struct aux_losses *sum,
		       struct evlist *evlist, const struct record_opts *opts)
{
	/* A mapping of data has a page before them. */
	u64 mapped = evlist__core(evlist)->mmap_len;
	u64 aux = opts->auxtrace_mmap_pages * (u64)page_size;
	u64 room = room_for_buffers() / max(evlist__core(evlist)->nr_mmaps, 1);

	remedies->aux_size = aux;
	remedies->data_size = mapped - page_size;
	remedies->aux_larger = aux_losses__larger(aux, room - min(room, mapped));
	if (sum->nr[AUX_LOSS_FULL] && remedies->aux_larger)
		aux = remedies->aux_larger;
	remedies->data_larger = aux_losses__larger(remedies->data_size,
						   room - min(room, aux + page_size));
	remedies->data_given = remedies->data_size !=
			       perf_event_mlock_kb_in_pages() * (u64)page_size;
}

static void find_abilities(struct aux_remedies *remedies, struct evlist *evlist)
{
	struct perf_pmu *pmu;
	struct evsel *evsel;
	int filters = 0;

	evlist__for_each_entry(evlist, evsel) {
		pmu = evsel__is_aux_event(evsel) ? evsel__find_pmu(evsel) : NULL;
		if (!pmu || !pmu->name)
			continue;
		perf_pmu__scan_file(pmu, "nr_addr_filters", "%d", &filters);
		remedies->filter |= filters > 0;
		remedies->pause |= !strcmp(pmu->name, "intel_pt");
		remedies->samples |= strstarts(pmu->name, "arm_spe");
	}
}

/* What makes the trace fit: a larger area, if there can be one, or less of it. */
static void print_area_remedies(FILE *fp, const struct aux_remedies *remedies)
{
	char size[32], data[32] = "", larger[96], less[64];
	const char *list[3];
	int i, nr = 0;

	if (remedies->aux_larger) {
		unit_number__scnprintf(size, sizeof(size), remedies->aux_larger);
		if (remedies->data_given)
			unit_number__scnprintf(data, sizeof(data), remedies->data_size);
		scnprintf(larger, sizeof(larger), "use a larger one (-m%s%s,%s)",
			  data[0] ? " " : "", data, size);
		list[nr++] = larger;
	}
	if (remedies->filter || remedies->pause) {
		scnprintf(less, sizeof(less), "trace less (%s%s%s)",
			  remedies->filter ? "--filter" : "",
			  remedies->filter && remedies->pause ? ", " : "",
			  remedies->pause ? "aux-action" : "");
		list[nr++] = less;
	}
	if (remedies->snapshot)
		list[nr++] = "keep the end only (-S)";

	for (i = 0; i < nr; i++)
		fprintf(fp, "%s%s", !i ? ": " : i < nr - 1 ? ", " : " or ", list[i]);
}

static void print_full(FILE *fp, const struct aux_losses *sum, const struct aux_remedies *remedies)
{
	char size[32];

	unit_number__scnprintf(size, sizeof(size), remedies->aux_size);
	fprintf(fp, "%lu of %lu AUX records end where the AUX area (%s) was full",
		sum->nr[AUX_LOSS_FULL], sum->records, size);
	print_area_remedies(fp, remedies);
}

static void print_gap(FILE *fp, const struct aux_losses *sum)
{
	fprintf(fp, "%lu of %lu AUX records have gaps, where the hardware could not trace: ",
		sum->nr[AUX_LOSS_GAP], sum->records);
	fprintf(fp, "do without KVM guests, or look for an error in the kernel's log");
}

static void print_collision(FILE *fp, const struct aux_losses *sum,
			    const struct aux_remedies *remedies)
{
	fprintf(fp, "%lu of %lu AUX records have ", sum->nr[AUX_LOSS_COLLISION], sum->records);
	if (remedies->samples) {
		fprintf(fp, "samples that collided: use a longer period (-c)");
		return;
	}
	fprintf(fp, "a collision at the end of the AUX area");
	print_area_remedies(fp, remedies);
}

static void print_lost(FILE *fp, const struct aux_losses *sum, const struct aux_remedies *remedies)
{
	u64 aux_size = remedies->aux_size;
	char size[32], aux[32];

	unit_number__scnprintf(size, sizeof(size), remedies->data_size);
	fprintf(fp, "%lu records are lost, as the data buffer (%s) was full: ",
		sum->nr[AUX_LOSS_RECORDS], size);
	if (!remedies->data_larger) {
		fprintf(fp, "record fewer events");
		return;
	}
	if (sum->nr[AUX_LOSS_FULL] && remedies->aux_larger)
		aux_size = remedies->aux_larger;
	unit_number__scnprintf(size, sizeof(size), remedies->data_larger);
	unit_number__scnprintf(aux, sizeof(aux), aux_size);
	fprintf(fp, "use a larger one (-m %s,%s)", size, aux);
}

static void print_loss(FILE *fp, enum aux_loss kind, const struct aux_losses *sum,
		       const struct aux_remedies *remedies)
{
	switch (kind) {
	case AUX_LOSS_FULL:
		print_full(fp, sum, remedies);
		break;
	case AUX_LOSS_GAP:
		print_gap(fp, sum);
		break;
	case AUX_LOSS_COLLISION:
		print_collision(fp, sum, remedies);
		break;
	case AUX_LOSS_RECORDS:
		print_lost(fp, sum, remedies);
		break;
	case AUX_LOSS_MAX:
	default:
		break;
	}
}

/* A line for each kind of loss. */
void aux_losses__fprintf(FILE *fp, const struct aux_losses *sum,
			 const struct aux_remedies *remedies)
{
	enum aux_loss kind;

	for (kind = 0; kind < AUX_LOSS_MAX; kind++) {
		if (!sum->nr[kind])
			continue;
		fprintf(fp, "[ perf record: %s: ", kind == AUX_LOSS_RECORDS ?
			"Decoding may fail" : "Trace is missing");
		print_loss(fp, kind, sum, remedies);
		fprintf(fp, " ]\n");
	}
}

/* Say what was lost since the last report; perf record makes one for each file. */
void aux_losses__report(struct auxtrace_record *itr, struct evlist *evlist,
			const struct record_opts *opts)
{
	struct aux_remedies remedies = { .snapshot = itr && itr->snapshot_start };
	struct aux_losses sum = { .records = 0 };
	bool any = false;
	int kind;

	take(&sum, evlist, false);
	take(&sum, evlist, true);
	for (kind = 0; kind < AUX_LOSS_MAX; kind++)
		any |= sum.nr[kind];
	if (!any || quiet)
		return;

	find_sizes(&remedies, &sum, evlist, opts);
	find_abilities(&remedies, evlist);
	aux_losses__fprintf(stderr, &sum, &remedies);
}
