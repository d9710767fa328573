// SPDX-License-Identifier: GPL-2.0-or-later
#include "branches.h"

#include <string.h>

void branches_init(struct branches *branches, struct source *src)
{
	memset(branches, 0, sizeof(*branches));
	branches->src = src;
}

static void add(struct branches *branches, uint64_t from, uint64_t to, bool maybe)
{
	branches->queue[branches->queued++] = (struct branch){ from, to, maybe };
}

static void look(struct branches *branches, const struct executed_insn *insn)
{
	const struct executed_insn *before = &branches->before;
	uint64_t next = insn->entered ? insn->interrupted : insn->ip;

	if (branches->have_before && before->branch)
		add(branches, before->ip, next, before->jcc && next == before->ip + before->len);
	if (insn->entered)
		add(branches, insn->interrupted, insn->ip, false);
}

bool branches_next(struct branches *branches, struct branch *branch)
{
	struct executed_insn insn;

	while (!branches->queued) {
		if (!source_next(branches->src, &insn))
			return false;
		if (insn.first)
			branches->have_before = false;
		look(branches, &insn);
		branches->before = insn;
		branches->have_before = true;
	}
	*branch = branches->queue[0];
	branches->queue[0] = branches->queue[1];
	branches->queued--;
	return true;
}
