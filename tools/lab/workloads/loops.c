// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * loops.c - conditional branches: a sieve, a sort, nested loops. About 1.5 million instructions
 * for each unit of scale.
 */
#include <stdint.h>
#include <string.h>

#include "check.h"

#define SIEVE		20000
#define PRIMES		2262
#define NR_SORT		2000

static unsigned char sieve[SIEVE];
static uint32_t values[NR_SORT];

static NOINLINE unsigned int count_primes(void)
{
	unsigned int i, j, count = 0;

	memset(sieve, 0, sizeof(sieve));
	for (i = 2; i < SIEVE; i++) {
		if (sieve[i])
			continue;
		count++;
		for (j = 2 * i; j < SIEVE; j += i)
			sieve[j] = 1;
	}
	return count;
}

static NOINLINE void shell_sort(uint32_t *v, unsigned int n)
{
	unsigned int gap, i, j;

	for (gap = n / 2; gap; gap /= 2) {
		for (i = gap; i < n; i++) {
			uint32_t x = v[i];

			for (j = i; j >= gap && v[j - gap] > x; j -= gap)
				v[j] = v[j - gap];
			v[j] = x;
		}
	}
}

static NOINLINE uint64_t sort_round(uint32_t seed)
{
	uint64_t before = 0, after = 0;
	unsigned int i;

	for (i = 0; i < NR_SORT; i++) {
		seed = seed * 1664525 + 1013904223;
		values[i] = seed;
		before += seed;
	}
	shell_sort(values, NR_SORT);
	for (i = 0; i < NR_SORT; i++) {
		CHECK(!i || values[i - 1] <= values[i]);
		after += values[i];
	}
	CHECK(before == after);
	return after;
}

static NOINLINE unsigned int nested(unsigned int n)
{
	volatile unsigned int sum = 0;
	unsigned int i, j, k;

	for (i = 0; i < n; i++)
		for (j = 0; j <= i; j++)
			for (k = 0; k <= j; k++)
				sum++;
	return sum;
}

int main(int argc, char **argv)
{
	unsigned long scale = workload_scale(argc, argv), i;
	unsigned int n = 60;

	for (i = 0; i < scale; i++) {
		CHECK(count_primes() == PRIMES);
		CHECK(sort_round(i));
		CHECK(nested(n) == n * (n + 1) * (n + 2) / 6);
	}
	printf("loops ok\n");
	return 0;
}
