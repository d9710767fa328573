/* SPDX-License-Identifier: GPL-2.0-only */
/* An event that counts as one with an AUX area, for tests that need no such hardware */
#ifndef __PERF_TESTS_AUX_EVENT_H
#define __PERF_TESTS_AUX_EVENT_H

#include "evsel.h"
#include "pmu.h"

/*
 * Whether an event has an AUX area is asked of the PMU of its type. So have one that each kernel
 * has, and no other event of the tests.
 */
static inline bool evsel__make_aux_event(struct evsel *evsel)
{
	struct perf_pmu *pmu = perf_pmu__find("breakpoint");

	if (!pmu)
		return false;
	pmu->auxtrace = true;
	evsel->core.attr.type = pmu->type;
	return true;
}

#endif /* __PERF_TESTS_AUX_EVENT_H */
