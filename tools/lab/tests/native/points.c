// SPDX-License-Identifier: GPL-2.0-or-later
/* Test results as TAP, for test programs that run on the host. */
#include "points.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned int points, failed;

bool point(bool good, const char *format, ...)
{
	va_list args;

	failed += !good;
	printf("%sok %u - ", good ? "" : "not ", ++points);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	return good;
}

void diag(const char *format, ...)
{
	va_list args;

	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

int end_points(void)
{
	printf("1..%u\n", points);
	return failed ? 1 : 0;
}

uint64_t number(const char *text, const char *usage)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	if (!*text || *end || !value) {
		fprintf(stderr, "usage: %s, none of them 0\n", usage);
		exit(2);
	}
	return value;
}
