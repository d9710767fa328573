// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of a trace, taken by NMIs that come everywhere in the kernel, while the
 * traced task sleeps and wakes all the time: at each place of a switch in and out.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "company.h"
#include "partner.h"

#define PERIOD		1009
#define SAMPLE_SIZE	512
#define DATA_PAGES	64
#define ENOUGH		1000
#define PATIENCE	20.0
#define IDS_SIZE	(2 * sizeof(__u32))
#define RTIT_STATUS	0x571
#define STATUS_STOPPED	0x20

struct seen {
	unsigned int samples, with_data, wrong;
};

/* A branch that a filter stops at. */
static void __attribute__((noinline)) landmark(unsigned int *counter)
{
	if (++*counter % 3)
		*(volatile unsigned int *)counter;
}

static int open_group(struct aux_event *trace, struct aux_event *sampler, unsigned int pages)
{
	struct perf_event_attr attr;
	int ret = aux_open_mapped(trace, NULL, 0, -1, 1) ?:
		  aux_map_area(trace, pages * aux_page_size(), PROT_READ);

	if (ret)
		return ret;
	sampler_attr(&attr, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERIOD);
	attr.sample_type |= PERF_SAMPLE_AUX;
	attr.aux_sample_size = SAMPLE_SIZE;
	sampler->fd = aux_open_in_group(&attr, 0, -1, trace->fd);
	return sampler->fd < 0 ? -errno : aux_map_data(sampler, DATA_PAGES);
}

/* The code of landmark(), as the offset in this program that it is at. */
static int set_stop_filter(struct aux_event *trace)
{
	extern const char __executable_start;
	char self[128] = "", text[256];

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return -errno;
	snprintf(text, sizeof(text), "stop %#lx/16@%s",
		 (unsigned long)((const char *)landmark - &__executable_start), self);
	return ioctl(trace->fd, PERF_EVENT_IOC_SET_FILTER, text) ? -errno : 0;
}

static void look(struct aux_event *sampler, struct seen *seen)
{
	static struct aux_record record;
	__u64 size;

	while (aux_next(sampler, &record)) {
		if (record.header.type != PERF_RECORD_SAMPLE)
			continue;
		memcpy(&size, record.bytes + IDS_SIZE, sizeof(size));
		seen->samples++;
		seen->with_data += !!size;
		seen->wrong += size > SAMPLE_SIZE || record.header.size !=
			       sizeof(record.header) + IDS_SIZE + sizeof(size) + size;
	}
}

/* Whether the trace has come to the filter, and is stopped. */
static bool is_stopped(void)
{
	int fd = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	__u64 status;

	if (fd < 0 || pread(fd, &status, sizeof(status), RTIT_STATUS) != sizeof(status))
		err(1, "/dev/cpu/0/msr");
	close(fd);
	return status & STATUS_STOPPED;
}

static void test_area(const char *name, unsigned int pages, bool stops,
		      struct partner *partner)
{
	struct aux_event trace = { .fd = -1 }, sampler = { .fd = -1 };
	double begin = aux_seconds();
	struct seen seen = { };
	unsigned int counter = 0, stopped = 0;
	int ret = open_group(&trace, &sampler, pages);

	if (!ret && stops)
		ret = set_stop_filter(&trace);
	ret = ret ?: aux_enable(&trace);
	while (!ret && seen.samples < ENOUGH && aux_seconds() - begin < PATIENCE) {
		for (unsigned int i = 0; i < 20; i++) {
			partner_call(partner);
			landmark(&counter);
		}
		stopped += is_stopped();
		look(&sampler, &seen);
	}
	if (ret)
		diag("%s", strerror(-ret));
	diag("%u samples, %u with data, %u wrong, stopped %u times", seen.samples, seen.with_data,
	     seen.wrong, stopped);
	point(seen.samples >= ENOUGH && seen.with_data > ENOUGH / 2 && !seen.wrong &&
	      stops == !!stopped,
	      "samples of %s, of a task that sleeps and wakes", name);
	aux_close(&sampler);
	aux_close(&trace);
}

void test_samples(void)
{
	struct partner partner;

	/* Both on one CPU. */
	aux_pin(0, 0);
	partner_start(&partner);
	test_area("an area of many pages", 16, false, &partner);
	test_area("a page", 1, false, &partner);
	test_area("an area of many pages, stopped at a filter", 16, true, &partner);
	test_area("a page, stopped at a filter", 1, true, &partner);
	partner_end(&partner);
}
