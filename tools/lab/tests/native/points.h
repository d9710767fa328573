/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Test results as TAP, for test programs that run on the host. */
#ifndef POINTS_H
#define POINTS_H

#include <stdbool.h>
#include <stdint.h>

/* One TAP result; returns @good. */
bool __attribute__((format(printf, 2, 3))) point(bool good, const char *format, ...);
/* A line that explains the result after it. */
void __attribute__((format(printf, 1, 2))) diag(const char *format, ...);
/* The plan; what main() is to return. */
int end_points(void);

/* A number of the command line; where it is none or 0, the usage and the end. */
uint64_t number(const char *text, const char *usage);

#endif
