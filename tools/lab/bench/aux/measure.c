// SPDX-License-Identifier: GPL-2.0-only
/*
 * What AUX areas cost, in instructions: by the cycle counter of a machine in
 * which its rate is that of the instructions. Runs in a guest with one CPU, in
 * which it loads the module that its argument names; prints lines of a name and
 * a number.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include "aux_bench.h"
#include "aux_util.h"
#include "aux_util_cgroup.h"
#include "partner.h"

#define KiB		1024UL
#define MiB		(1024 * KiB)

/* Enough for all records of a measurement. */
#define DATA_PAGES	128
#define SHOTS		16
#define PAIRS		64
#define ROUNDS		1000
#define SAMPLES		64
#define SAMPLE_BYTES	4096

/* Ticks of the cycle counter in 2 * TURNS instructions. */
#define TURNS		10000
static __u64 turn_ticks;

static void calibrate(void)
{
	unsigned int i, turns;
	__u64 ticks;

	/* The fewest: no interrupt came between. */
	for (i = 0; i < SHOTS; i++) {
		turns = TURNS;
		ticks = __rdtsc();
		asm volatile("1: dec %0; jnz 1b" : "+r" (turns) : : "cc");
		ticks = __rdtsc() - ticks;
		if (!i || ticks < turn_ticks)
			turn_ticks = ticks;
	}
}

/* How many instructions one of so many times took. */
static void print_ticks(const char *name, __u64 ticks, unsigned int times)
{
	printf("%s %.2f\n", name, 2.0 * TURNS * ticks / turn_ticks / times);
}

static void begin(struct aux_event *event, struct perf_event_attr *attr, size_t area, int prot)
{
	int ret = aux_open_mapped(event, attr, 0, -1, DATA_PAGES);

	if (!ret && area)
		ret = aux_map_area(event, area, prot);
	if (ret)
		errx(1, "%s, area of %zu bytes: %s", aux_pmu_name(), area, strerror(-ret));
}

static int by_size(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static __u64 median(__u64 *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_size);
	return values[count / 2];
}

/* A kind of transaction, and what shows that it was one. */
struct transaction {
	const char *name;
	__u64 bytes;
	__u64 pairs;
	__u32 watermark;
	bool full;
};

static const struct transaction TRANSACTIONS[] = {
	{ .name = "empty", .pairs = PAIRS },
	{ .name = "data", .bytes = 64, .pairs = PAIRS },
	{ .name = "crossing", .bytes = 4096, .pairs = 1, .watermark = 4096 },
	{ .name = "full", .bytes = 64, .pairs = 1, .full = true },
};

/* Start an event once, which measures; then make room for the next. */
static __u64 shoot(struct aux_event *event, const struct transaction *t)
{
	__u64 count, records, moved, expected = t->full ? 0 : t->bytes * t->pairs;
	__u64 before = aux_head(event), data = event->page->data_head;

	/* A tail ahead of the head leaves no room. */
	aux_set_tail(event, t->full ? before + 1 : before);
	if (ioctl(event->fd, PERF_EVENT_IOC_RESET, 0) || aux_enable(event) || aux_disable(event))
		err(1, "%s", t->name);
	if (read(event->fd, &count, sizeof(count)) != sizeof(count) || !count)
		errx(1, "%s: not what a transaction should have found", t->name);

	moved = aux_head(event) - before;
	records = (event->page->data_head - data) / (sizeof(struct perf_event_header) + 24);
	if (moved != expected || records != (expected ? t->pairs : 0))
		errx(1, "%s: %llu bytes and %llu records", t->name, moved, records);
	event->page->data_tail = event->page->data_head;
	return count;
}

static void transactions(const struct transaction *t)
{
	struct perf_event_attr attr;
	struct aux_event event;
	__u64 counts[SHOTS];
	unsigned int i;

	aux_bench_choose("aux_bench", &attr);
	attr.config = t->bytes;
	attr.config1 = t->pairs;
	attr.config2 = t->full ? AUX_BENCH_FULL : 0;
	attr.aux_watermark = t->watermark;
	for (i = 0; i < SHOTS; i++) {
		/* Not every kernel starts an event again that found its area full. */
		if (!i || t->full)
			begin(&event, &attr, MiB, PROT_READ | PROT_WRITE);
		counts[i] = shoot(&event, t);
		if (i == SHOTS - 1 || t->full)
			aux_close(&event);
	}
	print_ticks(t->name, median(counts, SHOTS), t->pairs);
}

static __u64 round_trip(struct partner *partner)
{
	__u64 start = __rdtsc();

	partner_call(partner);
	return __rdtsc() - start;
}

/*
 * The mean of the middle half: some rounds have a timer interrupt in them, and
 * the others are of more than one kind.
 */
static __u64 middle(__u64 *values, size_t count)
{
	__u64 sum = 0;
	size_t i;

	qsort(values, count, sizeof(*values), by_size);
	for (i = count / 4; i < count - count / 4; i++)
		sum += values[i];
	return sum / (count - count / 4 * 2);
}

static __u64 ping_pong(struct partner *partner)
{
	__u64 ticks[ROUNDS];
	unsigned int i;

	for (i = 0; i < ROUNDS; i++)
		ticks[i] = round_trip(partner);
	return middle(ticks, ROUNDS);
}

/* Out and in of this task, whose every round is one of each. */
static void switches(const char *name, const char *pmu, __u64 bytes)
{
	struct perf_event_attr attr;
	struct partner partner;
	struct aux_event event;
	__u64 plain, traced;

	aux_bench_choose(pmu, &attr);
	attr.config = bytes;
	begin(&event, &attr, 8 * MiB, PROT_READ | PROT_WRITE);
	partner_start(&partner);
	plain = ping_pong(&partner);
	aux_enable(&event);
	traced = ping_pong(&partner);
	aux_disable(&event);
	partner_end(&partner);
	if (aux_head(&event) < ROUNDS * bytes || (bytes && !event.page->data_head))
		errx(1, "%s: too little was traced", name);
	print_ticks(name, traced - plain, 1);
	aux_close(&event);
}

/* A switch of the CPU to another control group and back */
enum { HERE, THERE, GROUPS };

struct groups {
	char root[CGROUP_PATH], path[GROUPS][CGROUP_PATH];
	int directory[GROUPS];
	struct partner partner;
};

static void groups_begin(struct groups *groups)
{
	if (!cgroup_find("perf_event", groups->root))
		errx(1, "no control groups");
	partner_start(&groups->partner);
	for (int i = 0; i < GROUPS; i++) {
		if (!cgroup_make(groups->root, groups->path[i]) ||
		    cgroup_enter(groups->path[i], i == HERE ? 0 : groups->partner.pid))
			errx(1, "no control group");
		groups->directory[i] = open(groups->path[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
}

static void groups_end(struct groups *groups)
{
	partner_end(&groups->partner);
	cgroup_enter(groups->root, 0);
	for (int i = 0; i < GROUPS; i++) {
		close(groups->directory[i]);
		cgroup_remove(groups->path[i]);
	}
}

/* Beside an event of the CPU, which has perf look at each switch: with no event of a group */
static __u64 groups_alone(struct groups *groups, int *cpu_event)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	};

	*cpu_event = aux_open(&attr, -1, 0);
	if (*cpu_event < 0)
		err(1, "perf_event_open(branches)");
	return ping_pong(&groups->partner);
}

/* ... with an event of each group that counts */
static __u64 groups_counted(struct groups *groups)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
	};
	__u64 ticks, count;
	int fds[GROUPS];

	for (int i = 0; i < GROUPS; i++)
		fds[i] = cgroup_open_event(&attr, groups->directory[i], 0, -1);
	ticks = ping_pong(&groups->partner);
	for (int i = 0; i < GROUPS; i++) {
		if (read(fds[i], &count, sizeof(count)) != sizeof(count) || !count)
			errx(1, "an event of a control group does not count");
		close(fds[i]);
	}
	return ticks;
}

/* ... with a trace of one group, which writes a record each time */
static __u64 groups_traced(struct groups *groups)
{
	struct aux_event event = { };
	struct perf_event_attr attr;
	__u64 ticks;

	aux_bench_choose("aux_bench", &attr);
	attr.config = 64;
	event.fd = cgroup_open_event(&attr, groups->directory[HERE], 0, -1);
	if (event.fd < 0 || aux_map_data(&event, DATA_PAGES) ||
	    aux_map_area(&event, 8 * MiB, PROT_READ | PROT_WRITE))
		errx(1, "no trace of a control group");
	aux_enable(&event);
	ticks = ping_pong(&groups->partner);
	aux_disable(&event);
	if (aux_head(&event) < ROUNDS * attr.config)
		errx(1, "too little was traced of a control group");
	aux_close(&event);
	return ticks;
}

static void group_switches(void)
{
	struct groups groups = { };
	int cpu_event;
	__u64 alone;

	groups_begin(&groups);
	alone = groups_alone(&groups, &cpu_event);
	print_ticks("cgroup-none", alone, 1);
	print_ticks("cgroup-counters", groups_counted(&groups) - alone, 1);
	print_ticks("cgroup-aux", groups_traced(&groups) - alone, 1);
	close(cpu_event);
	groups_end(&groups);
}

static void print_part(const char *part, const char *name, __u64 ticks)
{
	char both[64];

	snprintf(both, sizeof(both), "%s-%s", part, name);
	print_ticks(both, ticks, 1);
}

/* What a mapping went through, when. */
enum { BEFORE, MAPPED, TOUCHED, UNMAPPED, STAGES };

static void map_once(struct aux_event *event, size_t size, __u64 *ticks)
{
	size_t at;

	ticks[BEFORE] = __rdtsc();
	if (aux_map_area(event, size, PROT_READ | PROT_WRITE))
		errx(1, "no AUX area of %zu bytes", size);
	ticks[MAPPED] = __rdtsc();
	for (at = 0; at < size; at += aux_page_size())
		aux_peek((char *)event->area + at);
	ticks[TOUCHED] = __rdtsc();
	aux_unmap_area(event);
	ticks[UNMAPPED] = __rdtsc();
}

/* The stages of so many mappings, and the page faults of one. */
static void mapping(const char *name, size_t size, unsigned int times)
{
	__u64 stages[STAGES][SHOTS], ticks[STAGES];
	struct perf_event_attr attr;
	struct aux_event event;
	unsigned int i;
	long faults;

	aux_bench_choose("intel_pt", &attr);
	begin(&event, &attr, 0, 0);
	faults = aux_minor_faults();
	for (i = 0; i < times; i++) {
		map_once(&event, size, ticks);
		stages[MAPPED][i] = ticks[MAPPED] - ticks[BEFORE];
		stages[TOUCHED][i] = ticks[TOUCHED] - ticks[MAPPED];
		stages[UNMAPPED][i] = ticks[UNMAPPED] - ticks[TOUCHED];
		stages[BEFORE][i] = ticks[UNMAPPED] - ticks[BEFORE];
	}
	faults = aux_minor_faults() - faults;

	print_part("mmap", name, median(stages[MAPPED], times));
	print_part("touch", name, median(stages[TOUCHED], times));
	print_part("munmap", name, median(stages[UNMAPPED], times));
	print_part("whole", name, median(stages[BEFORE], times));
	printf("faults-%s %ld\n", name, faults / times);
	aux_close(&event);
}

/* As many page faults as there are pages, each of which is a sample if it is asked for. */
static __u64 fault_pages(char *pages)
{
	__u64 start;
	size_t i;

	if (madvise(pages, SAMPLES * aux_page_size(), MADV_DONTNEED))
		err(1, "madvise");
	start = __rdtsc();
	for (i = 0; i < SAMPLES; i++)
		pages[i * aux_page_size()] = 1;
	return __rdtsc() - start;
}

static int open_sampler(struct aux_event *trace, __u32 aux_bytes)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       (aux_bytes ? PERF_SAMPLE_AUX : 0),
		.aux_sample_size = aux_bytes,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, trace->fd, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		err(1, "perf_event_open(page faults)");
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, trace->fd))
		err(1, "SET_OUTPUT");
	return fd;
}

/* The same more than once; room is made for the samples. */
static __u64 quickest_faults(char *pages, struct aux_event *trace)
{
	__u64 ticks, least = 0;
	unsigned int i;

	for (i = 0; i < SHOTS; i++) {
		ticks = fault_pages(pages);
		trace->page->data_tail = trace->page->data_head;
		if (!i || ticks < least)
			least = ticks;
	}
	return least;
}

static void samples(const char *name, __u32 aux_bytes)
{
	struct perf_event_attr attr;
	struct aux_event trace;
	__u64 plain, sampled;
	char *pages;
	int sampler;

	pages = mmap(NULL, SAMPLES * aux_page_size(), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		err(1, "mmap");
	aux_bench_choose("intel_pt", &attr);
	begin(&trace, &attr, MiB, PROT_READ);
	sampler = open_sampler(&trace, aux_bytes);

	plain = quickest_faults(pages, &trace);
	aux_enable(&trace);
	sampled = quickest_faults(pages, &trace);
	aux_disable(&trace);
	if (trace.page->data_head < (__u64)SHOTS * SAMPLES * (aux_bytes + 8))
		errx(1, "%s: not all data are there", name);
	print_ticks(name, sampled - plain, SAMPLES);
	close(sampler);
	aux_close(&trace);
	munmap(pages, SAMPLES * aux_page_size());
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc != 2)
		errx(1, "usage: measure MODULE");
	aux_bench_load(argv[1]);
	calibrate();

	for (i = 0; i < sizeof(TRANSACTIONS) / sizeof(TRANSACTIONS[0]); i++)
		transactions(&TRANSACTIONS[i]);
	switches("switch-empty", "aux_bench", 0);
	switches("switch-data", "aux_bench", 64);
	switches("switch-pt", "intel_pt", 0);
	group_switches();
	samples("sample-plain", 0);
	samples("sample-aux", SAMPLE_BYTES);
	mapping("16M", 16 * MiB, SHOTS);
	mapping("1G", 1024 * MiB, 1);
	return 0;
}
