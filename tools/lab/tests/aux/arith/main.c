// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the tests of the AUX area's arithmetic and prints TAP.
 *
 *   arith [STEPS [SEED]]
 *
 * STEPS is how many transactions each random setting takes; SEED is another
 * sequence of random numbers than the usual one.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

#define DEFAULT_STEPS	100000
#define DEFAULT_SEED	1

static unsigned int points, failed;
static u64 random_state;

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

/* Marsaglia's xorshift64*. */
u64 random_below(u64 limit)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1dUL >> 16) % limit;
}

static u64 number(const char *text)
{
	char *end;
	u64 value = strtoul(text, &end, 0);

	if (!*text || *end || !value) {
		fprintf(stderr, "usage: arith [STEPS [SEED]], neither of them 0\n");
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	u64 steps = argc > 1 ? number(argv[1]) : DEFAULT_STEPS;

	random_state = argc > 2 ? number(argv[2]) : DEFAULT_SEED;
	test_tables();
	test_models(steps);
	printf("1..%u\n", points);
	return failed ? 1 : 0;
}
