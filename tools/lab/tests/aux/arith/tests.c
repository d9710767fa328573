// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"
#include "kunit.h"

void run_tests(u64 steps)
{
	kunit_run("perf_aux_arith", "");
	test_models(steps);
}
