/* SPDX-License-Identifier: GPL-2.0-or-later */
/* branches.h - the taken branches, exceptions and interrupts of what was executed. */
#ifndef CHECKER_BRANCHES_H
#define CHECKER_BRANCHES_H

#include "source.h"

struct branch {
	uint64_t from, to;
	/* a conditional one to the next instruction: the oracle cannot tell if it was taken */
	bool maybe;
};

struct branches {
	struct source *src;
	/* the instruction before, if both are of one time in which the oracle looked */
	struct executed_insn before;
	bool have_before;
	/* an instruction can end with a branch and be followed by an interrupt */
	struct branch queue[2];
	unsigned int queued;
};

void branches_init(struct branches *branches, struct source *src);
/* False at the end. */
bool branches_next(struct branches *branches, struct branch *branch);

#endif
