// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fuzzer of AUX areas: where in the kernel its first thread has been.
 *
 * Documentation/dev-tools/kcov.rst. The kernel notes places of those files only that are
 * compiled for it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aux_fuzz.h"

#define KCOV		"/sys/kernel/debug/kcov"
#define PLACES		(64UL << 10)
#define MULTIPLIER	0x9e3779b97f4a7c15ULL

/* The number of places, and then each of them; NULL: this kernel does not tell. */
static unsigned long *places;

bool fuzz_cover_exists(void)
{
	return !access(KCOV, R_OK | W_OK);
}

/* Of the calling thread, from now on. Its children have to ask for themselves. */
bool fuzz_cover_start(void)
{
	int fd = open(KCOV, O_RDWR | O_CLOEXEC);
	void *at;

	places = NULL;
	if (fd < 0)
		return false;
	if (ioctl(fd, KCOV_INIT_TRACE, PLACES))
		return false;
	at = mmap(NULL, PLACES * sizeof(*places), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC))
		return false;
	places = at;
	__atomic_store_n(places, 0, __ATOMIC_RELAXED);
	return true;
}

/* Return: how many edges are new since the last call */
unsigned int fuzz_cover_take(struct fuzz_shared *shared)
{
	unsigned long count, before = 0, edge;
	unsigned int found = 0;

	if (!places)
		return 0;
	count = __atomic_load_n(places, __ATOMIC_RELAXED);
	for (unsigned long i = 1; i <= count; i++) {
		edge = (places[i] ^ before >> 1) * MULTIPLIER >> 40 & (FUZZ_EDGES - 1);
		before = places[i];
		if (shared->edges[edge / 8] & 1 << edge % 8)
			continue;
		shared->edges[edge / 8] |= 1 << edge % 8;
		found++;
	}
	shared->edges_seen += found;
	__atomic_store_n(places, 0, __ATOMIC_RELAXED);
	return found;
}
