// SPDX-License-Identifier: GPL-2.0-only
/*
 * The config term aux-action: values, grouping, attr. No PMU with an AUX area is needed: an event
 * named "trace" is made to count as one that has it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <perf/evlist.h>

#include "aux-action.h"
#include "aux-event.h"
#include "auxtrace.h"
#include "debug.h"
#include "evlist.h"
#include "evsel.h"
#include "evsel_config.h"
#include "evsel_fprintf.h"
#include "parse-events.h"
#include "record.h"
#include "session.h"
#include "tests.h"

#define TRACE		"dummy/name=trace/"
#define TRACE_PAUSED	"dummy/name=trace,aux-action=start-paused/"

/* Events as parsed; NULL if they are refused. */
static struct evlist *parse(const char *str)
{
	struct evlist *evlist = evlist__new();
	struct parse_events_error err;
	struct evsel *evsel;
	int ret;

	if (!evlist)
		return NULL;

	parse_events_error__init(&err);
#ifdef HAVE_LIBTRACEEVENT
	/* Tracepoints need not be readable here. */
	ret = __parse_events(evlist, str, /*pmu_filter=*/NULL, &err, /*fake_pmu=*/false,
			     /*warn_if_reordered=*/true, /*fake_tp=*/true);
#else
	ret = parse_events(evlist, str, &err);
#endif
	parse_events_error__exit(&err);
	if (ret) {
		evlist__delete(evlist);
		return NULL;
	}

	evlist__for_each_entry(evlist, evsel) {
		if (!strcmp(evsel__name(evsel), "trace") && !evsel__make_aux_event(evsel)) {
			evlist__delete(evlist);
			return NULL;
		}
	}
	return evlist;
}

/* As perf record does. A kernel without attr.aux_action is no fault of the events. */
static int group_and_check(struct evlist *evlist)
{
	int err;

	auxtrace_regroup_aux_output(evlist);
	err = evlist__check_aux_actions(evlist);
	return err == -EOPNOTSUPP ? 0 : err;
}

static struct evsel *nth(struct evlist *evlist, int idx)
{
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (evsel->core.idx == idx)
			return evsel;
	}
	return NULL;
}

static const char * const events[] = {
	"cycles", "L1-dcache-loads", "r1234", "1:1", "task-clock", "mem:0x1000:x", "mem:0x1000/8:w",
#ifdef HAVE_LIBTRACEEVENT
	"sched:sched_switch",
#endif
};

static bool parses(const char *event, const char *term)
{
	struct evlist *evlist;
	char str[128];

	scnprintf(str, sizeof(str), "%s/%s/", event, term);
	evlist = parse(str);
	pr_debug("%s: %s\n", str, evlist ? "parsed" : "refused");
	evlist__delete(evlist);
	return evlist;
}

/* Breakpoints of older versions of perf have no terms at all. */
static bool has_terms(const char *event)
{
	return !strstr(event, "mem:") || parses("mem:0x1000:x", "name=x");
}

static int test__aux_action_values(struct test_suite *test __maybe_unused,
				   int subtest __maybe_unused)
{
	static const char * const bad[] = {
		"aux-action", "aux-action=1", "aux-action=0", "aux-action=stop", "aux-action=Pause",
		"aux-action=paused", "aux-action=start", "aux-action=name",
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (!has_terms(events[i]))
			continue;
		TEST_ASSERT_VAL("pause", parses(events[i], "aux-action=pause"));
		TEST_ASSERT_VAL("resume", parses(events[i], "aux-action=resume"));
		TEST_ASSERT_VAL("start-paused", parses(events[i], "aux-action=start-paused"));
		for (j = 0; j < ARRAY_SIZE(bad); j++)
			TEST_ASSERT_VAL("bad value", !parses(events[i], bad[j]));
	}

	return TEST_OK;
}

/* For each event, the index of its leader after grouping; and what the check says. */
struct grouping {
	const char *events;
	int leaders[6];
	int err;
};

static const struct grouping groupings[] = {
	{ TRACE_PAUSED ",cs/aux-action=resume/,faults/aux-action=pause/", { 0, 0, 0 }, 0 },
	{ "{" TRACE_PAUSED ",cs/aux-action=resume/,faults/aux-action=pause/}", { 0, 0, 0 }, 0 },
	{ TRACE ",cs/aux-action=pause/", { 0, 0 }, 0 },
	{ TRACE_PAUSED ",cs", { 0, 1 }, 0 },
	/* what is between comes with it, what is before or behind stays */
	{ "cs," TRACE ",faults,cs/aux-action=pause/,faults", { 0, 1, 1, 1, 4 }, 0 },
	/* a group is extended */
	{ "{" TRACE ",cs/aux-action=pause/},faults/aux-action=resume/", { 0, 0, 0 }, 0 },
	/* the AUX area event before it, of several */
	{ TRACE ",cs/aux-action=pause/," TRACE ",cs/aux-action=resume/", { 0, 0, 2, 2 }, 0 },
	{ TRACE ",cs/aux-output/", { 0, 0 }, 0 },
	{ TRACE ",cs/aux-output=0,aux-action=pause/", { 0, 0 }, 0 },
	/* the last one of a term counts, as of any other */
	{ TRACE ",cs/aux-action=start-paused,aux-action=pause/", { 0, 0 }, 0 },
#ifdef HAVE_LIBTRACEEVENT
	{ TRACE_PAUSED ",sched:sched_switch/aux-action=resume/", { 0, 0 }, 0 },
#endif
	{ TRACE_PAUSED ",mem:0x1000:x/aux-action=resume/", { 0, 0 }, 0 },

	{ "cs/aux-action=pause/", { 0 }, -EINVAL },
	{ "cs/aux-action=pause/," TRACE, { 0, 1 }, -EINVAL },
	{ "cs/aux-output/", { 0 }, -EINVAL },
	/* not to be taken out of their group */
	{ TRACE ",{faults,cs/aux-action=pause/}", { 0, 1, 1 }, -EINVAL },
	{ "{faults," TRACE "},cs/aux-action=pause/", { 0, 0, 2 }, -EINVAL },
	{ TRACE ",cs/aux-action=start-paused/", { 0, 1 }, -EINVAL },
	{ TRACE ",dummy/name=trace,aux-action=pause/", { 0, 1 }, -EINVAL },
	{ TRACE ",cs/aux-output,aux-action=resume/", { 0, 0 }, -EINVAL },
	{ "dummy/name=trace,aux-output,aux-action=start-paused/", { 0 }, -EINVAL },
};

static int check_grouping(const struct grouping *want, struct evlist *evlist)
{
	struct evsel *evsel;
	int err = group_and_check(evlist);

	pr_debug("%s: %d\n", want->events, err);
	TEST_ASSERT_EQUAL(want->events, err, want->err);
	evlist__for_each_entry(evlist, evsel) {
		pr_debug("leader of %d: %d\n", evsel->core.idx, evsel__leader(evsel)->core.idx);
		TEST_ASSERT_EQUAL(want->events, evsel__leader(evsel)->core.idx,
				  want->leaders[evsel->core.idx]);
	}

	return TEST_OK;
}

static int test__aux_action_groups(struct test_suite *test __maybe_unused,
				   int subtest __maybe_unused)
{
	struct evlist *evlist;
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(groupings); i++) {
		if (!has_terms(groupings[i].events))
			continue;
		evlist = parse(groupings[i].events);
		TEST_ASSERT_VAL(groupings[i].events, evlist);
		ret = check_grouping(&groupings[i], evlist);
		evlist__delete(evlist);
		if (ret != TEST_OK)
			return ret;
	}

	return TEST_OK;
}

static int print_field(FILE *out, const char *name, const char *val, void *priv __maybe_unused)
{
	return strncmp(name, "aux_", 4) ? 0 : fprintf(out, "%s=%s ", name, val);
}

/* What 'perf evlist -v' has about an event, of the fields that begin with aux_. */
static bool shows(struct evsel *evsel, const char *want)
{
	char *text = NULL;
	bool equal;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return false;

	perf_event_attr__fprintf(out, &evsel->core.attr, print_field, NULL);
	fclose(out);
	equal = !strcmp(text, want);
	pr_debug("%s: %s\n", evsel__name(evsel), text);
	free(text);
	return equal;
}

static int check_attrs(struct evlist *evlist)
{
	struct record_opts opts = { .mmap_pages = UINT_MAX, .freq = 1 };

	TEST_ASSERT_EQUAL("check", group_and_check(evlist), 0);
	evlist__config(evlist, &opts, NULL);
	TEST_ASSERT_EQUAL("start-paused", nth(evlist, 0)->core.attr.aux_action, 1);
	TEST_ASSERT_EQUAL("resume", nth(evlist, 1)->core.attr.aux_action, 4);
	TEST_ASSERT_EQUAL("pause", nth(evlist, 2)->core.attr.aux_action, 2);
	TEST_ASSERT_EQUAL("none", nth(evlist, 3)->core.attr.aux_action, 0);
	TEST_ASSERT_VAL("start-paused is shown", shows(nth(evlist, 0), "aux_start_paused=1 "));
	TEST_ASSERT_VAL("resume is shown", shows(nth(evlist, 1), "aux_resume=1 "));
	TEST_ASSERT_VAL("pause is shown", shows(nth(evlist, 2), "aux_pause=1 "));
	TEST_ASSERT_VAL("none is shown", shows(nth(evlist, 3), ""));

	return TEST_OK;
}

static int test__aux_action_attr(struct test_suite *test __maybe_unused,
				 int subtest __maybe_unused)
{
	/* of the two terms of an event the last one must be set alone */
	static const char str[] =
		TRACE_PAUSED ",cs/aux-action=pause,aux-action=resume/,faults/aux-action=pause/,cs";
	struct evlist *evlist = parse(str);
	int ret;

	TEST_ASSERT_VAL("parsed", evlist);
	ret = check_attrs(evlist);
	evlist__delete(evlist);
	return ret;
}

/*
 * The first flag of four bytes is bit 7 of the first byte where bytes are in the other order, and
 * bit 0 where they are in this one, or the other way round.
 */
static int test__aux_action_swap(struct test_suite *test __maybe_unused,
				 int subtest __maybe_unused)
{
	static const u8 other_order[] = { 0x80, 0x40, 0x20 }, this_order[] = { 0x01, 0x02, 0x04 };
	bool little = __BYTE_ORDER == __LITTLE_ENDIAN;
	struct perf_event_attr attr, none = { .size = 0 };
	u8 *bytes = (u8 *)&attr.aux_action;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(this_order); i++) {
		attr = none;
		attr.size = __builtin_bswap32(sizeof(attr));
		bytes[0] = little ? other_order[i] : this_order[i];
		perf_event__attr_swap(&attr);
		TEST_ASSERT_EQUAL("size", (int)attr.size, (int)sizeof(attr));
		TEST_ASSERT_EQUAL("flags", attr.aux_start_paused + 2 * attr.aux_pause +
				  4 * attr.aux_resume, 1 << i);
	}

	/* an attr that ends before it is left alone */
	attr = none;
	attr.size = __builtin_bswap32(PERF_ATTR_SIZE_VER5);
	bytes[0] = 0x80;
	perf_event__attr_swap(&attr);
	TEST_ASSERT_EQUAL("not its own", bytes[0], 0x80);

	return TEST_OK;
}

static struct test_case tests__aux_action[] = {
	TEST_CASE("AUX actions: values of the term", aux_action_values),
	TEST_CASE("AUX actions: groups, and events that are refused", aux_action_groups),
	TEST_CASE("AUX actions: attr, and how it is shown", aux_action_attr),
	TEST_CASE("AUX actions: attr of the other byte order", aux_action_swap),
	{	.name = NULL, }
};

struct test_suite suite__aux_action = {
	.desc = "AUX actions",
	.test_cases = tests__aux_action,
};
