// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the tests of the AUX area's arithmetic and prints TAP.
 *
 *   arith [STEPS [SEED]]
 *
 * STEPS is how many transactions each random setting takes; SEED is another
 * sequence of random numbers than the usual one.
 */
#include "check.h"

#define DEFAULT_STEPS	100000
#define DEFAULT_SEED	1
#define USAGE		"arith [STEPS [SEED]]"

int main(int argc, char **argv)
{
	u64 steps = argc > 1 ? number(argv[1], USAGE) : DEFAULT_STEPS;

	random_begin(argc > 2 ? number(argv[2], USAGE) : DEFAULT_SEED);
	test_tables();
	test_models(steps);
	return end_points();
}
