// SPDX-License-Identifier: GPL-2.0-only
/* group.c: which event may refer to which, and what becomes of the links. */
#include "check.h"

static bool matches;

static void *setup(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	return NULL;
}

static long snapshot(struct perf_event *event, struct perf_output_handle *record,
		     unsigned long size)
{
	return 0;
}

static int match(struct perf_event *event)
{
	return matches;
}

static struct pmu aux_pmu, pmu;
static struct perf_event leader, event, other;

static void begin(void)
{
	world_begin();
	aux_pmu = (struct pmu){ .setup_aux = setup, .snapshot_aux = snapshot,
				.capabilities = PERF_PMU_CAP_AUX_PAUSE };
	pmu = (struct pmu){ .aux_output_match = match };
	matches = true;
	event_begin(&leader, &aux_pmu);
	event_begin(&event, &pmu);
	event_begin(&other, &pmu);
}

static bool links(struct perf_event *to)
{
	return perf_aux_link(&event, to) && event.aux_event == to && to->refcount.counter == 2;
}

static bool refuses(struct perf_event *to)
{
	long references = leader.refcount.counter;

	return !perf_aux_link(&event, to) && !event.aux_event &&
	       leader.refcount.counter == references;
}

static void test_rules(void)
{
	begin();
	point(refuses(NULL), "link: no leader");
	point(links(&leader), "link: nothing asked for");

	begin();
	event.attr.aux_output = true;
	point(links(&leader), "link: aux_output");
	begin();
	event.attr.aux_output = true;
	event.attr.aux_sample_size = 8;
	point(refuses(&leader), "link: aux_output and a sample");
	begin();
	event.attr.aux_output = true;
	aux_pmu.setup_aux = NULL;
	point(refuses(&leader), "link: aux_output to a PMU without an area");
	begin();
	event.attr.aux_output = true;
	pmu.aux_output_match = NULL;
	point(refuses(&leader), "link: aux_output of a PMU that has none");
	begin();
	event.attr.aux_output = true;
	matches = false;
	point(refuses(&leader), "link: aux_output that does not match");

	for (int i = 0; i < 2; i++) {
		begin();
		event.attr.aux_pause = i;
		event.attr.aux_resume = !i;
		point(links(&leader), "link: %s", i ? "pause" : "resume");
		begin();
		event.attr.aux_pause = i;
		event.attr.aux_resume = !i;
		aux_pmu.capabilities = 0;
		point(refuses(&leader), "link: %s, which the PMU does not know",
		      i ? "pause" : "resume");
	}
	begin();
	event.attr.aux_sample_size = 8;
	point(links(&leader), "link: a sample");
	begin();
	event.attr.aux_sample_size = 8;
	aux_pmu.snapshot_aux = NULL;
	point(refuses(&leader), "link: a sample, which the PMU does not know");
	begin();
	leader.refcount.counter = 0;
	point(refuses(&leader), "link: a leader that is being freed");
}

static void test_links(void)
{
	begin();
	leader.refcount.counter = 1;
	perf_aux_link(&event, &leader);
	perf_aux_unlink(&event);
	point(!event.aux_event && leader.refcount.counter == 1 &&
	      event.state == PERF_EVENT_STATE_ACTIVE, "link: an event leaves");

	begin();
	event.group_leader = &leader;
	other.group_leader = &leader;
	list_add(&event.sibling_list, &leader.sibling_list);
	list_add(&other.sibling_list, &leader.sibling_list);
	perf_aux_link(&event, &leader);
	perf_aux_unlink(&leader);
	point(!event.aux_event && leader.refcount.counter == 1 &&
	      event.state == PERF_EVENT_STATE_ERROR && other.state == PERF_EVENT_STATE_ACTIVE,
	      "link: the leader leaves, and those that referred to it stop");

	begin();
	perf_aux_link(&event, &leader);
	perf_aux_free_link(&event);
	perf_aux_free_link(&event);
	point(!event.aux_event && leader.refcount.counter == 1,
	      "link: an event that never joined is freed");

}

void test_group(unsigned long steps)
{
	test_rules();
	test_links();
}
