/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __PERF_AUX_ACTION_H
#define __PERF_AUX_ACTION_H

#include <stdbool.h>
#include <stddef.h>

struct evlist;
struct evsel;
struct parse_events_error;
struct parse_events_term;
struct perf_event_attr;

/* What the config term aux-action asks of an event */
enum aux_action {
	AUX_ACTION_NONE,
	/* of an AUX area event: its trace is paused until an event resumes it */
	AUX_ACTION_START_PAUSED,
	/* of an event in a group that an AUX area event leads: what its overflow does */
	AUX_ACTION_PAUSE,
	AUX_ACTION_RESUME,
};

#ifdef HAVE_AUXTRACE_SUPPORT

/* while events are parsed */
enum aux_action aux_action__from_str(const char *str);
int aux_action__check_term(struct parse_events_term *term, struct parse_events_error *err);

/* before events are opened */
bool evsel__needs_aux_leader(struct evsel *evsel);
int evlist__check_aux_actions(struct evlist *evlist);
void aux_action__set_attr(struct perf_event_attr *attr, enum aux_action action);

/* after an event could not be opened */
int evsel__aux_action_strerror(struct evsel *evsel, int err, char *msg, size_t size);

#else /* HAVE_AUXTRACE_SUPPORT */

#include <linux/compiler.h>
#include <linux/string.h>
#include "parse-events.h"

static inline enum aux_action aux_action__from_str(const char *str __maybe_unused)
{
	return AUX_ACTION_NONE;
}

static inline int aux_action__check_term(struct parse_events_term *term,
					 struct parse_events_error *err)
{
	parse_events_error__handle(err, term->err_term,
				   strdup("AUX area tracing is not supported by this perf"), NULL);
	return -1;
}

static inline void aux_action__set_attr(struct perf_event_attr *attr __maybe_unused,
					enum aux_action action __maybe_unused)
{
}

static inline int evsel__aux_action_strerror(struct evsel *evsel __maybe_unused,
					     int err __maybe_unused, char *msg __maybe_unused,
					     size_t size __maybe_unused)
{
	return 0;
}

#endif /* HAVE_AUXTRACE_SUPPORT */

#endif /* __PERF_AUX_ACTION_H */
