// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * known.c - a program whose calls are known, for timelines of it
 *
 * "known N" calls middle() N times, and in two threads by_thread() N times each. What else it
 * does is what is hard to nest: recursion, longjmp(), a tail call, system calls, a signal.
 * "known N pauses" calls begin(), leaf() and end() N times in turn, and sleeps after each
 * NAP_EVERY times.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Neither inlined nor copied, nor known to the caller for what it does. */
#define FUNCTION __attribute__((noinline, noclone, noipa))

/* The kernel emulates it; of others it executes a copy, whose code no decoder has. */
#define AT_PROBE	__asm__ volatile ("nop")

#define DEPTH		20
#define THROWN_FROM	4
#define THROWS		3
#define SYSCALLS	7
#define NAP_EVERY	4
/* So long that the task is switched out, however slow the machine is */
#define NAP_US		50000

static volatile long sink;
static jmp_buf place;

FUNCTION void leaf(long x)
{
	sink += x;
}

FUNCTION void middle(long x)
{
	leaf(x);
	leaf(x + 1);
	sink++;
}

FUNCTION void deep(long depth)
{
	if (depth)
		deep(depth - 1);
	sink++;
}

FUNCTION void leap(void)
{
	longjmp(place, 1);
}

FUNCTION void thrower(long depth)
{
	if (depth)
		thrower(depth - 1);
	else
		leap();
	sink++;
}

FUNCTION void tail(long x)
{
	leaf(x);
	sink++;
}

FUNCTION void tail_calls(long x)
{
	sink++;
	tail(x);
}

FUNCTION void system_calls(void)
{
	for (int i = 0; i < SYSCALLS; i++)
		syscall(SYS_getppid);
}

FUNCTION void by_thread(long x)
{
	middle(x);
	sink++;
}

/* The test gives this one another name, of bytes that are none of JSON's. */
FUNCTION void odd_name_of_a_function(void)
{
	sink++;
}

FUNCTION void begin(void)
{
	AT_PROBE;
	sink++;
}

FUNCTION void end(void)
{
	AT_PROBE;
	sink++;
}

FUNCTION void pauses(long n)
{
	for (long i = 0; i < n; i++) {
		begin();
		leaf(i);
		end();
		leaf(i);
		if (i % NAP_EVERY == NAP_EVERY - 1)
			usleep(NAP_US);
	}
}

FUNCTION void handler(int sig)
{
	leaf(sig);
	sink++;
}

FUNCTION void *thread(void *arg)
{
	for (long i = 0; i < (long)arg; i++)
		by_thread(i);
	return NULL;
}

FUNCTION void in_threads(long n)
{
	pthread_t threads[2];
	pthread_attr_t attr;
	cpu_set_t cpu;

	/* Each on a CPU of its own, or a busy machine may run all on one. */
	for (int i = 0; i < 2; i++) {
		CPU_ZERO(&cpu);
		CPU_SET(i, &cpu);
		pthread_attr_init(&attr);
		pthread_attr_setaffinity_np(&attr, sizeof(cpu), &cpu);
		pthread_create(&threads[i], &attr, thread, (void *)n);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

FUNCTION void throw_often(void)
{
	for (volatile int i = 0; i < THROWS; i++)
		if (!setjmp(place))
			thrower(THROWN_FROM);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 10;

	if (argc > 2) {
		pauses(n);
		return 0;
	}
	for (long i = 0; i < n; i++)
		middle(i);
	deep(DEPTH);
	throw_often();
	tail_calls(1);
	system_calls();
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	in_threads(n);
	prctl(PR_SET_NAME, "odd \"\\\xff\n");
	odd_name_of_a_function();
	return 0;
}
