// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch trace store (BTS) in the company of others that use the performance
 * monitor, its interrupt, the debug store and IA32_DEBUGCTL; run in a guest, as root.
 * Prints TAP.
 *
 *   company coexist|exclude|pebs
 *
 * says whether PT can be on together with BTS; with pebs it cannot, and the processor
 * has PEBS.
 */
#include <stdio.h>
#include <string.h>

#include "bts_company.h"

int main(int argc, char **argv)
{
	bool coexist = argc > 1 && !strcmp(argv[1], "coexist");
	bool pebs = argc > 1 && !strcmp(argv[1], "pebs");
	pid_t child;

	setlinebuf(stdout);
	aux_use("intel_bts");
	/* Last branch records exclude BTS on each processor. */
	test_exclusive(false, pebs ? PEBS_MEMORY : PEBS_NONE);
	test_wraps(false, pebs);
	child = aux_worker(0);
	test_pt(coexist, child);
	test_samples_of_branches(child);
	aux_end_worker(child);
	test_fork();
	test_block_step();
	return end_points();
}
