/* SPDX-License-Identifier: GPL-2.0-only */
/* The user-space tests of the Intel PT driver: results. */
#ifndef CHECK_H
#define CHECK_H

#include "tests.h"
#include "verdict.h"

void test_caps(void);
void test_buffer(void);
void test_filter(void);
void test_driver(void);
void test_unseen_errors(void);
void test_switch(void);
/* @steps of the driver in each setting. */
void test_stream(unsigned long steps);
void test_nmi(unsigned long steps);

#endif
