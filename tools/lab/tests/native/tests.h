/* SPDX-License-Identifier: GPL-2.0-only */
/* What each user-space test of files of the kernel's has. */
#ifndef TESTS_H
#define TESTS_H

#include <stddef.h>

#include <linux/kernel.h>
#include <linux/types.h>

#include "chance.h"
#include "points.h"

/* All tests; main() calls it. */
void run_tests(u64 steps);

#endif
