// SPDX-License-Identifier: GPL-2.0-only
/*
 * Large AUX areas: they can be mapped, touching them takes few page faults,
 * and an allocation that fails or is killed ends properly.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_harness.h"

#define GIB		(1024ULL * 1024 * 1024)
#define DATA_PAGES	16
/* Page tables, the array of pages, and what else runs. */
#define RESERVE		(GIB / 4)
#define ATTEMPTS	5
#define ROUNDS		20000
/* Seconds */
#define QUICK		0.02
/* At most one fault for so many pages. */
#define PAGES_PER_FAULT	10

FIXTURE(aux_big)
{
	struct aux_event event;
};

FIXTURE_VARIANT(aux_big)
{
	const char *pmu;
	unsigned long long size;
};

FIXTURE_VARIANT_ADD(aux_big, gib_1_synth) { .pmu = "aux_synth", .size = GIB };
FIXTURE_VARIANT_ADD(aux_big, gib_1_pt) { .pmu = "intel_pt", .size = GIB };
FIXTURE_VARIANT_ADD(aux_big, gib_1_bts) { .pmu = "intel_bts", .size = GIB };
FIXTURE_VARIANT_ADD(aux_big, gib_2_synth) { .pmu = "aux_synth", .size = 2 * GIB };
FIXTURE_VARIANT_ADD(aux_big, gib_2_pt) { .pmu = "intel_pt", .size = 2 * GIB };
FIXTURE_VARIANT_ADD(aux_big, gib_2_bts) { .pmu = "intel_bts", .size = 2 * GIB };
FIXTURE_VARIANT_ADD(aux_big, gib_4_synth) { .pmu = "aux_synth", .size = 4 * GIB };
FIXTURE_VARIANT_ADD(aux_big, gib_4_pt) { .pmu = "intel_pt", .size = 4 * GIB };
FIXTURE_VARIANT_ADD(aux_big, gib_4_bts) { .pmu = "intel_bts", .size = 4 * GIB };

/* Bytes, from /proc/meminfo. */
static unsigned long long memory(const char *key)
{
	unsigned long long kib = 0;
	char line[256], name[64];
	FILE *file = fopen("/proc/meminfo", "r");

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63[^:]: %llu", name, &kib) == 2 && !strcmp(name, key))
			break;
		kib = 0;
	}
	if (file)
		fclose(file);
	return kib << 10;
}

/* Bytes for an area: with CONFIG_HIGHMEM, only of the memory that the kernel maps directly. */
static unsigned long long available(void)
{
	return memory("LowTotal") ? memory("LowFree") : memory("MemAvailable");
}

/* Whether the address space can take a mapping of this size; it has 32 bits perhaps. */
static bool is_addressable(unsigned long long size)
{
	void *map;

	if (size > SIZE_MAX)
		return false;
	map = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return map != MAP_FAILED && !munmap(map, size);
}

FIXTURE_SETUP(aux_big)
{
	aux_use(variant->pmu);
	self->event.fd = -1;
	self->event.page = NULL;
	self->event.area = NULL;
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
	if (!aux_has_cap(CAP_IPC_LOCK))
		SKIP(return, "to lock so much memory needs CAP_IPC_LOCK");
	if (!is_addressable(variant->size))
		SKIP(return, "no room for %llu MiB in an address space of %zu bits",
		     variant->size >> 20, sizeof(void *) * 8);
	if (available() < variant->size + RESERVE)
		SKIP(return, "less than %llu MiB of memory available",
		     (variant->size + RESERVE) >> 20);
	ASSERT_EQ(aux_open_mapped(&self->event, NULL, 0, -1, DATA_PAGES), 0);
}

FIXTURE_TEARDOWN(aux_big)
{
	aux_close(&self->event);
}

static bool touch(const char *area, unsigned long long size, size_t step)
{
	bool zero = true;

	for (unsigned long long at = 0; at < size; at += step)
		zero = !aux_peek(area + at) && zero;
	return zero;
}

TEST_F_TIMEOUT(aux_big, map_touch_and_trace, 300)
{
	size_t page = aux_page_size();
	long faults;
	double start = aux_seconds(), mapped;

	ASSERT_EQ(aux_map_area(&self->event, variant->size, PROT_READ | PROT_WRITE), 0);
	mapped = aux_seconds();
	faults = aux_minor_faults();
	EXPECT_TRUE(touch(self->event.area, variant->size, page));
	faults = aux_minor_faults() - faults;
	TH_LOG("%llu MiB: %ld faults for %llu pages, mapped in %.2f s, touched in %.2f s",
	       variant->size >> 20, faults, variant->size / page, mapped - start,
	       aux_seconds() - mapped);
	EXPECT_LE(faults * PAGES_PER_FAULT, variant->size / page);

	ASSERT_EQ(aux_enable(&self->event), 0);
	aux_work(ROUNDS);
	aux_disable(&self->event);
	EXPECT_GT(aux_head(&self->event), 0);
	EXPECT_FALSE(touch(self->event.area, aux_head(&self->event), 1));
}

/*
 * A child maps the area, and is killed by a timer after some time of the clock, unless that is 0.
 * Returns what the child took of its CPU's time, or INFINITY if it had mapped all before, or -1
 * after an error.
 */
static double map_until_killed(struct aux_event *event, unsigned long long size, double seconds)
{
	struct itimerval timer = {
		.it_value = { seconds, (seconds - (long)seconds) * 1e6 },
	};
	struct rusage usage;
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		/* The parent's mapping is not inherited. */
		if (aux_map_data(event, DATA_PAGES) || setitimer(ITIMER_REAL, &timer, NULL))
			_exit(2);
		_exit(aux_map_area(event, size, PROT_READ | PROT_WRITE) ? 1 : 0);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid ||
	    (WIFEXITED(status) && WEXITSTATUS(status)))
		return -1;
	return WIFEXITED(status) && seconds ? INFINITY :
	       usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/*
 * Killed when it cannot have used more than a tenth of the time that it takes, the child must not
 * go on to the half of that. What else the machine does delays it, but does not count.
 */
TEST_F_TIMEOUT(aux_big, fatal_signal_ends_it, 300)
{
	double whole, ended = 0;

	if (variant->size > 2 * GIB)
		SKIP(return, "the smaller ones tell it");
	/* With pages of 64 KiB, one is of 512 MiB. */
	if (variant->size < 2 * GIB && aux_page_size() > 16384)
		SKIP(return, "a chunk, which is had as a whole, may be half of it");
	whole = map_until_killed(&self->event, variant->size, 0);
	ASSERT_GE(whole, 0);
	/* A signal and a fork take their time, too. */
	if (whole < QUICK)
		SKIP(return, "mapped in %.3f s, which is too quick to tell", whole);

	for (unsigned int i = 0; i < ATTEMPTS && (!i || ended >= whole / 2); i++) {
		ended = map_until_killed(&self->event, variant->size, whole / 10);
		ASSERT_GE(ended, 0);
	}
	TH_LOG("%llu MiB: %.2f s, or %.2f s if killed after a tenth", variant->size >> 20, whole,
	       ended);
	EXPECT_LT(ended, whole / 2);

	/* It left nothing behind. */
	EXPECT_EQ(aux_map_area(&self->event, variant->size, PROT_READ | PROT_WRITE), 0);
}

TEST_HARNESS_MAIN
