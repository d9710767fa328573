// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the tests of the Intel PT driver's logic and prints TAP.
 *
 *   logic [STEPS [SEED]]
 *
 * STEPS is how many steps each random setting takes; SEED is another sequence of
 * random numbers than the usual one.
 */
#include "check.h"

#define DEFAULT_STEPS	20000
#define DEFAULT_SEED	1
#define USAGE		"logic [STEPS [SEED]]"

int main(int argc, char **argv)
{
	u64 steps = argc > 1 ? number(argv[1], USAGE) : DEFAULT_STEPS;

	verdicts_begin(2 + steps / 5000);
	random_begin(argc > 2 ? number(argv[2], USAGE) : DEFAULT_SEED);
	test_caps();
	test_config();
	test_filter();
	test_driver();
	test_unseen_errors();
	test_switch();
	test_buffer();
	test_nmi(steps);
	test_stream(steps);
	test_layout();
	return end_points();
}
