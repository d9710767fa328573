// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the native tests of the PT model's packet encoders and prints TAP.
 *
 *   packets [PACKETS [SEED]]
 *
 * PACKETS is the length of the random sequence; SEED repeats a failure.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "packets.h"

#define DEFAULT_PACKETS	400000
#define DEFAULT_SEED	1

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

void diag_bytes(const char *what, const uint8_t *bytes, size_t len)
{
	printf("# %s:", what);
	for (size_t i = 0; i < len; i++)
		printf(" %02x", bytes[i]);
	putchar('\n');
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	if (!*text || *end) {
		fprintf(stderr, "usage: packets [PACKETS [SEED]]\n");
		exit(1);
	}
	return value;
}

int main(int argc, char **argv)
{
	uint64_t packets = argc > 1 ? number(argv[1]) : DEFAULT_PACKETS;
	uint64_t seed = argc > 2 ? number(argv[2]) : DEFAULT_SEED;

	test_table();
	test_compression();
	test_random(packets, seed);
	printf("1..%u\n", points);
	return failed ? 1 : 0;
}
