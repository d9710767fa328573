// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source.c - puts the logs of several vCPUs in order.
 *
 * One event that follows one thread is on one vCPU at a time: TraceEn is cleared on one before it
 * is set on the next. The oracle numbers the writes of all vCPUs, so those that set TraceEn
 * tell the order of what was traced after each:
 *
 *   cpu0  [3....]         [7...]
 *   cpu1         [5....]        [9.....]
 */
#include "source.h"

static void step(struct source *src, unsigned int i)
{
	src->have[i] = executed_next(&src->cpus[i], &src->ahead[i]);
}

void source_init(struct source *src)
{
	src->nr = 0;
	src->between = src->inside = false;
}

bool source_add(struct source *src, const struct blocks *blocks, const char *dir,
		unsigned int cpu)
{
	if (!executed_open(&src->cpus[src->nr], blocks, dir, cpu))
		return false;
	step(src, src->nr++);
	return true;
}

void source_close(struct source *src)
{
	while (src->nr)
		executed_close(&src->cpus[--src->nr]);
}

static bool next_of_all(struct source *src, struct executed_insn *insn)
{
	unsigned int i, best = src->nr;

	for (i = 0; i < src->nr; i++)
		if (src->have[i] &&
		    (best == src->nr || src->ahead[i].enabled < src->ahead[best].enabled))
			best = i;
	if (best == src->nr)
		return false;
	*insn = src->ahead[best];
	step(src, best);
	return true;
}

bool source_next(struct source *src, struct executed_insn *insn)
{
	while (next_of_all(src, insn)) {
		if (!src->between)
			return true;
		if (insn->ip == src->begin)
			src->inside = true;
		else if (insn->ip == src->end)
			src->inside = false;
		if (src->inside)
			return true;
	}
	return false;
}
