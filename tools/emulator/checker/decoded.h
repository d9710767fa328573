/* SPDX-License-Identifier: GPL-2.0-or-later */
/* decoded.h - what ptwalk wrote down, by CPU. */
#ifndef CHECKER_DECODED_H
#define CHECKER_DECODED_H

#include "insnfile.h"
#include "util.h"

#define MAX_CPUS	64

/* The decoded records of one CPU, or of the one thread, in file order: a run for each stream. */
struct decoded {
	const struct insn_rec **runs;
	size_t *run_len;
	size_t nr_runs, nr_lens;
	/* reading position */
	size_t run, at;
};

/*
 * With "thread", the traces must be of one thread, whose records are cpus[0] then; without, they
 * must be of CPUs. Ends the program with a line of explanation if they are not.
 */
void decoded_load(const char *path, struct mapped_file *file, struct decoded *cpus, bool thread);

/* The next record of any kind; *starts is set if it is its stream's first. NULL at the end. */
const struct insn_rec *decoded_record(struct decoded *dec, bool *starts);

/* The next retired instruction; *lost is set when a loss stands before it. */
const struct insn_rec *decoded_next(struct decoded *dec, bool *lost);

#endif
