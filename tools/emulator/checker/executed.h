/* SPDX-License-Identifier: GPL-2.0-or-later */
/* executed.h - the oracle's log of one vCPU as a sequence of retired, traced instructions. */
#ifndef CHECKER_EXECUTED_H
#define CHECKER_EXECUTED_H

#include "oracle-format.h"
#include "util.h"

struct blocks {
	struct mapped_file file;
	const struct oracle_block **by_id;
	size_t nr;
};

struct executed_insn {
	uint64_t ip;
	/* CR3 page frame if known, otherwise 0 */
	uint32_t cr3_frame;
	/* number of the write that set TraceEn */
	uint64_t enabled;
	/* first instruction since TraceEn was set */
	bool first;
	/* may continue elsewhere than behind itself */
	bool branch;
	/* and may do without: a conditional one */
	bool jcc;
	/* the first of a handler; where the exception or interrupt came from */
	bool entered;
	uint64_t interrupted;
	uint8_t len;
};

/* What the trace MSRs say now. */
struct trace_regs {
	uint64_t ctl, cr3_match;
	uint64_t range[2 * RTIT_NR_ADDR];
};

struct executed {
	const struct blocks *blocks;
	char *path;
	struct mapped_file file;
	const uint32_t *words;
	size_t nr_words, pos;
	struct trace_regs regs;
	uint64_t cr3;
	/* the block being delivered: instructions [index, stop) are left */
	const struct oracle_block *block;
	uint64_t delta;
	uint32_t index, stop;
	/* instruction after which cr3 becomes next_cr3 */
	uint32_t cr3_index;
	uint64_t next_cr3;
	bool cr3_pending;
	/* what came between the block before and this one, and between this one and the next */
	bool entered, enters;
	uint64_t interrupted, interrupts;
	bool first;
	bool ended;
	/* log positions whose meaning is not certain: the oracle's own errors */
	uint64_t inconsistent;
	uint64_t enables;
	/* number of the write that set TraceEn last */
	uint64_t enabled;
};

void blocks_load(struct blocks *blocks, const char *dir);
void blocks_free(struct blocks *blocks);

/* False if there is no log of that vCPU. */
bool executed_open(struct executed *ex, const struct blocks *blocks, const char *dir,
		   unsigned int cpu);
void executed_close(struct executed *ex);
/* The next instruction that retired while the trace MSRs selected it; false at the end. */
bool executed_next(struct executed *ex, struct executed_insn *insn);

#endif
