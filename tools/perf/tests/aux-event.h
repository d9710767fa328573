/* SPDX-License-Identifier: GPL-2.0-only */
/* An event that counts as one with an AUX area, for tests that need no such hardware */
#ifndef __PERF_TESTS_AUX_EVENT_H
#define __PERF_TESTS_AUX_EVENT_H

#include "evsel.h"

static inline bool evsel__make_aux_event(struct evsel *evsel)
{
	evsel->needs_auxtrace_mmap = true;
	return true;
}

#endif /* __PERF_TESTS_AUX_EVENT_H */
