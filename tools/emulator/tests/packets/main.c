// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the native tests of the PT model's packet encoders and prints TAP.
 *
 *   packets [PACKETS [SEED]]
 *
 * PACKETS is the length of the random sequence; SEED repeats a failure.
 */
#include <stdio.h>

#include "packets.h"

#define DEFAULT_PACKETS	400000
#define DEFAULT_SEED	1
#define USAGE		"packets [PACKETS [SEED]]"

void diag_bytes(const char *what, const uint8_t *bytes, size_t len)
{
	printf("# %s:", what);
	for (size_t i = 0; i < len; i++)
		printf(" %02x", bytes[i]);
	putchar('\n');
}

int main(int argc, char **argv)
{
	uint64_t packets = argc > 1 ? number(argv[1], USAGE) : DEFAULT_PACKETS;
	uint64_t seed = argc > 2 ? number(argv[2], USAGE) : DEFAULT_SEED;

	test_table();
	test_compression();
	test_random(packets, seed);
	return end_points();
}
