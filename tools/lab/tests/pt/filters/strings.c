// SPDX-License-Identifier: GPL-2.0-only
/* Strings of filters: what the kernel says to them, and what registers hold then. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filters.h"

#define MOST_TEXT	4096

static const struct {
	const char *text;
	int cpus, tasks;
} errors[] = {
	{ "", 0, 0 },
	{ " ,\n", 0, 0 },
	{ "filter 0x1000/0x100", 0, 0 },
	{ "filter\n0x1000/0x100,stop 0/1", 0, 0 },
	{ "filter 0/0x1000", 0, 0 },
	{ "filter 0xffffffffffffffff/1", 0, 0 },
	{ "filter 0xffffffffffffff00/0xffffffffffffffff", 0, 0 },
	{ "filter 0x800000000000/0x1000", 0, 0 },
	{ "stop 0x7fffffffffff/0xffff000000000002", 0, 0 },
	/* A single address: the first is nothing at all, others hardware cannot do. */
	{ "filter 0x1000", -EINVAL, -EINVAL },
	{ "filter 0x1000/0", -EINVAL, -EINVAL },
	{ "stop 0x1000", -EOPNOTSUPP, -EOPNOTSUPP },
	{ "stop 0x1000/0", -EOPNOTSUPP, -EOPNOTSUPP },
	{ "start 0x1000", -EOPNOTSUPP, -EOPNOTSUPP },
	{ "start 0x1000/0x100", -EOPNOTSUPP, -EOPNOTSUPP },
	{ "filter 0x1000/1 start 0x1000/1", -EOPNOTSUPP, -EOPNOTSUPP },
	/* More than any hardware has */
	{ "filter 1/1 filter 2/1 filter 3/1 stop 4/1 stop 5/1", -EOPNOTSUPP, -EOPNOTSUPP },
	{ "filter", -EINVAL, -EINVAL },
	{ "filter ,", -EINVAL, -EINVAL },
	{ "tracestop 0x1000/1", -EINVAL, -EINVAL },
	{ "0x1000/1", -EINVAL, -EINVAL },
	{ "filter filter 0x1000/1", -EINVAL, -EINVAL },
	{ "filter 0x1000/1 0x1000/1", -EINVAL, -EINVAL },
	{ "filter -1/1", -EINVAL, -EINVAL },
	{ "filter 08/1", -EINVAL, -EINVAL },
	{ "filter 0x/1", -EINVAL, -EINVAL },
	{ "filter 1/1@", -EINVAL, -EINVAL },
	{ "filter 1/1/1", -EINVAL, -EINVAL },
	{ "filter 0x10000000000000000/1", -ERANGE, -ERANGE },
	{ "filter 1/99999999999999999999", -ERANGE, -ERANGE },
	/* A file is where a task has mapped it. */
	{ "filter 1/1@/no/such/file", -EOPNOTSUPP, -ENOENT },
	{ "filter 1/1@/dev/null", -EOPNOTSUPP, -EINVAL },
	{ "filter 1/1@/dev", -EOPNOTSUPP, -EINVAL },
	{ "filter 1/1@/dev/null/x", -EOPNOTSUPP, -ENOTDIR },
	{ "filter 1@/etc/passwd", -EINVAL, -EINVAL },
	{ "stop 1@/etc/passwd", -EOPNOTSUPP, -EOPNOTSUPP },
};

/* One string; whether all is as it should be. @now: what is in force. */
static bool try(struct aux_event *event, const char *text, int want, struct wish *now,
		const struct wish *next, const struct object *object)
{
	int got = set_filter(event, "%s", text);
	struct regs have, wanted;

	if (got != want) {
		diag("'%s': %s, not %s", text, strerror(-got), strerror(-want));
		return false;
	}
	if (!got)
		*now = *next;
	read_regs(0, &have);
	expect_regs(now, object, &wanted);
	if (same_regs(&have, &wanted))
		return true;
	diag("... after '%s': %s", text, strerror(-got));
	return false;
}

static void try_errors(struct aux_event *event, bool per_task)
{
	struct wish now = { }, next;
	unsigned int bad = 0, nr = sizeof(errors) / sizeof(*errors);
	char text[MOST_TEXT + 1];

	for (unsigned int i = 0; i < nr; i++) {
		int want = per_task ? errors[i].tasks : errors[i].cpus;

		/* The model, too, is tested. */
		if (parse(errors[i].text, per_task, nr_ranges(), &next) != want) {
			diag("the test takes '%s' for something else", errors[i].text);
			bad++;
		}
		bad += !try(event, errors[i].text, want, &now, &next, NULL);
	}
	memset(text, ' ', sizeof(text));
	text[MOST_TEXT] = 0;
	bad += !try(event, text, -EINVAL, &now, &next, NULL);
	bad += ioctl(event->fd, PERF_EVENT_IOC_SET_FILTER, NULL) != -1 || errno != EFAULT;
	point(!bad, "%s: %u strings, the errno of each, and what they leave in force",
	      per_task ? "a task's trace" : "a CPU's trace", nr + 2);
}

void test_errors(void)
{
	struct aux_event event = start_trace(-1, 0);

	try_errors(&event, false);
	aux_close(&event);
	event = start_trace(0, -1);
	try_errors(&event, true);
	aux_close(&event);
}

static __u64 state;

static unsigned int below(unsigned int limit)
{
	/* Knuth's MMIX */
	state = state * 6364136223846793005 + 1442695040888963407;
	return (state >> 33) % limit;
}

static __u64 some_address(void)
{
	static const __u64 special[] = {
		0, 1, 0xfff, 0x1000, LOW_END - 1, LOW_END, LOW_END + 1, HIGH_BEGIN - 1, HIGH_BEGIN,
		HIGH_BEGIN + 1, -4096UL, -2UL, -1UL, 1UL << 62,
	};

	if (below(3))
		return special[below(sizeof(special) / sizeof(*special))];
	return ((__u64)below(1U << 31) << 33 | below(1U << 31)) >> below(64);
}

/* Near the ends of pages */
static __u64 some_offset(void)
{
	return below(OBJECT_PAGES + 2) * aux_page_size() + below(3) * below(2048);
}

static int add_number(char *text, __u64 value)
{
	static const char * const formats[] = { "%llu", "%#llx", "0x%llX", "%#llo" };

	if (!below(60))
		return sprintf(text, "%llu0", value | 1UL << 63);
	return sprintf(text, formats[below(4)], value);
}

static int add_filter(char *text, const struct object *objects)
{
	static const char * const actions[] = { "start", "tracestop", "FILTER", "" };
	static const char * const blanks[] = { " ", ",", "\n", " , " };
	static const char * const files[] = {
		"/dev", "/no/such/file", "/dev/null", "/dev/null/x", "", "/etc/passwd",
	};
	bool file = objects && below(2);
	int len;

	len = sprintf(text, "%s%s", below(20) ? below(4) ? "filter" : "stop" : actions[below(4)],
		      blanks[below(4)]);
	len += add_number(text + len, file ? some_offset() : some_address());
	if (below(25)) {
		len += sprintf(text + len, "/");
		len += add_number(text + len, file ? some_offset() : some_address());
	}
	if (file || !below(25))
		len += sprintf(text + len, "@%s",
			       objects && below(20) ? objects[below(2)].path : files[below(6)]);
	return len + sprintf(text + len, "%s", below(25) ? blanks[below(4)] : "");
}

static void make_text(char *text, const struct object *objects)
{
	unsigned int nr = below(10) ? below(MOST_RANGES + 1) : below(40);
	int len = 0;

	*text = 0;
	while (nr--)
		len += add_filter(text + len, objects);
	/* One byte is wrong. */
	if (len && !below(8))
		text[below(len)] = 1 + below(255);
}

static void try_random(struct aux_event *event, const struct object *objects,
		       unsigned int strings, const char *what)
{
	unsigned int accepted = 0, bad = 0, kinds[ERANGE + EOPNOTSUPP] = { }, errors = 0;
	struct wish now = { }, next;
	char text[MOST_TEXT];

	state = 1;
	for (unsigned int i = 0; i < strings && bad < 5; i++) {
		int want;

		make_text(text, objects);
		want = parse(text, objects, nr_ranges(), &next);
		bad += !try(event, text, want, &now, &next, objects);
		accepted += !want;
		errors += want && !kinds[-want]++;
	}
	point(!bad && accepted > strings / 4 && errors >= 3,
	      "%s: %u random strings, %u of them in force for a while, %u kinds of errno", what,
	      strings, accepted, errors);
}

void test_random(unsigned int strings)
{
	struct object objects[2] = { make_object("/dev/shm/mapped"), make_object("/dev/shm/not") };
	struct aux_event event = start_trace(-1, 0);

	try_random(&event, NULL, strings, "a CPU's trace");
	aux_close(&event);

	map_object(&objects[0], 1, 3, PROT_READ | PROT_EXEC);
	event = start_trace(0, -1);
	try_random(&event, objects, strings, "a task's trace");
	aux_close(&event);
	unmap_object(&objects[0]);
}
