// SPDX-License-Identifier: GPL-2.0-only
/*
 * What Processor Trace and Branch Trace Store cost in accesses to their registers, and
 * in interrupts: the kernel's trace counts the accesses, for perf would not count those
 * that it makes itself. Runs in a guest with one CPU; prints lines of a name and a
 * number.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aux_util.h"
#include "partner.h"

#define KiB		1024UL
#define MiB		(1024 * KiB)
#define ROUNDS		1000
#define TIMES		200
#define DATA_PAGES	64
#define TRACE_BYTES	(8 * MiB)
/* IA32_RTIT_OUTPUT_BASE to IA32_RTIT_ADDR3_B */
#define RTIT_MSRS	"msr >= 0x560 && msr <= 0x587"
#define DEBUGCTL	"msr == 0x1d9"

#define TRACING		"/sys/kernel/tracing/instances"

/* Accesses to registers; each kind has a trace buffer, which counts them. */
enum { WRITES, READS, KINDS };
static const char *const KIND[KINDS] = { "write", "read" };

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		err(1, "%s", path);
}

static void make_trace(const char *kind)
{
	char path[128];

	snprintf(path, sizeof(path), TRACING "/%s", kind);
	if (mkdir(path, 0700))
		err(1, "%s", path);
}

static void trace_kind(const char *kind, const char *registers)
{
	char path[128];

	snprintf(path, sizeof(path), TRACING "/%s/events/msr/%s_msr/filter", kind, kind);
	put(path, registers);
	snprintf(path, sizeof(path), TRACING "/%s/events/msr/%s_msr/enable", kind, kind);
	put(path, "1");
}

/* What is measured from now on: a PMU, its registers, and what its figures are called. */
static const char *prefix;

static void measure(const char *pmu, const char *registers, const char *names)
{
	aux_use(pmu);
	prefix = names;
	for (int kind = 0; kind < KINDS; kind++)
		trace_kind(KIND[kind], registers);
}

static __u64 accesses(int kind)
{
	__u64 count = 0, part;
	char path[128], line[128];
	FILE *file;

	snprintf(path, sizeof(path), TRACING "/%s/per_cpu/cpu0/stats", KIND[kind]);
	file = fopen(path, "r");
	if (!file)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "entries: %llu", &part) == 1 ||
		    sscanf(line, "overrun: %llu", &part) == 1)
			count += part;
	fclose(file);
	return count;
}

/* What one of so many times took, since the counts that were taken before. */
static void print_accesses(const char *name, const __u64 *before, unsigned int times)
{
	int kind;

	for (kind = 0; kind < KINDS; kind++)
		printf("%s%s-%ss %.3f\n", prefix, name, KIND[kind],
		       (double)(accesses(kind) - before[kind]) / times);
}

static void count(__u64 *before)
{
	int kind;

	for (kind = 0; kind < KINDS; kind++)
		before[kind] = accesses(kind);
}

static void begin(struct aux_event *event, pid_t pid, size_t area, int prot)
{
	int ret = aux_open_mapped(event, NULL, pid, -1, DATA_PAGES) ?:
		  aux_map_area(event, area, prot);

	if (ret)
		errx(1, "%s, area of %zu bytes: %s", aux_pmu_name(), area, strerror(-ret));
}

static void ping_pong(struct partner *partner)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++)
		partner_call(partner);
}

/* A round is one switch out of this task and one back into it; both may be traced. */
static void rounds(const char *name, struct aux_event *own, struct aux_event *partners)
{
	struct partner partner;
	__u64 before[KINDS];

	partner_start(&partner);
	if (partners)
		begin(partners, partner.pid, MiB, PROT_READ | PROT_WRITE);
	aux_enable(own);
	if (partners)
		aux_enable(partners);
	ping_pong(&partner);
	count(before);
	ping_pong(&partner);
	print_accesses(name, before, ROUNDS);
	/* Of an event that is never stopped nothing may have been told yet. */
	if (aux_disable(own) || !aux_head(own))
		errx(1, "%s: nothing was traced", name);
	partner_end(&partner);
}

static void switches(void)
{
	struct aux_event own, partners;

	begin(&own, 0, MiB, PROT_READ | PROT_WRITE);
	rounds("switch", &own, NULL);
	aux_close(&own);
	begin(&own, 0, MiB, PROT_READ | PROT_WRITE);
	rounds("both", &own, &partners);
	aux_close(&partners);
	aux_close(&own);
}

/* A running event gets another filter. */
static void filter_changes(void)
{
	static const char *const FILTERS[] = {
		"filter 0xffffffff81000000/0x1000", "filter 0xffffffff81002000/0x1000",
	};
	struct aux_event event;
	__u64 before[KINDS];
	unsigned int i;

	begin(&event, 0, MiB, PROT_READ | PROT_WRITE);
	aux_enable(&event);
	count(before);
	for (i = 0; i < TIMES; i++)
		if (ioctl(event.fd, PERF_EVENT_IOC_SET_FILTER, FILTERS[i % 2]))
			err(1, "filter '%s'", FILTERS[i % 2]);
	print_accesses("filter", before, TIMES);
	aux_close(&event);
}

/*
 * Page faults that do something to a trace: take a sample of it, pause it, resume it. -1
 * before Linux 6.13, which cannot pause.
 */
static int faulting(struct aux_event *trace, __u32 aux_bytes, __u32 action)
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
	fd = aux_open_in_group(&attr, 0, -1, trace->fd);
	if (fd < 0 && action && errno == EINVAL)
		return -1;
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, trace->fd))
		err(1, "page faults");
	return fd;
}

/* What a fault takes of which the trace is told. */
static void faults(const char *name, struct aux_event *trace, char *page)
{
	__u64 before[KINDS];
	unsigned int i;

	aux_enable(trace);
	count(before);
	for (i = 0; i < TIMES; i++) {
		trace->page->data_tail = trace->page->data_head;
		if (madvise(page, aux_page_size(), MADV_DONTNEED))
			err(1, "madvise");
		*page = 1;
	}
	print_accesses(name, before, TIMES);
}

static void samples(char *page)
{
	struct aux_event trace;
	int sampler;

	begin(&trace, 0, MiB, PROT_READ);
	sampler = faulting(&trace, 4096, 0);
	faults("sample", &trace, page);
	close(sampler);
	aux_close(&trace);
}

/* Each fault pauses the trace, and then resumes it. */
static void pauses(char *page)
{
	struct aux_event trace;
	int pause, resume;

	begin(&trace, 0, MiB, PROT_READ | PROT_WRITE);
	pause = faulting(&trace, 0, AUX_PAUSE);
	resume = faulting(&trace, 0, AUX_RESUME);
	/* What cannot be done has no figures. */
	if (pause >= 0)
		faults("pause", &trace, page);
	close(pause);
	close(resume);
	aux_close(&trace);
}

/* The kernel does not count those of BTS as PMI, but as NMI; the guest has no others. */
static __u64 interrupts(void)
{
	char line[256];
	__u64 nmis = 0;
	FILE *file = fopen("/proc/interrupts", "r");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, " NMI: %llu", &nmis) == 1)
			break;
	if (file)
		fclose(file);
	return nmis;
}

/* A reader that takes all there is at once, as perf record does. */
static void pmis(const char *name, size_t area)
{
	struct aux_event event;
	__u64 before[KINDS], begun, count_nmis;

	begin(&event, 0, area, PROT_READ | PROT_WRITE);
	aux_enable(&event);
	begun = interrupts();
	count(before);
	while (aux_head(&event) < TRACE_BYTES) {
		aux_work(20);
		aux_set_tail(&event, aux_head(&event));
		event.page->data_tail = event.page->data_head;
		aux_enable(&event);
	}
	count_nmis = interrupts() - begun;
	printf("%s%s %.3f\n", prefix, name, (double)count_nmis * MiB / aux_head(&event));
	if (count_nmis)
		print_accesses(name, before, count_nmis);
	aux_close(&event);
}

int main(void)
{
	char *page = mmap(NULL, aux_page_size(), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int kind;

	if (page == MAP_FAILED)
		err(1, "mmap");
	setlinebuf(stdout);
	for (kind = 0; kind < KINDS; kind++)
		make_trace(KIND[kind]);

	measure("intel_pt", RTIT_MSRS, "");
	switches();
	samples(page);
	pauses(page);
	filter_changes();
	pmis("pmi-64K", 64 * KiB);
	pmis("pmi-1M", MiB);

	measure("intel_bts", DEBUGCTL, "bts-");
	switches();
	pmis("pmi-64K", 64 * KiB);
	pmis("pmi-1M", MiB);
	return 0;
}
