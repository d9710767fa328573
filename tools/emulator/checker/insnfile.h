/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * insnfile.h - the decoded instruction stream, written by ptwalk and read by oracle-compare.
 *
 * The file is INSNFILE_MAGIC and then records of 16 bytes. A record INSN_STREAM says which CPU
 * (or thread) the following records belong to; instructions follow in the order of retirement.
 */
#ifndef CHECKER_INSNFILE_H
#define CHECKER_INSNFILE_H

#include <stdint.h>

#define INSNFILE_MAGIC	"PTINSN1\n"

enum insn_kind {
	INSN_RETIRED = 1,	/* ip, mode, cr3_frame */
	INSN_STREAM,		/* ip = tid << 32 | cpu; cpu is UINT32_MAX for a thread's buffer */
	INSN_ENABLED,		/* tracing starts or resumes at ip */
	INSN_LOST,		/* an overflow, a decoder error or a cut: something is missing */
};

enum insn_mode {
	INSN_MODE_UNKNOWN,
	INSN_MODE_16,
	INSN_MODE_32,
	INSN_MODE_64,
};

struct insn_rec {
	uint64_t ip;
	/* page frame of CR3 if a PIP packet told it, otherwise 0 */
	uint32_t cr3_frame;
	uint8_t kind;
	uint8_t mode;
	uint8_t cpl;
	/* may continue elsewhere than behind itself */
	uint8_t branch;
};

_Static_assert(sizeof(struct insn_rec) == 16, "records are written as they are");

#endif
