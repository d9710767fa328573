/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oracle-format.h - what oracle.so writes and oracle-compare reads.
 *
 * OUT/blocks: ORACLE_BLOCKS_MAGIC, then for each translation block, in order of its id from 0,
 *             a struct oracle_block and its struct oracle_insn.
 * OUT/cpuN:   ORACLE_CPU_MAGIC, then 32-bit words. A word below ORACLE_TAG is the id of a block
 *             that started to execute; others say what happened during or after it:
 *
 *   BLOCK  MOVED delta            the block executed at its instructions' vaddr + delta: QEMU
 *                                 shares a block between mappings of one page (2 more words)
 *   BLOCK  PARTIAL idx            control left the block after starting instruction idx
 *   BLOCK  MSR idx, msr, seq, val instruction idx is a WRMSR of a trace MSR (6 more words)
 *   BLOCK  CR3 idx, value         instruction idx is a MOV to CR3 (2 more words); outside of any
 *                                 block, with idx ORACLE_ARG_MASK: what CR3 holds now
 *   BLOCK  ENTRY class, rip       the next block is an exception's or interrupt's entry, and
 *                                 rip is where that will return to (2 more words)
 *   END                           QEMU ended in order; nothing is missing
 *
 * Blocks are only logged while the CPU's RTIT_CTL.TraceEn is set; MSR records always. Where the
 * oracle is asked for branch trace store, a write of DEBUGCTL is logged as one of RTIT_CTL that
 * traces all, or nothing. Where it is asked for a range of user code, each log begins with one
 * that traces all of user code, no other is logged, and blocks are those of the range.
 */
#ifndef CHECKER_ORACLE_FORMAT_H
#define CHECKER_ORACLE_FORMAT_H

#include <stdint.h>

#define ORACLE_BLOCKS_MAGIC	"PTORAB1\n"
#define ORACLE_CPU_MAGIC	"PTORAC1\n"

#define ORACLE_TAG		0x80000000u
#define ORACLE_TAG_MASK		0xff000000u
#define ORACLE_ARG_MASK		0x00ffffffu

#define ORACLE_PARTIAL		0x81000000u
#define ORACLE_MSR		0x82000000u
#define ORACLE_CR3		0x83000000u
#define ORACLE_ENTRY		0x84000000u
#define ORACLE_END		0x85000000u
#define ORACLE_MOVED		0x86000000u

/* Words that follow each tag. */
#define ORACLE_MSR_WORDS	6
#define ORACLE_CR3_WORDS	2
#define ORACLE_ENTRY_WORDS	2
#define ORACLE_MOVED_WORDS	2

enum oracle_entry_class {
	ORACLE_ENTRY_EXCEPTION,
	ORACLE_ENTRY_INTERRUPT,
};

/* Flags of an instruction. */
#define ORACLE_INSN_REP		0x01	/* string instruction with a repeat prefix */
#define ORACLE_INSN_BRANCH	0x02	/* may continue elsewhere than behind itself */
#define ORACLE_INSN_SOFTINT	0x04	/* INT n, INT3, INTO */
#define ORACLE_INSN_JCC		0x08	/* and may fall through: Jcc, JCXZ, LOOPcc */

struct oracle_insn {
	uint64_t vaddr;
	uint8_t len;
	uint8_t flags;
	uint8_t pad[6];
};

struct oracle_block {
	uint32_t id;
	uint32_t nr_insns;
};

/* The trace MSRs that decide what is traced. */
#define MSR_RTIT_CTL		0x570
#define MSR_RTIT_CR3_MATCH	0x572
#define MSR_RTIT_ADDR0_A	0x580
#define MSR_RTIT_ADDR3_B	0x587
#define MSR_RTIT_FIRST		0x560
#define MSR_DEBUGCTL		0x1d9
#define MSR_RTIT_LAST		0x58f

#define RTIT_CTL_TRACEEN	(1ull << 0)
#define RTIT_CTL_OS		(1ull << 2)
#define RTIT_CTL_USR		(1ull << 3)
#define RTIT_CTL_CR3EN		(1ull << 7)
#define RTIT_CTL_BRANCHEN	(1ull << 13)
#define RTIT_CTL_ADDR_SHIFT(n)	(32 + 4 * (n))
#define RTIT_CTL_ADDR_MASK	0xfull
#define RTIT_ADDR_OFF		0
#define RTIT_ADDR_FILTER	1
#define RTIT_ADDR_STOP		2
#define RTIT_NR_ADDR		4

#define DEBUGCTL_TR		(1ull << 6)
#define DEBUGCTL_BTS		(1ull << 7)

#endif
