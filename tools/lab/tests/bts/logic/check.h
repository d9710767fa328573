/* SPDX-License-Identifier: GPL-2.0-only */
/* The user-space tests of the BTS driver: results. */
#ifndef CHECK_H
#define CHECK_H

#include "tests.h"
#include "verdict.h"

/* @steps of the driver in each setting. */
void test_driver(unsigned long steps);

#endif
