// SPDX-License-Identifier: GPL-2.0-or-later
/* found.c - counts what a comparison finds. */
#include "found.h"

#include <inttypes.h>
#include <stdio.h>

void found_executed(struct found *found, bool branch)
{
	found->executed++;
	found->executed_branches += branch;
}

void found_decoded(struct found *found, uint64_t ip, bool branch)
{
	found->decoded++;
	found->decoded_branches += branch;
	found->visits += ip == found->visit;
	if (ip >> 63)
		found->kernel++;
	else
		found->user++;
}

bool found_same_cr3(struct found *found, const char *what, uint64_t ip, uint32_t executed,
		    uint32_t decoded)
{
	if (!executed || !decoded)
		return true;
	found->cr3_checked++;
	if (executed == decoded)
		return true;
	printf("wrong address space on %s at ip %016" PRIx64 ": CR3 was 0x%x000, PIP said "
	       "0x%x000\n", what, ip, executed, decoded);
	return false;
}
