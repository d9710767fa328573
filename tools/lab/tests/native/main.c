// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the tests of files of the kernel's and prints TAP.
 *
 *   PROGRAM [STEPS [SEED]]
 *
 * STEPS is how many steps each random test or setting takes; SEED is another
 * sequence of random numbers than the usual one.
 */
#include <stdio.h>

#include "tests.h"

#ifndef DEFAULT_STEPS
#define DEFAULT_STEPS	20000
#endif
#define DEFAULT_SEED	1
#define USAGE		PROGRAM " [STEPS [SEED]]"

int main(int argc, char **argv)
{
	u64 steps = argc > 1 ? number(argv[1], USAGE) : DEFAULT_STEPS;

	/* Each result is written when it is there. */
	setlinebuf(stdout);
	random_begin(argc > 2 ? number(argv[2], USAGE) : DEFAULT_SEED);
	run_tests(steps);
	return end_points();
}
