// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel PT in the company of others that use the performance monitor and its
 * interrupt; run in a guest, as root. Prints TAP.
 *
 *   company coexist|exclude|pebs|output
 *
 * says whether PT and last branch records can be on together; with pebs they
 * cannot, with output they can. The processor has PEBS then, which with output may
 * write to a trace, and it is but tried what can be opened.
 */
#include <stdio.h>
#include <string.h>

#include "company.h"

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	bool output = !strcmp(mode, "output");
	bool coexist = output || !strcmp(mode, "coexist");
	enum pebs pebs = output ? PEBS_OUTPUT : strcmp(mode, "pebs") ? PEBS_NONE : PEBS_MEMORY;

	setlinebuf(stdout);
	aux_use("intel_pt");
	test_exclusive(coexist, pebs);
	if (pebs != PEBS_NONE)
		return end_points();
	test_wraps(coexist, false);
	test_samples();
	test_contrary();
	return end_points();
}
