// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address filters of Intel PT (PERF_EVENT_IOC_SET_FILTER): what is executed in a file is traced
 * wherever the file is mapped, before or after the filter was set, by the task, by its child, and
 * after an exec; what is executed elsewhere is not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aux_harness.h"
#include "aux_util_puppet.h"

#define DATA_PAGES	16
#define AREA		(1024UL * 1024)
#define ROUNDS		2000
#define MOST_FILTERS	64
#define NR_FILTERS	"/sys/bus/event_source/devices/intel_pt/nr_addr_filters"

/* File descriptors of two files with the same code; the filter is of the first */
#define FILTERED	100
#define OTHER		101
/* The address at which the puppet maps either */
#define PLACE		0x30000000UL

/* What the puppet can be told: to map one of the files, and to execute what is mapped */
#define MAP_FILTERED	'm'
#define MAP_OTHER	'o'
#define RUN		'r'
/* ... or to execute the same code where it is in this program */
#define RUN_HERE	'h'

/* Branches; it runs wherever it is copied to. */
static unsigned int filtered(unsigned int rounds)
{
	unsigned int x = rounds;

	while (rounds--)
		x = x * 5 + rounds;
	return x;
}

/* The function is in this page of the program; it may end in the next one. */
static const char *code(void)
{
	return (const char *)((uintptr_t)filtered / aux_page_size() * aux_page_size());
}

void aux_puppet_act(char what)
{
	unsigned int (*mapped)(unsigned int rounds);
	void *map;

	mapped = (void *)(PLACE + ((const char *)filtered - code()));
	if (what == RUN) {
		mapped(ROUNDS);
	} else if (what == RUN_HERE) {
		/* As if somebody used it, or nothing would be called. */
		asm volatile("" : : "r" (filtered(ROUNDS)));
	} else {
		map = mmap((void *)PLACE, 2 * aux_page_size(), PROT_READ | PROT_EXEC,
			   MAP_PRIVATE | MAP_FIXED, what == MAP_OTHER ? OTHER : FILTERED, 0);
		if (map != (void *)PLACE)
			_exit(5);
	}
}

FIXTURE(aux_filter)
{
	struct aux_puppet puppet;
	struct aux_event event;
	/* What filters FILTERED, or OTHER */
	char filter[64], other[64];
};

static const char *missing(void)
{
	aux_use("intel_pt");
	if (!aux_missing() && !aux_read_number(NR_FILTERS))
		return "the processor has no address filters";
	return aux_missing();
}

/* A file with the code, that the puppet can map by this number. */
static bool make_file(int number)
{
	int fd = memfd_create("aux_filter", 0);

	/* The next page may not be there. */
	return fd >= 0 && write(fd, code(), 2 * aux_page_size()) > 0 &&
	       dup2(fd, number) == number && !close(fd);
}

FIXTURE_SETUP(aux_filter)
{
	self->event.fd = -1;
	if (missing())
		SKIP(return, "%s", missing());
	ASSERT_TRUE(make_file(FILTERED));
	ASSERT_TRUE(make_file(OTHER));
	snprintf(self->filter, sizeof(self->filter), "filter 0/8192@/proc/%d/fd/%d", getpid(),
		 FILTERED);
	snprintf(self->other, sizeof(self->other), "filter 0/8192@/proc/%d/fd/%d", getpid(), OTHER);
	ASSERT_TRUE(aux_puppet_start(&self->puppet));
	if (!aux_puppet_do(&self->puppet, MAP_OTHER))
		SKIP(return, "memory files may not be executed");
}

FIXTURE_TEARDOWN(aux_filter)
{
	aux_puppet_end(&self->puppet);
	aux_close(&self->event);
}

/* Bound to a CPU if it is inherited; with records of mappings, as perf asks for them, or not */
static void open_trace(struct __test_metadata *_metadata, FIXTURE_DATA(aux_filter) *self,
		       bool inherit, bool records)
{
	int cpu = inherit ? aux_cpu(0) : -1;
	struct perf_event_attr attr;

	ASSERT_EQ(inherit && aux_pin(self->puppet.pid, cpu), 0);
	aux_attr(&attr);
	attr.inherit = inherit;
	attr.mmap = records;
	ASSERT_EQ(aux_open_mapped(&self->event, &attr, self->puppet.pid, cpu, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&self->event, AREA, PROT_READ | PROT_WRITE), 0);
	ASSERT_EQ(aux_enable(&self->event), 0);
}

static int set_filter(struct aux_event *event, const char *filter)
{
	return ioctl(event->fd, PERF_EVENT_IOC_SET_FILTER, filter) ? -errno : 0;
}

/*
 * Whether the packets of a trace are more than those that come without branches, too: padding,
 * PSB to PSBEND, and CBR, the frequency of the processor.
 */
static bool has_branches(const unsigned char *at, const unsigned char *end)
{
	static const unsigned char psb[2] = { 0x02, 0x82 }, psbend[2] = { 0x02, 0x23 };
	static const unsigned char cbr[2] = { 0x02, 0x03 };

	while (at < end) {
		if (!*at) {
			at++;
		} else if (end - at >= 4 && !memcmp(at, cbr, 2)) {
			at += 4;
		} else if (end - at >= 2 && !memcmp(at, psb, 2)) {
			at = memmem(at, end - at, psbend, 2);
			if (!at)
				return false;
			at += 2;
		} else {
			return true;
		}
	}
	return false;
}

/* Tell the puppet to do something, of which there is a trace, or none. */
static void expect_branches(struct __test_metadata *_metadata, FIXTURE_DATA(aux_filter) *self,
			    char what, bool traced)
{
	__u64 begin, end;

	aux_disable(&self->event);
	begin = aux_head(&self->event);
	ASSERT_EQ(aux_enable(&self->event), 0);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, what));
	aux_disable(&self->event);
	end = aux_head(&self->event);
	ASSERT_LT(end, AREA);
	EXPECT_EQ(has_branches(self->event.area + begin, self->event.area + end), traced)
		TH_LOG("'%c': %llu bytes from %llu on", what, end - begin, begin);
	aux_enable(&self->event);
}

TEST_F(aux_filter, file_that_is_mapped)
{
	ASSERT_TRUE(aux_puppet_do(&self->puppet, MAP_FILTERED));
	open_trace(_metadata, self, false, true);
	expect_branches(_metadata, self, RUN_HERE, true);
	ASSERT_EQ(set_filter(&self->event, self->filter), 0);
	expect_branches(_metadata, self, RUN, true);
	expect_branches(_metadata, self, RUN_HERE, false);
	/* An empty one takes all away. */
	ASSERT_EQ(set_filter(&self->event, ""), 0);
	expect_branches(_metadata, self, RUN_HERE, true);
}

/* A filter follows the file whether anybody asks for records of mappings or not. */
TEST_F(aux_filter, file_that_is_mapped_later)
{
	open_trace(_metadata, self, false, false);
	ASSERT_EQ(set_filter(&self->event, self->filter), 0);
	expect_branches(_metadata, self, RUN, false);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, MAP_FILTERED));
	expect_branches(_metadata, self, RUN, true);
	expect_branches(_metadata, self, RUN_HERE, false);
}

/* Where the file was before is no longer traced, until it is mapped again. */
TEST_F(aux_filter, file_that_is_mapped_after_exec)
{
	ASSERT_TRUE(aux_puppet_do(&self->puppet, MAP_FILTERED));
	open_trace(_metadata, self, false, true);
	ASSERT_EQ(set_filter(&self->event, self->filter), 0);
	expect_branches(_metadata, self, RUN, true);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, PUPPET_EXEC));
	ASSERT_TRUE(aux_puppet_do(&self->puppet, MAP_OTHER));
	expect_branches(_metadata, self, RUN, false);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, MAP_FILTERED));
	expect_branches(_metadata, self, RUN, true);
}

/* A child has the filters of its parent, also those that come or go while it lives. */
TEST_F(aux_filter, file_of_a_child)
{
	ASSERT_TRUE(aux_puppet_do(&self->puppet, MAP_FILTERED));
	open_trace(_metadata, self, true, true);
	ASSERT_EQ(set_filter(&self->event, self->filter), 0);
	expect_branches(_metadata, self, RUN, true);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, PUPPET_FORK));
	expect_branches(_metadata, self, RUN, true);
	expect_branches(_metadata, self, RUN_HERE, false);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, PUPPET_END));
	expect_branches(_metadata, self, RUN, true);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, PUPPET_FORK));
	ASSERT_EQ(set_filter(&self->event, self->other), 0);
	expect_branches(_metadata, self, RUN, false);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, MAP_OTHER));
	expect_branches(_metadata, self, RUN, true);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, PUPPET_END));
	expect_branches(_metadata, self, RUN, false);
}

static const struct {
	const char *filter;
	int want;
} filters[] = {
	{ "filter 0/4096@/proc/self/exe", 0 },
	{ "stop 0/16@/proc/self/exe", 0 },
	{ " filter 0x10/0x20@/proc/self/exe,\n", 0 },
	/* Without a file, they are addresses. */
	{ "filter 4096/4096", 0 },
	/* Its size, its place, or both are missing, or are no numbers. */
	{ "filter 0/0@/proc/self/exe", -EINVAL },
	{ "filter 0@/proc/self/exe", -EINVAL },
	{ "filter", -EINVAL },
	{ "filter /proc/self/exe", -EINVAL },
	{ "0/4096@/proc/self/exe", -EINVAL },
	{ "filter filter 0/4096@/proc/self/exe", -EINVAL },
	{ "trace 0/4096@/proc/self/exe", -EINVAL },
	{ "filter 0/4096@/proc/self/exe stop", -EINVAL },
	/* Only files that are there have code. */
	{ "filter 0/4096@/proc/self", -EINVAL },
	{ "filter 0/4096@/proc/self/none", -ENOENT },
	/* The hardware can stop somewhere, but not start; and at a range, not at an address. */
	{ "start 0/16@/proc/self/exe", -EOPNOTSUPP },
	{ "stop 0@/proc/self/exe", -EOPNOTSUPP },
};

TEST_F(aux_filter, errno_of_each_is_right)
{
	open_trace(_metadata, self, false, true);
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		EXPECT_EQ(set_filter(&self->event, filters[i].filter), filters[i].want)
			TH_LOG("%s", filters[i].filter);
	}
	/* What is refused changes nothing. */
	ASSERT_EQ(set_filter(&self->event, self->filter), 0);
	ASSERT_EQ(set_filter(&self->event, "filter"), -EINVAL);
	expect_branches(_metadata, self, RUN, false);
}

/* sysfs says how many ranges there can be, and no more are taken. */
TEST_F(aux_filter, as_many_as_there_are)
{
	unsigned int nr = aux_read_number(NR_FILTERS);
	char all[MOST_FILTERS * sizeof(self->filter)] = "";

	ASSERT_LT(nr, MOST_FILTERS);
	open_trace(_metadata, self, false, true);
	for (unsigned int i = 0; i <= nr; i++) {
		strcat(all, self->filter);
		strcat(all, ",");
		EXPECT_EQ(set_filter(&self->event, all), i < nr ? 0 : -EOPNOTSUPP);
	}
}

/* The same file is at another address in each task. */
TEST_F(aux_filter, no_file_of_all_tasks)
{
	struct perf_event_attr attr;

	if (aux_missing_cpu())
		SKIP(return, "%s", aux_missing_cpu());
	aux_attr(&attr);
	self->event.fd = aux_open(&attr, -1, aux_cpu(0));
	ASSERT_GE(self->event.fd, 0);
	EXPECT_EQ(set_filter(&self->event, self->filter), -EOPNOTSUPP);
	EXPECT_EQ(set_filter(&self->event, "filter 4096/4096"), 0);
}

TEST_HARNESS_MAIN
