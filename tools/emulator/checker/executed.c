// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * executed.c - reads the oracle's log.
 *
 * The log tells which instructions were started. The last one started in a block has retired,
 * except where one of these shows that it did not:
 *
 *   - an exception or interrupt follows whose return address is the instruction's own
 *     (a fault, or a string instruction interrupted in the middle); only a branch to itself at
 *     the end of a block, followed by an interrupt, has retired in spite of that;
 *   - the next block starts with the same instruction and it is no branch (a string instruction
 *     goes on, or QEMU started it once more);
 *   - it is a software interrupt that entered the kernel: packets give its own address as the
 *     source (SDM: FUP with the current IP), so a decoder never steps over it;
 *   - it is the WRMSR that cleared TraceEn: the packets name its address as where tracing ended.
 */
#include "executed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols.h"

#define CR3_FRAME_SHIFT	12
#define MAX_PRINTED	10
#define CR3_FRAME_MASK	(((1ull << 40) - 1) << CR3_FRAME_SHIFT)

void blocks_load(struct blocks *blocks, const char *dir)
{
	char *path = xasprintf("%s/blocks", dir);
	size_t at = 8;

	memset(blocks, 0, sizeof(*blocks));
	if (!map_file(path, &blocks->file))
		die("%s: %s; name the directory given to oracle.so as out=", path,
		    strerror(errno));
	if (blocks->file.size < 8 || memcmp(blocks->file.data, ORACLE_BLOCKS_MAGIC, 8))
		die("%s: not written by oracle.so of this version", path);
	while (at < blocks->file.size) {
		const struct oracle_block *block = (const void *)(blocks->file.data + at);
		size_t left = blocks->file.size - at;
		const struct oracle_block **slot;

		if (left < sizeof(*block) || block->id != blocks->nr || !block->nr_insns ||
		    (left - sizeof(*block)) / sizeof(struct oracle_insn) < block->nr_insns)
			die("%s: damaged at %zu", path, at);
		slot = array_add(blocks->by_id, blocks->nr);
		*slot = block;
		at += sizeof(*block) + block->nr_insns * sizeof(struct oracle_insn);
	}
	free(path);
}

void blocks_free(struct blocks *blocks)
{
	free(blocks->by_id);
	unmap_file(&blocks->file);
}

bool executed_open(struct executed *ex, const struct blocks *blocks, const char *dir,
		   unsigned int cpu)
{
	memset(ex, 0, sizeof(*ex));
	ex->blocks = blocks;
	ex->path = xasprintf("%s/cpu%u", dir, cpu);
	if (!map_file(ex->path, &ex->file)) {
		free(ex->path);
		return false;
	}
	if (ex->file.size < 8 || memcmp(ex->file.data, ORACLE_CPU_MAGIC, 8))
		die("%s: not written by oracle.so of this version", ex->path);
	ex->words = (const uint32_t *)(ex->file.data + 8);
	ex->nr_words = (ex->file.size - 8) / sizeof(uint32_t);
	if (!ex->nr_words || ex->words[ex->nr_words - 1] != ORACLE_END)
		die("%s: incomplete; QEMU must end by itself (power off the guest)", ex->path);
	return true;
}

void executed_close(struct executed *ex)
{
	unmap_file(&ex->file);
	free(ex->path);
}

static const struct oracle_insn *insn_at(const struct oracle_block *block, uint32_t index)
{
	return (const struct oracle_insn *)(block + 1) + index;
}

static uint64_t word64(const uint32_t *w)
{
	return w[0] | (uint64_t)w[1] << 32;
}

static void write_msr(struct executed *ex, const uint32_t *w)
{
	uint32_t msr = w[0];
	uint64_t value = word64(w + 3);

	if (msr == MSR_RTIT_CTL) {
		if (value & ~ex->regs.ctl & RTIT_CTL_TRACEEN) {
			ex->enables++;
			ex->enabled = word64(w + 1);
			ex->first = true;
		}
		ex->regs.ctl = value;
	} else if (msr == MSR_RTIT_CR3_MATCH) {
		ex->regs.cr3_match = value;
	} else if (msr >= MSR_RTIT_ADDR0_A && msr <= MSR_RTIT_ADDR3_B) {
		ex->regs.range[msr - MSR_RTIT_ADDR0_A] = value;
	}
}

static unsigned int words_after(uint32_t tag)
{
	switch (tag & ORACLE_TAG_MASK) {
	case ORACLE_MSR: return ORACLE_MSR_WORDS;
	case ORACLE_CR3: return ORACLE_CR3_WORDS;
	case ORACLE_ENTRY: return ORACLE_ENTRY_WORDS;
	case ORACLE_MOVED: return ORACLE_MOVED_WORDS;
	default: return 0;
	}
}

/* What the words between a block's id and the next block say about it. */
struct aftermath {
	bool partial, entry, off, end;
	uint32_t last;
	uint32_t class;
	uint64_t rip;
	/* address of the next block, if it is not an entry */
	uint64_t next;
};

static const struct oracle_block *block_by_id(struct executed *ex, uint32_t id)
{
	if (id >= ex->blocks->nr)
		die("%s: damaged: block %u of %zu", ex->path, id, ex->blocks->nr);
	return ex->blocks->by_id[id];
}

static void note_tag(struct executed *ex, const uint32_t *w, struct aftermath *after)
{
	uint32_t arg = w[0] & ORACLE_ARG_MASK;

	switch (w[0] & ORACLE_TAG_MASK) {
	case ORACLE_PARTIAL:
		after->partial = true;
		after->last = arg;
		break;
	case ORACLE_MSR:
		if (w[1] == MSR_RTIT_CTL && !(word64(w + 4) & RTIT_CTL_TRACEEN)) {
			after->off = true;
			after->last = arg;
		}
		break;
	case ORACLE_CR3:
		if (arg == ORACLE_ARG_MASK)
			break;
		ex->cr3_pending = true;
		ex->cr3_index = arg;
		ex->next_cr3 = word64(w + 1);
		break;
	case ORACLE_ENTRY:
		after->entry = true;
		after->class = arg;
		after->rip = word64(w + 1);
		break;
	case ORACLE_END:
		after->end = true;
		break;
	case ORACLE_MOVED:
		ex->delta = word64(w + 1);
		break;
	default:
		die("%s: damaged: word 0x%x", ex->path, w[0]);
	}
}

/* Where the block whose id stands at pos was executed. */
static uint64_t block_address(struct executed *ex, size_t pos)
{
	uint64_t addr = insn_at(block_by_id(ex, ex->words[pos]), 0)->vaddr;

	/* Every log has an END, and MOVED follows its block at once. */
	if (ex->words[pos + 1] == ORACLE_MOVED && ex->nr_words - pos > 1 + ORACLE_MOVED_WORDS)
		addr += word64(&ex->words[pos + 2]);
	return addr;
}

/* Look, without consuming MSR writes, at what follows the block up to the next one. */
static void look_ahead(struct executed *ex, struct aftermath *after)
{
	size_t pos = ex->pos;

	memset(after, 0, sizeof(*after));
	after->last = ex->block->nr_insns - 1;
	while (pos < ex->nr_words && !after->off) {
		const uint32_t *w = &ex->words[pos];

		if (*w < ORACLE_TAG) {
			after->next = block_address(ex, pos);
			return;
		}
		if (words_after(*w) >= ex->nr_words - pos)
			die("%s: damaged: cut at word %zu", ex->path, pos);
		note_tag(ex, w, after);
		pos += 1 + words_after(*w);
	}
}

static void unexplained(struct executed *ex, uint64_t from, uint64_t to, bool partial)
{
	char text[128];

	if (ex->inconsistent++ >= MAX_PRINTED)
		return;
	symbol_format(from, text, sizeof(text));
	printf("%s: unexplained: %016" PRIx64 " %s%s", ex->path, from, text,
	       partial ? " (inside its block)" : "");
	symbol_format(to, text, sizeof(text));
	printf(" is followed by %016" PRIx64 " %s\n", to, text);
}

static bool retired(struct executed *ex, const struct oracle_insn *last,
		    const struct aftermath *after)
{
	bool branch = last->flags & ORACLE_INSN_BRANCH;
	uint64_t ip = last->vaddr + ex->delta;

	if (after->off || after->end)
		return false;
	if (after->entry && (last->flags & ORACLE_INSN_SOFTINT))
		return false;
	if (after->entry)
		return after->rip != ip ||
		       (branch && !after->partial && after->class == ORACLE_ENTRY_INTERRUPT);
	if (after->next == ip && (!branch || after->partial))
		return false;
	/* QEMU finishes an access to a device in a block of one instruction, unseen by plugins. */
	if (after->next != ip + last->len && (!branch || after->partial))
		unexplained(ex, ip, after->next, after->partial);
	return true;
}

/* Start delivering the block at pos; everything up to it has been consumed. */
static void open_block(struct executed *ex)
{
	struct aftermath after;

	ex->block = block_by_id(ex, ex->words[ex->pos++]);
	ex->index = 0;
	ex->delta = 0;
	ex->cr3_pending = false;
	look_ahead(ex, &after);
	if (after.last >= ex->block->nr_insns)
		die("%s: damaged: instruction %u of %u", ex->path, after.last,
		    ex->block->nr_insns);
	ex->entered = ex->enters;
	ex->interrupted = ex->interrupts;
	ex->enters = after.entry;
	ex->interrupts = insn_at(ex->block, after.last)->flags & ORACLE_INSN_SOFTINT ?
			 insn_at(ex->block, after.last)->vaddr + ex->delta : after.rip;
	ex->stop = after.last + retired(ex, insn_at(ex->block, after.last), &after);
	/* A MOV to CR3 that faulted has not changed it. */
	if (ex->cr3_pending && ex->cr3_index >= ex->stop)
		ex->cr3_pending = false;
}

static bool in_ranges(const struct trace_regs *regs, uint64_t ip)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < RTIT_NR_ADDR; i++) {
		uint64_t mode = regs->ctl >> RTIT_CTL_ADDR_SHIFT(i) & RTIT_CTL_ADDR_MASK;

		if (mode != RTIT_ADDR_FILTER)
			continue;
		any = true;
		if (ip >= regs->range[2 * i] && ip <= regs->range[2 * i + 1])
			return true;
	}
	return !any;
}

static bool selected(const struct executed *ex, uint64_t ip)
{
	const struct trace_regs *regs = &ex->regs;
	uint64_t level = ip >> 63 ? RTIT_CTL_OS : RTIT_CTL_USR;

	if (!(regs->ctl & RTIT_CTL_TRACEEN) || !(regs->ctl & RTIT_CTL_BRANCHEN) ||
	    !(regs->ctl & level))
		return false;
	if ((regs->ctl & RTIT_CTL_CR3EN) && ex->cr3 &&
	    (ex->cr3 ^ regs->cr3_match) & CR3_FRAME_MASK)
		return false;
	return in_ranges(regs, ip);
}

/* Consume words up to the next block; false at the end of the log. */
static bool advance(struct executed *ex)
{
	while (ex->pos < ex->nr_words) {
		const uint32_t *w = &ex->words[ex->pos];

		if (*w < ORACLE_TAG) {
			open_block(ex);
			return true;
		}
		if ((*w & ORACLE_TAG_MASK) == ORACLE_MSR)
			write_msr(ex, w + 1);
		else if (*w == (ORACLE_CR3 | ORACLE_ARG_MASK))
			ex->cr3 = word64(w + 1);
		ex->pos += 1 + words_after(*w);
	}
	ex->ended = true;
	return false;
}

bool executed_next(struct executed *ex, struct executed_insn *insn)
{
	for (;;) {
		uint32_t index;

		if (!ex->block || ex->index >= ex->stop) {
			ex->block = NULL;
			if (!advance(ex))
				return false;
			continue;
		}
		index = ex->index++;
		insn->ip = insn_at(ex->block, index)->vaddr + ex->delta;
		insn->cr3_frame = (ex->cr3 & CR3_FRAME_MASK) >> CR3_FRAME_SHIFT;
		if (ex->cr3_pending && ex->cr3_index == index)
			ex->cr3 = ex->next_cr3;
		if (!selected(ex, insn->ip))
			continue;
		insn->branch = insn_at(ex->block, index)->flags & ORACLE_INSN_BRANCH;
		insn->jcc = insn_at(ex->block, index)->flags & ORACLE_INSN_JCC;
		insn->len = insn_at(ex->block, index)->len;
		insn->entered = ex->entered && !index;
		insn->interrupted = ex->interrupted;
		insn->enabled = ex->enabled;
		insn->first = ex->first;
		ex->first = false;
		return true;
	}
}
