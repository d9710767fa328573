// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"

void run_tests(u64 steps)
{
	verdicts_begin(2 + steps / 5000);
	test_window();
	test_driver(steps);
}
