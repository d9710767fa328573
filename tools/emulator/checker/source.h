/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.h - what was executed: on one vCPU, or by the one traced thread on any of them. */
#ifndef CHECKER_SOURCE_H
#define CHECKER_SOURCE_H

#include "decoded.h"
#include "executed.h"

struct source {
	struct executed cpus[MAX_CPUS];
	/* the next instruction of each */
	struct executed_insn ahead[MAX_CPUS];
	bool have[MAX_CPUS];
	unsigned int nr;
	/*
	 * If "between" is set, only what comes after "begin" is come by, including it, and before
	 * "end" is.
	 */
	bool between, inside;
	uint64_t begin, end;
};

void source_init(struct source *src);
/* Add the log of a vCPU; false if there is none. */
bool source_add(struct source *src, const struct blocks *blocks, const char *dir,
		unsigned int cpu);
void source_close(struct source *src);
/* The next instruction that retired while it was traced, or between; false at the end. */
bool source_next(struct source *src, struct executed_insn *insn);

#endif
