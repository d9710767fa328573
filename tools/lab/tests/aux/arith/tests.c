// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"

void run_tests(u64 steps)
{
	test_tables();
	test_models(steps);
}
