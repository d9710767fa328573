// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * roam.c - tasks that are never left on a CPU for long: roam [SCALE [PROCESSES]].
 *
 * Each process has as many threads as processes are asked for, but one if that is one. Each moves
 * itself to the next CPU again and again; where there are several, they move each other in
 * midst of their work as well. Prints "step ADDRESS TIMES": how often all of them together
 * came by the first instruction of step().
 */
#define _GNU_SOURCE
#include <sched.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define STEPS		400
#define STAY		20
#define MAX_THREADS	8

static unsigned long steps;
static unsigned int nr_cpus, nr_threads = 1;
static pid_t tids[MAX_THREADS];

NOINLINE uint64_t step(uint64_t x)
{
	return x & 1 ? 3 * x + 1 : x / 2;
}

/* The CPU may be offline, and the thread may have ended: then it stays where it is. */
static void move_to(pid_t tid, unsigned int cpu)
{
	cpu_set_t only = { .__bits = { 1ul << cpu } };

	sched_setaffinity(tid, sizeof(only), &only);
}

static void *roam(void *arg)
{
	unsigned int me = (unsigned long)arg, friend = (me + 1) % nr_threads;
	unsigned long i, moves = getpid();
	uint64_t x = 27;

	tids[me] = gettid();
	for (i = 0; i < steps; i++) {
		x = step(x);
		if (i % STAY)
			continue;
		move_to(0, ++moves % nr_cpus);
		/* The other way round, so that both ways meet. */
		if (friend != me && tids[friend])
			move_to(tids[friend], nr_cpus - 1 - moves % nr_cpus);
	}
	CHECK(x);
	return NULL;
}

static void run_process(void)
{
	pthread_t threads[MAX_THREADS];
	unsigned long nr = 0;

	while (++nr < nr_threads)
		CHECK(!pthread_create(threads + nr, NULL, roam, (void *)nr));
	roam(NULL);
	while (--nr)
		CHECK(!pthread_join(threads[nr], NULL));
}

int main(int argc, char **argv)
{
	unsigned int left = argc > 2 ? atoi(argv[2]) : 2;
	pid_t first = getpid(), child = 0;
	unsigned long times;
	int status = 0;

	CHECK(left >= 1 && left <= MAX_THREADS);
	steps = workload_scale(argc > 2 ? 2 : argc, argv) * STEPS;
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	nr_threads = left;
	times = steps * left * nr_threads;
	/* Each process makes the next one, and waits for it. */
	while (--left && !(child = fork()))
		;
	CHECK(child >= 0);
	run_process();
	CHECK(!child || (waitpid(child, &status, 0) == child && !status));
	if (getpid() == first)
		printf("step %p %lu\n", (void *)step, times);
	return 0;
}
