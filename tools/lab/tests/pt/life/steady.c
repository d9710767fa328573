// SPDX-License-Identifier: GPL-2.0-only
/*
 * steady ROUNDS: takes its time, with few instructions and branches, and with the
 * same ones each time.
 */
#include <stdlib.h>

#define noinline __attribute__((noinline))

static char area[1 << 15];
static unsigned int value = 1;

/* One instruction, which the processor repeats, and may be interrupted in */
static noinline void turn(void)
{
	unsigned long count = sizeof(area);
	char *to = area;

	asm volatile("rep stosb" : "+c" (count), "+D" (to) : "a" (value)
		     : "memory");
}

static noinline void halve(void)
{
	if (value & 1)
		value += 9;
	value /= 2;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	while (rounds-- > 0) {
		turn();
		halve();
	}
	return 0;
}
