// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with many kinds of branches, to be traced: busy ROUNDS [PAUSE], which is how many
 * microseconds it sleeps after each. It checks its own results.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS 512

static unsigned int values[WORDS];

unsigned int __attribute__((noinline)) fib(unsigned int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int __attribute__((noinline)) compare(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return x < y ? -1 : x > y;
}

void __attribute__((noinline)) shuffle(unsigned int seed)
{
	for (int i = 0; i < WORDS; i++) {
		seed = seed * 1664525 + 1013904223;
		values[i] = seed >> 8;
	}
}

static void __attribute__((noinline)) sort(void)
{
	qsort(values, WORDS, sizeof(values[0]), compare);
	for (int i = 1; i < WORDS; i++) {
		if (values[i - 1] > values[i])
			abort();
	}
}

static unsigned int add(unsigned int x) { return x + 3; }
static unsigned int twist(unsigned int x) { return x ^ (x << 5); }
static unsigned int halve(unsigned int x) { return x / 2; }

static unsigned int __attribute__((noinline)) dispatch(unsigned int x)
{
	static unsigned int (*const calls[])(unsigned int) = { add, twist, halve };

	for (int i = 0; i < 64; i++) {
		switch (x % 5) {
		case 0: x = calls[0](x); break;
		case 1: x = calls[1](x); break;
		case 2: x = calls[2](x); break;
		case 3: x += 7; break;
		default: x = calls[x % 3](x) + 1; break;
		}
	}
	return x;
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? atoi(argv[1]) : 1, sum = 0;
	unsigned int pause = argc > 2 ? atoi(argv[2]) : 0;

	for (unsigned int i = 0; i < rounds; i++) {
		if (fib(12) != 144)
			abort();
		shuffle(i);
		sort();
		sum += dispatch(i);
		if (pause)
			usleep(pause);
	}
	printf("%u\n", sum);
	return 0;
}
