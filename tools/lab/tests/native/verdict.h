/* SPDX-License-Identifier: GPL-2.0-only */
/* Verdicts of the user-space tests of drivers: a test is good if nobody was blamed in it. */
#ifndef VERDICT_H
#define VERDICT_H

#include <stdbool.h>

/* No test takes that many seconds of processor time; a driver that hangs would. */
void verdicts_begin(long seconds);
/* Something is wrong; the first of a test is what counts. */
void __attribute__((format(printf, 1, 2))) blame(const char *format, ...);
bool is_blamed(void);
/* The result of a test: good, if nobody was blamed since the last one. */
void __attribute__((format(printf, 1, 2))) verdict(const char *format, ...);

#define EXPECT(condition) do {						\
	if (!(condition))						\
		blame("%s:%d: %s", __FILE__, __LINE__, #condition);	\
} while (0)

#endif
