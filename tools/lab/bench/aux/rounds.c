// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rounds of transactions, samples, switches and reads for the plugin touched.c, which counts what
 * they touch. Runs in a guest with two CPUs, in which it loads the module that its argument names.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_bench.h"
#include "aux_util.h"
#include "partner.h"

#define AREA_BYTES	(64 * 1024)
#define DATA_PAGES	8
#define CPUS		2
#define CHILDREN	4
/* So many events, each at another place, and the rounds of each */
#define PLACES		64
#define ROUNDS		16
/* Of one event */
#define READS		1000
/* Until each task has run everything, so that nothing is done for the first time */
#define WARM		16
#define RECORD_BYTES	64

static void map(struct aux_event *event, int prot)
{
	int ret = aux_map_area(event, AREA_BYTES, prot);

	if (ret)
		errx(1, "%s, AUX area: %s", aux_pmu_name(), strerror(-ret));
}

static void begin(struct aux_event *event, struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int ret = aux_open_mapped(event, attr, pid, cpu, DATA_PAGES);

	if (ret)
		errx(1, "%s: %s", aux_pmu_name(), strerror(-ret));
}

/* The module makes and marks as many when the event is started. */
static void transactions(unsigned int row, __u64 bytes)
{
	struct perf_event_attr attr;
	struct aux_event event;

	aux_bench_choose("aux_bench", &attr);
	attr.config = bytes;
	attr.config1 = ROUNDS;
	attr.config2 = row << AUX_BENCH_ROW_SHIFT;
	begin(&event, &attr, 0, -1);
	map(&event, PROT_READ | PROT_WRITE);
	aux_enable(&event);
	aux_disable(&event);
	if (!aux_count_of(event.fd) || aux_head(&event) != bytes * ROUNDS)
		errx(1, "not each transaction was made");
}

static void empty(void)
{
	transactions(AUX_BENCH_EMPTY, 0);
}

static void data(void)
{
	transactions(AUX_BENCH_DATA, RECORD_BYTES);
}

static void samples(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS, .sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID, .exclude_kernel = 1,
	};
	struct aux_event event;
	char *page = mmap(NULL, aux_page_size(), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	begin(&event, &attr, 0, -1);
	for (int i = -WARM; i < ROUNDS; i++) {
		madvise(page, aux_page_size(), MADV_DONTNEED);
		aux_bench_mark(i < 0 ? AUX_BENCH_NONE : AUX_BENCH_SAMPLE);
		*page = 1;
		aux_bench_mark(AUX_BENCH_NONE);
	}
	if (aux_data_head(&event) < ROUNDS * sizeof(struct perf_event_header))
		errx(1, "not each fault was a sample");
}

/* Out and in of this task, which has a counter */
static struct partner partner;

static void switches(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
	};
	int fd = aux_open(&attr, 0, -1);

	for (int i = -WARM; i < ROUNDS; i++) {
		aux_bench_mark(i < 0 ? AUX_BENCH_NONE : AUX_BENCH_SWITCH);
		partner_call(&partner);
		aux_bench_mark(AUX_BENCH_NONE);
	}
	if (!aux_count_of(fd))
		errx(1, "nothing was counted");
}

/* Has an event, like each of the others, so that the next of the same kind is at another place */
static void dummy(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
	};

	if (aux_open(&attr, 0, -1) < 0)
		err(1, "perf_event_open()");
}

static void (*const one_event[])(void) = { empty, data, samples, switches, dummy };

#define KINDS	(sizeof(one_event) / sizeof(*one_event))

/* A task that does it and keeps its event: none is freed, so none is at the place of another. */
static pid_t start(void (*action)(void))
{
	int done[2];
	pid_t pid;
	char byte = 0;

	if (pipe(done))
		err(1, "pipe");
	pid = fork();
	if (!pid) {
		close(done[0]);
		action();
		while (write(done[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	close(done[1]);
	if (read(done[0], &byte, 1) != 1)
		exit(1);
	close(done[0]);
	return pid;
}

/*
 * Where an event begins in a cache line decides how many it touches, and events need not be
 * aligned. Those that are made one after the other lie side by side.
 */
static void at_all_places(void)
{
	pid_t tasks[PLACES * KINDS];

	partner_start(&partner);
	for (size_t i = 0; i < PLACES * KINDS; i++)
		tasks[i] = start(one_event[i % KINDS]);
	for (size_t i = 0; i < PLACES * KINDS; i++)
		aux_end_worker(tasks[i]);
	partner_end(&partner);
}

/*
 * What perf record does at each read of an area in full-trace mode, here of CPU 1; or what it does
 * to an event that the area has become full for
 */
static void reads(unsigned int row, bool disabled)
{
	struct perf_event_attr attr;
	struct aux_event event;

	aux_bench_choose("aux_bench", &attr);
	begin(&event, &attr, -1, 1);
	map(&event, PROT_READ | PROT_WRITE);
	aux_enable(&event);
	for (int i = 0; i < READS; i++) {
		if (disabled)
			aux_disable(&event);
		aux_bench_mark(row);
		aux_set_tail(&event, aux_head(&event));
		aux_enable(&event);
		aux_bench_mark(AUX_BENCH_NONE);
	}
	aux_close(&event);
}

/* A child that maps code whenever it has run, as one does that loads a library */
static void child(int cpu, int in, int out)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
	};
	int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char byte;

	/* With an event that the others do not have, its own are really switched. */
	if (aux_pin(0, cpu) || program < 0 || aux_open(&attr, 0, -1) < 0)
		_exit(1);
	while (read(in, &byte, 1) == 1 && write(out, &byte, 1) == 1)
		munmap(mmap(NULL, aux_page_size(), PROT_READ | PROT_EXEC, MAP_PRIVATE, program, 0),
		       aux_page_size());
	_exit(0);
}

static void child_start(struct partner *partner, int cpu)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		err(1, "pipe");
	partner->pid = fork();
	if (!partner->pid) {
		close(there[1]);
		close(back[0]);
		child(cpu, there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	partner->to = there[1];
	partner->from = back[0];
}

/* A traced task with children on each CPU, which inherit its events: one for each CPU */
static void shared(void)
{
	struct partner children[CHILDREN];
	struct aux_event events[CPUS];
	struct perf_event_attr attr;

	aux_bench_choose("intel_pt", &attr);
	attr.inherit = 1;
	attr.mmap = 1;
	attr.exclude_kernel = 0;
	attr.disabled = 0;
	for (int cpu = 0; cpu < CPUS; cpu++) {
		begin(&events[cpu], &attr, 0, cpu);
		/* In overwrite mode an area is never full, so the events run on. */
		map(&events[cpu], PROT_READ);
		if (ioctl(events[cpu].fd, PERF_EVENT_IOC_SET_FILTER,
			  "filter 0xffffffff81000000/0x1000"))
			err(1, "filter");
	}
	for (int i = 0; i < CHILDREN; i++)
		child_start(&children[i], i % CPUS);
	for (int i = -WARM; i < READS; i++) {
		if (!i)
			aux_bench_mark(AUX_BENCH_SHARED);
		partner_call(&children[(i + WARM) % CHILDREN]);
	}
	aux_bench_mark(AUX_BENCH_NONE);
	/* Each has inherited the ends of those before it. */
	for (int i = CHILDREN - 1; i >= 0; i--)
		partner_end(&children[i]);
	for (int cpu = 0; cpu < CPUS; cpu++)
		aux_close(&events[cpu]);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(1, "usage: rounds MODULE");
	aux_bench_load(argv[1]);
	aux_pin(0, 0);
	at_all_places();
	reads(AUX_BENCH_READ, false);
	reads(AUX_BENCH_READ_DISABLED, true);
	shared();
	return 0;
}
