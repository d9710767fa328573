// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose branches are numbered. For each number that it reads it makes so many marks,
 * writes the number of the last one, and waits for the next number. A mark is a call for each bit
 * of its own number, the highest first, and one of mark().
 */
#include <stdio.h>

#define BITS 24

static volatile unsigned int sum;

void __attribute__((noinline)) mark(void) { sum += 3; }
void __attribute__((noinline)) zero(void) { sum += 1; }
void __attribute__((noinline)) one(void) { sum += 2; }

static void (*const bits[])(void) = { zero, one };

int main(void)
{
	unsigned int number = 0, count;

	while (scanf("%u", &count) == 1) {
		while (count--) {
			number++;
			for (int bit = BITS - 1; bit >= 0; bit--)
				bits[number >> bit & 1]();
			mark();
		}
		printf("%u\n", number);
		fflush(stdout);
	}
	return 0;
}
