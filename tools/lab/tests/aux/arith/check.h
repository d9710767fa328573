/* SPDX-License-Identifier: GPL-2.0-only */
/* The user-space tests of the AUX area's arithmetic. */
#ifndef CHECK_H
#define CHECK_H

#include "tests.h"

/* @steps transactions in each setting. */
void test_models(unsigned long steps);

#endif
