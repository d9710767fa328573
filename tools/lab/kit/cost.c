// SPDX-License-Identifier: GPL-2.0-only
/*
 * cost NAME traced|base TIMES: does what is measured, when it is told to.
 *
 * It says "ready". For each line that it reads it does it TIMES times and says
 * "done NANOSECONDS TIMES BYTES": how long that took, and bytes of trace where those are what
 * is measured. Who reads that counts what happened in between. 'base' is the same
 * without what is measured: without a trace, or with events that do nothing to it. What cannot be
 * done here is said as "error ERRNO TEXT".
 *
 *   switch  this task sleeps and wakes, and is traced
 *   both    so does the other task, which is traced as well
 *   sample  a page fault takes 4 KiB of the trace as a sample
 *   pause   a page fault pauses the trace and resumes it
 *   pmi64k  TIMES * 64 KiB of trace in an area of 64 KiB, read at each interrupt
 *   pmi1m   the same in an area of 1 MiB
 *
 * cost probe - 0: whether a thread and each CPU can be traced.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "aux_util.h"
#include "partner.h"

#define KiB		1024UL
#define MiB		(1024 * KiB)
#define DATA_PAGES	64
#define SAMPLE_BYTES	4096
/* Seconds in which a trace that is written has moved its head */
#ifndef STILL
#define STILL		10
#endif

static struct aux_event own, partners;
static struct partner partner;
static char *page;
static __u64 traced_bytes;

static void __attribute__((noreturn)) fail(int error, const char *what)
{
	printf("error %d %s: %s\n", error, what, strerror(error));
	fflush(stdout);
	exit(3);
}

static void begin(struct aux_event *event, pid_t pid, size_t area, int prot)
{
	int ret = aux_open_mapped(event, NULL, pid, -1, DATA_PAGES) ?:
		  aux_map_area(event, area, prot);

	if (ret)
		fail(-ret, "cannot trace");
	aux_enable(event);
}

static void setup_switch(bool traced)
{
	partner_start(&partner);
	if (traced)
		begin(&own, 0, MiB, PROT_READ | PROT_WRITE);
}

static void setup_both(bool traced)
{
	setup_switch(traced);
	if (traced)
		begin(&partners, partner.pid, MiB, PROT_READ | PROT_WRITE);
}

static void do_switch(unsigned long times)
{
	while (times--)
		partner_call(&partner);
}

/* Each page fault is an event that does something to the trace. */
static void on_faults(__u32 aux_bytes, __u32 action)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | (aux_bytes ? PERF_SAMPLE_AUX : 0),
		.aux_sample_size = aux_bytes,
	};
	int fd;

	if (action)
		aux_set_action(&attr, action);
	fd = aux_open_in_group(&attr, 0, -1, own.fd);
	if (fd < 0)
		fail(errno, "the kernel takes no such event");
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, own.fd))
		fail(errno, "PERF_EVENT_IOC_SET_OUTPUT");
}

static void setup_sample(bool traced)
{
	begin(&own, 0, MiB, PROT_READ);
	on_faults(traced ? SAMPLE_BYTES : 0, 0);
}

static void setup_pause(bool traced)
{
	begin(&own, 0, MiB, PROT_READ | PROT_WRITE);
	on_faults(0, traced ? AUX_PAUSE : 0);
	on_faults(0, traced ? AUX_RESUME : 0);
}

static void do_faults(unsigned long times)
{
	while (times--) {
		own.page->data_tail = own.page->data_head;
		aux_set_tail(&own, aux_head(&own));
		if (madvise(page, aux_page_size(), MADV_DONTNEED))
			fail(errno, "madvise");
		*page = 1;
	}
}

static void setup_pmi64k(bool traced)
{
	if (traced)
		begin(&own, 0, 64 * KiB, PROT_READ | PROT_WRITE);
}

static void setup_pmi1m(bool traced)
{
	if (traced)
		begin(&own, 0, MiB, PROT_READ | PROT_WRITE);
}

static unsigned long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* A reader that takes all there is at once, as perf record does. */
static void do_pmi(unsigned long times)
{
	__u64 first = own.page ? aux_head(&own) : 0, end = first + times * 64 * KiB, last = first;
	unsigned long long moved = now();

	do {
		aux_work(20);
		if (!own.page)
			return;
		if (aux_head(&own) != last) {
			last = aux_head(&own);
			moved = now();
		} else if (now() - moved > STILL * 1000000000ULL) {
			fail(ETIME, "no trace is written");
		}
		aux_set_tail(&own, aux_head(&own));
		own.page->data_tail = own.page->data_head;
		/* It may have found the area full. */
		aux_enable(&own);
	} while (aux_head(&own) < end);
	traced_bytes = aux_head(&own) - first;
}

/* A thread (-1) or a CPU is traced for a millisecond: CPU, errno, bytes. */
static void probe(int cpu)
{
	unsigned long long start;
	int ret;

	ret = aux_open_mapped(&own, NULL, cpu < 0 ? 0 : -1, cpu, 1);
	if (!ret)
		ret = aux_map_area(&own, 64 * KiB, PROT_READ | PROT_WRITE);
	if (!ret) {
		aux_enable(&own);
		for (start = now(); now() - start < 1000000; )
			aux_work(1000);
		aux_disable(&own);
	}
	printf("%d %d %llu\n", cpu, -ret, ret ? 0ULL : (unsigned long long)aux_head(&own));
	aux_close(&own);
}

static void probe_all(void)
{
	probe(-1);
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
		if (!aux_pin(0, cpu))
			probe(cpu);
}

static const struct {
	const char *name;
	void (*setup)(bool traced);
	void (*run)(unsigned long times);
} COSTS[] = {
	{ "switch", setup_switch, do_switch },
	{ "both", setup_both, do_switch },
	{ "sample", setup_sample, do_faults },
	{ "pause", setup_pause, do_faults },
	{ "pmi64k", setup_pmi64k, do_pmi },
	{ "pmi1m", setup_pmi1m, do_pmi },
};

static void serve(void (*run)(unsigned long times), unsigned long times)
{
	unsigned long long start;
	char line[16];

	run(times / 10 + 1);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		start = now();
		run(times);
		printf("done %llu %lu %llu\n", now() - start, times, (unsigned long long)traced_bytes);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	unsigned int i;

	aux_use("intel_pt");
	if (argc != 4)
		return 2;
	if (!strcmp(argv[1], "probe")) {
		probe_all();
		return 0;
	}
	page = mmap(NULL, aux_page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		fail(errno, "mmap");
	for (i = 0; i < sizeof(COSTS) / sizeof(COSTS[0]); i++) {
		if (strcmp(COSTS[i].name, argv[1]))
			continue;
		COSTS[i].setup(!strcmp(argv[2], "traced"));
		serve(COSTS[i].run, strtoul(argv[3], NULL, 10));
		return 0;
	}
	return 2;
}
