/* SPDX-License-Identifier: GPL-2.0-only */
/* The user-space tests of the AUX area's arithmetic: results, random numbers. */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>

#include <linux/kernel.h>
#include <linux/types.h>

#include "points.h"

/* A random number below @limit, which is not 0; the same ones in each run. */
u64 random_below(u64 limit);

void test_tables(void);
/* @steps transactions in each setting. */
void test_models(unsigned long steps);

#endif
