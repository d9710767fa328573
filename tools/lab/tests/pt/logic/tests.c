// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"
#include "kunit.h"

void run_tests(u64 steps)
{
	verdicts_begin(4 + steps / 5000);
	test_caps();
	kunit_run("perf_pt_config", "");
	test_filter();
	test_driver();
	test_unseen_errors();
	test_switch();
	test_buffer();
	test_nmi(steps);
	test_stream(steps);
	kunit_run("perf_pt_layout", "");
}
