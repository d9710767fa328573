// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * actions N: work of many kinds, N times between stretch_begin and stretch_end, which are NOPs,
 * and as often outside. Static and at fixed addresses, so that the oracle can be told them.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE	__attribute__((noinline, noclone))
#define NUMBERS		24
#define BYTES		20000
#define SIGNAL_EVERY	5

static volatile unsigned int signals;
static char from[BYTES], to[BYTES];

static NOINLINE unsigned int fib(unsigned int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void on_signal(int sig)
{
	(void)sig;
	signals += fib(5);
}

static NOINLINE unsigned int work(unsigned int n)
{
	int numbers[NUMBERS];
	unsigned int i;

	for (i = 0; i < NUMBERS; i++)
		numbers[i] = (n * 7919 + i * 104729) % 1000;
	qsort(numbers, NUMBERS, sizeof(numbers[0]), compare);
	memmove(to, from, BYTES - n % 100);
	if (n % SIGNAL_EVERY == 0)
		raise(SIGUSR1);
	return fib(n % 12) + numbers[0] + syscall(SYS_getppid);
}

NOINLINE unsigned int stretch(unsigned int n);

unsigned int stretch(unsigned int n)
{
	unsigned int sum;

	asm volatile(".globl stretch_begin\nstretch_begin: nop");
	sum = work(n);
	asm volatile(".globl stretch_end\nstretch_end: nop" : "+r"(sum));
	return sum;
}

int main(int argc, char **argv)
{
	unsigned int n, times = atoi(argv[argc - 1]), sum = 0;

	signal(SIGUSR1, on_signal);
	for (n = 1; n <= times; n++) {
		sum += work(n * 3);
		sum += stretch(n);
	}
	printf("%u %u\n", sum, signals);
	return 0;
}
