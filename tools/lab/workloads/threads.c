// SPDX-License-Identifier: GPL-2.0-or-later
/* threads.c - threads that hand work to each other, so that they are switched often. */
#include <pthread.h>
#include <stdint.h>

#include "check.h"

#define NR_THREADS	4
#define NR_ITEMS	200

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long turn, limit;
static uint64_t sums[NR_THREADS];

static NOINLINE uint64_t work(unsigned long n)
{
	uint64_t x = n + 1;
	unsigned int i;

	for (i = 0; i < 50; i++)
		x = x & 1 ? 3 * x + 1 : x / 2;
	return x;
}

static void *run(void *arg)
{
	unsigned long me = (unsigned long)arg;

	for (;;) {
		pthread_mutex_lock(&lock);
		while (turn < limit && turn % NR_THREADS != me)
			pthread_cond_wait(&changed, &lock);
		if (turn >= limit) {
			pthread_cond_broadcast(&changed);
			pthread_mutex_unlock(&lock);
			return NULL;
		}
		sums[me] += work(turn++);
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
}

int main(int argc, char **argv)
{
	uint64_t have = 0, want = 0;
	pthread_t threads[NR_THREADS];
	unsigned long i;

	limit = workload_scale(argc, argv) * NR_ITEMS;
	for (i = 0; i < NR_THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, run, (void *)i));
	for (i = 0; i < NR_THREADS; i++) {
		CHECK(!pthread_join(threads[i], NULL));
		have += sums[i];
	}
	for (i = 0; i < limit; i++)
		want += work(i);
	CHECK(have == want);
	printf("threads ok\n");
	return 0;
}
