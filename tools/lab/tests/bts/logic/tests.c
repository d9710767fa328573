// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"
#include "kunit.h"

void run_tests(u64 steps)
{
	verdicts_begin(2 + steps / 5000);
	kunit_run("perf_bts", "");
	test_driver(steps);
}
