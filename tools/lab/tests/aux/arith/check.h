/* SPDX-License-Identifier: GPL-2.0-only */
/* The user-space tests of the AUX area's arithmetic. */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>

#include <linux/kernel.h>
#include <linux/types.h>

#include "chance.h"
#include "points.h"

void test_tables(void);
/* @steps transactions in each setting. */
void test_models(unsigned long steps);

#endif
