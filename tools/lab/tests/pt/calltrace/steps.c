// SPDX-License-Identifier: GPL-2.0-only
/*
 * steps WHAT N: N rounds of outside(), span(), outside(), then ending().
 * WHAT is "rounds", "fail" (exit status 3), "crash" (a null pointer four calls deep) or
 * "forever" (rounds until it is killed).
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile int sink;

static NOINLINE int leaf(int n)
{
	sink += n;
	return sink;
}

static inline __attribute__((always_inline)) int melted(int n)
{
	return sink * n;
}

NOINLINE int span(int n)
{
	return leaf(n) + leaf(n + 1) + 1;
}

NOINLINE int outside(int n)
{
	return leaf(n) * 2 + 1;
}

NOINLINE int ending(int n)
{
	return leaf(n) + 3;
}

NOINLINE int deep(int n)
{
	return n ? deep(n - 1) + 1 : *(volatile int *)NULL;
}

static NOINLINE void rounds(long number)
{
	for (long i = 0; i < number; i++) {
		outside(i);
		span(i);
		outside(i);
	}
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
	int numbers[] = { 2, 1 };

	if (argc < 3)
		return 2;
	qsort(numbers, 2, sizeof(numbers[0]), compare);
	if (!strcmp(argv[1], "crash"))
		deep(3);
	while (!strcmp(argv[1], "forever")) {
		rounds(atol(argv[2]));
		usleep(1000);
	}
	rounds(atol(argv[2]));
	getppid();
	ending(melted(argc));
	return strcmp(argv[1], "fail") ? 0 : 3;
}
