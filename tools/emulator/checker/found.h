/* SPDX-License-Identifier: GPL-2.0-or-later */
/* found.h - what a comparison has found so far, of all streams. */
#ifndef CHECKER_FOUND_H
#define CHECKER_FOUND_H

#include <stdbool.h>
#include <stdint.h>

struct found {
	uint64_t executed, executed_branches;
	/* what two snapshots have in common counts once */
	uint64_t decoded, decoded_branches;
	/* of those decoded */
	uint64_t user, kernel;
	/* instructions decoded at the address "visit" */
	uint64_t visit, visits;
	/* stretches without a loss, and what divides them */
	uint64_t parts, losses;
	/* instructions of which both sides know the address space */
	uint64_t cr3_checked;
};

void found_executed(struct found *found, bool branch);
void found_decoded(struct found *found, uint64_t ip, bool branch);
/* Whether both page frames of CR3 are the same, or one is unknown; if not, it says so. */
bool found_same_cr3(struct found *found, const char *what, uint64_t ip, uint32_t executed,
		    uint32_t decoded);

#endif
