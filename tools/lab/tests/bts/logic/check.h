/* SPDX-License-Identifier: GPL-2.0-only */
/* The user-space tests of the BTS driver: results. */
#ifndef CHECK_H
#define CHECK_H

#include <linux/kernel.h>
#include <linux/types.h>

#include "chance.h"
#include "points.h"

/* Something is wrong; the first of a test is what counts. */
void __attribute__((format(printf, 1, 2))) blame(const char *format, ...);
bool is_blamed(void);
/* The result of a test: good, if nobody was blamed since the last one. */
void __attribute__((format(printf, 1, 2))) verdict(const char *format, ...);

#define EXPECT(condition) do {						\
	if (!(condition))						\
		blame("%s:%d: %s", __FILE__, __LINE__, #condition);	\
} while (0)

void test_window(void);
/* @steps of the driver in each setting. */
void test_driver(unsigned long steps);

#endif
