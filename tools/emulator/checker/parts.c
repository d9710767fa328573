// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * parts.c - finds the parts of a trace with holes in what was executed.
 *
 *   executed   a b c d e f g h i j k l m n
 *   decoded    a b c       ^ h i j     m n
 *              part 0      | part 1    part 2
 *                          a loss that something told of
 *
 * A part is without a hole: its instructions follow each other among those executed. It begins
 * behind the part before, anywhere if a loss stands before it, else at the very beginning; it
 * ends at the very end, unless a loss follows. So a hole that nothing tells of fails, and so does
 * a beginning or an end that is missing.
 *
 * A snapshot may begin before the one before it, but does not end before it. perf takes an area
 * whose head is in its last 4 KiB for one that was filled once already, so such a snapshot has all
 * data from the area's beginning on, those that an earlier one has had, too.
 *
 * The first place that fits is taken. If there is any way to place all parts, this is one: what
 * comes later has the most room then. The search is that of Knuth, Morris and Pratt, for loops
 * make long stretches that are nearly alike.
 */
#include "parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbols.h"

#define NOWHERE	SIZE_MAX
#define CONTEXT	12

struct insn {
	uint64_t ip;
	uint32_t cr3_frame;
	bool branch;
};

struct insns {
	struct insn *list;
	size_t nr;
};

struct part {
	/* instructions [first, first + nr) of those decoded */
	size_t first, nr;
	bool after_loss, before_loss;
};

/* Where a part fits best, and how many instructions of it. */
struct near {
	size_t at, nr;
};

struct parts {
	struct insns insns;
	struct part *list;
	size_t nr;
};

static void add_insn(struct insns *insns, uint64_t ip, uint32_t cr3_frame, bool branch)
{
	struct insn *insn = array_add(insns->list, insns->nr);

	insn->ip = ip;
	insn->cr3_frame = cr3_frame;
	insn->branch = branch;
}

static struct part *open_part(struct parts *parts, bool after_loss)
{
	struct part *part = array_add(parts->list, parts->nr);

	part->first = parts->insns.nr;
	part->nr = 0;
	part->after_loss = after_loss;
	part->before_loss = false;
	return part;
}

/* Returns how many losses divide them. */
static uint64_t collect_parts(struct parts *parts, struct decoded *dec, bool snapshots)
{
	struct part *part = open_part(parts, snapshots);
	const struct insn_rec *rec;
	uint64_t losses = 0;
	bool starts;

	part->before_loss = snapshots;
	while ((rec = decoded_record(dec, &starts))) {
		bool lost = rec->kind == INSN_LOST;

		losses += lost;
		if (lost)
			part->before_loss = true;
		if (lost || (snapshots && starts)) {
			part = open_part(parts, true);
			part->before_loss = snapshots;
		}
		if (rec->kind != INSN_RETIRED)
			continue;
		add_insn(&parts->insns, rec->ip, rec->cr3_frame, rec->branch);
		part->nr++;
	}
	return losses;
}

static void collect_executed(struct insns *insns, struct source *src, struct found *found)
{
	struct executed_insn e;

	while (source_next(src, &e)) {
		add_insn(insns, e.ip, e.cr3_frame, e.branch);
		found_executed(found, e.branch);
	}
}

/* How long a beginning of the part is also an end of its first i + 1 instructions. */
static size_t *make_borders(const struct insn *part, size_t nr)
{
	size_t *border = xalloc(nr * sizeof(*border)), i, k = 0;

	border[0] = 0;
	for (i = 1; i < nr; i++) {
		while (k && part[i].ip != part[k].ip)
			k = border[k - 1];
		k += part[i].ip == part[k].ip;
		border[i] = k;
	}
	return border;
}

/* The first place at or behind "from"; *near is the one where most fits. */
static size_t search(const struct insns *where, size_t from, const struct insn *part, size_t nr,
		     struct near *near)
{
	size_t *border = make_borders(part, nr), i, k = 0, found = NOWHERE;

	for (i = from; i < where->nr && found == NOWHERE; i++) {
		while (k && where->list[i].ip != part[k].ip)
			k = border[k - 1];
		k += where->list[i].ip == part[k].ip;
		if (k > near->nr) {
			near->nr = k;
			near->at = i + 1 - k;
		}
		if (k == nr)
			found = i + 1 - nr;
	}
	free(border);
	return found;
}

/* Whether the part is at "at", and if not, how far it fits. */
static size_t match_at(const struct insns *where, size_t at, const struct insn *part, size_t nr,
		       struct near *near)
{
	size_t i;

	for (i = 0; i < nr && at + i < where->nr; i++)
		if (where->list[at + i].ip != part[i].ip)
			break;
	near->at = at;
	near->nr = i;
	return i == nr ? at : NOWHERE;
}

static size_t place(const struct insns *where, size_t from, const struct part *part,
		    const struct insn *insn, struct near *near)
{
	size_t at;

	near->nr = 0;
	if (!part->after_loss) {
		at = match_at(where, from, insn, part->nr, near);
		if (at != NOWHERE && !part->before_loss && at + part->nr != where->nr)
			return NOWHERE;
		return at;
	}
	if (part->before_loss)
		return search(where, from, insn, part->nr, near);
	if (from + part->nr > where->nr)
		return NOWHERE;
	return match_at(where, where->nr - part->nr, insn, part->nr, near);
}

static void print_next(const char *what, const struct insns *insns, size_t at, size_t end)
{
	char text[128];
	size_t stop = end - at > CONTEXT ? at + CONTEXT : end;

	if (at == end)
		printf("  %-9s nothing more\n", what);
	for (; at < stop; at++, what = "then") {
		symbol_format(insns->list[at].ip, text, sizeof(text));
		printf("  %-9s %016" PRIx64 " %s\n", what, insns->list[at].ip, text);
	}
}

static void print_misfit(const char *what, const struct insns *executed,
			 const struct parts *parts, size_t number, const struct near *near)
{
	const struct part *part = &parts->list[number];

	printf("mismatch on %s: part %zu, %zu instructions %s and %s, was not executed so\n", what,
	       number, part->nr, part->after_loss ? "behind a loss" : "from the beginning",
	       part->before_loss ? "before a loss" : "to the end");
	printf("  at most %zu of them were\n", near->nr);
	if (!near->nr)
		return;
	print_next("executed", executed, near->at + near->nr, executed->nr);
	print_next("decoded", &parts->insns, part->first + near->nr, part->first + part->nr);
}

/* The part is at "at"; count what is behind "done", where the part before ends. */
static bool count_part(const char *what, const struct insns *executed, size_t at,
		       const struct insn *part, size_t nr, size_t done, struct found *found)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!found_same_cr3(found, what, part[i].ip, executed->list[at + i].cr3_frame,
				    part[i].cr3_frame))
			return false;
		if (at + i >= done)
			found_decoded(found, part[i].ip, part[i].branch);
	}
	found->parts++;
	return true;
}

static bool place_all(const char *what, const struct insns *executed, const struct parts *parts,
		      bool snapshots, struct found *found)
{
	size_t i, from = 0, done = 0;
	struct near near;

	for (i = 0; i < parts->nr; i++) {
		const struct part *part = &parts->list[i];
		const struct insn *insn = parts->insns.list + part->first;
		size_t at;

		/* Where nothing was lost, it is wrong if there is nothing. */
		if (!part->nr && (part->after_loss || part->before_loss))
			continue;
		at = place(executed, from, part, insn, &near);
		if (at == NOWHERE && snapshots)
			at = place(executed, done > part->nr ? done - part->nr : 0, part, insn,
				   &near);
		if (at == NOWHERE) {
			print_misfit(what, executed, parts, i, &near);
			return false;
		}
		if (!count_part(what, executed, at, insn, part->nr, done, found))
			return false;
		if (at + part->nr > done)
			done = at + part->nr;
		from = snapshots ? at : done;
	}
	return true;
}

bool parts_compare(const char *what, struct source *src, struct decoded *dec, bool snapshots,
		   struct found *found)
{
	struct insns executed = { 0 };
	struct parts parts = { 0 };
	bool ok;

	found->losses += collect_parts(&parts, dec, snapshots);
	collect_executed(&executed, src, found);
	ok = place_all(what, &executed, &parts, snapshots, found);
	free(executed.list);
	free(parts.insns.list);
	free(parts.list);
	return ok;
}
