// SPDX-License-Identifier: GPL-2.0-only
/*
 * The config term aux-action: events that pause and resume the trace of an AUX area event.
 *
 *   intel_pt/aux-action=start-paused/    attr.aux_start_paused of the AUX area event
 *   EVENT/aux-action=resume/             attr.aux_resume \ of events in the group that
 *   EVENT/aux-action=pause/              attr.aux_pause  / the AUX area event leads
 *
 * The parser refuses values that it does not know, see aux_action__check_term().
 * perf record brings events into the group of the AUX area event before them, see
 * auxtrace_regroup_aux_output(), and then has evlist__check_aux_actions() look whether the kernel
 * can take them so. What perf cannot know before it opens an event, such as whether a PMU
 * can be paused, evsel__aux_action_strerror() explains afterwards.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <perf/evlist.h>

#include "aux-action.h"
#include "debug.h"
#include "evlist.h"
#include "evsel.h"
#include "evsel_config.h"
#include "parse-events.h"
#include "perf-sys.h"

static const char * const words[] = {
	[AUX_ACTION_START_PAUSED]	= "start-paused",
	[AUX_ACTION_PAUSE]		= "pause",
	[AUX_ACTION_RESUME]		= "resume",
};

/* What may be wrong with an event, and what to do about it; text that follows its name */
enum fault {
	FAULT_NONE,
	FAULT_BOTH,
	FAULT_NOT_AUX,
	FAULT_AUX,
	FAULT_NO_LEADER,
};

static const char * const fault_texts[] = {
	[FAULT_BOTH] =
		"has both aux-output and aux-action: use only one of them",
	[FAULT_NOT_AUX] =
		"is no AUX area event, so it cannot start paused: use pause or resume",
	[FAULT_AUX] =
		"is an AUX area event, which can only start paused: have other events act on it",
	[FAULT_NO_LEADER] =
		"is in no group that an AUX area event leads: put one before it, for example intel_pt//, or first in its braces",
};

/* AUX_ACTION_NONE if the word is not one of them. */
enum aux_action aux_action__from_str(const char *str)
{
	size_t i;

	for (i = AUX_ACTION_START_PAUSED; i < ARRAY_SIZE(words); i++) {
		if (!strcmp(str, words[i]))
			return i;
	}

	return AUX_ACTION_NONE;
}

int aux_action__check_term(struct parse_events_term *term, struct parse_events_error *err)
{
	static const char expected[] = "expected start-paused, pause or resume";

	if (term->type_val == PARSE_EVENTS__TERM_TYPE_STR &&
	    aux_action__from_str(term->val.str) != AUX_ACTION_NONE)
		return 0;

	/* The parser tries the name of a PMU in several ways; once is enough. */
	if (err && !parse_events_error__contains(err, expected))
		parse_events_error__handle(err, term->err_val ?: term->err_term,
					   strdup(expected), NULL);
	return -EINVAL;
}

static enum aux_action evsel__aux_action(struct evsel *evsel)
{
	struct evsel_config_term *term = evsel__get_config_term(evsel, AUX_ACTION);

	return term ? term->val.aux_action : AUX_ACTION_NONE;
}

static bool evsel__has_aux_output(struct evsel *evsel)
{
	struct evsel_config_term *term = evsel__get_config_term(evsel, AUX_OUTPUT);

	return term && term->val.aux_output;
}

static bool evsel__acts_on_leader(struct evsel *evsel)
{
	enum aux_action action = evsel__aux_action(evsel);

	return action == AUX_ACTION_PAUSE || action == AUX_ACTION_RESUME;
}

/* Whether an event makes sense only in a group that an AUX area event leads. */
bool evsel__needs_aux_leader(struct evsel *evsel)
{
	return evsel__has_aux_output(evsel) || evsel__acts_on_leader(evsel);
}

static enum fault evsel__aux_action_fault(struct evsel *evsel)
{
	enum aux_action action = evsel__aux_action(evsel);

	if (action != AUX_ACTION_NONE && evsel__has_aux_output(evsel))
		return FAULT_BOTH;

	if (action == AUX_ACTION_START_PAUSED)
		return evsel__is_aux_event(evsel) ? FAULT_NONE : FAULT_NOT_AUX;

	if (!evsel__needs_aux_leader(evsel))
		return FAULT_NONE;

	if (evsel__is_aux_event(evsel))
		return FAULT_AUX;

	return evsel__is_aux_event(evsel__leader(evsel)) ? FAULT_NONE : FAULT_NO_LEADER;
}

/*
 * Whether the kernel has attr.aux_action. One that does says EOPNOTSUPP to an event that starts
 * paused and has no AUX area. Others find a bit set that must not be (EINVAL), or an attr
 * that is larger than theirs (E2BIG). Nothing else that could be wrong with this event has those
 * errors; any other one, such as EACCES, says nothing about it.
 */
static bool kernel_has_aux_action(void)
{
	struct perf_event_attr attr = {
		.type			= PERF_TYPE_SOFTWARE,
		.config			= PERF_COUNT_SW_DUMMY,
		.size			= sizeof(attr),
		.disabled		= 1,
		.exclude_kernel		= 1,
		.aux_start_paused	= 1,
	};
	int fd = sys_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno != EINVAL && errno != E2BIG;

	close(fd);
	return true;
}

static const char kernel_lacks_it[] =
	"The kernel does not support the term aux-action (attr.aux_action): use a newer kernel.";

/* After events were grouped: an error, with a line that says why, if they will not do. */
int evlist__check_aux_actions(struct evlist *evlist)
{
	struct evsel *evsel;
	enum fault fault;
	bool acts = false;

	evlist__for_each_entry(evlist, evsel) {
		fault = evsel__aux_action_fault(evsel);
		if (fault != FAULT_NONE) {
			pr_err("Event '%s' %s.\n", evsel__name(evsel), fault_texts[fault]);
			return -EINVAL;
		}
		acts |= evsel__aux_action(evsel) != AUX_ACTION_NONE;
	}

	if (acts && !kernel_has_aux_action()) {
		pr_err("%s\n", kernel_lacks_it);
		return -EOPNOTSUPP;
	}

	return 0;
}

void aux_action__set_attr(struct perf_event_attr *attr, enum aux_action action)
{
	attr->aux_start_paused	= action == AUX_ACTION_START_PAUSED;
	attr->aux_pause		= action == AUX_ACTION_PAUSE;
	attr->aux_resume	= action == AUX_ACTION_RESUME;
}

/*
 * Whether the kernel says that the PMU of an AUX area event cannot be paused. It says so of
 * this event; of one that pauses it, it says no more than EINVAL.
 */
static bool evsel__cannot_be_paused(struct evsel *evsel)
{
	struct perf_event_attr attr = evsel->core.attr;
	int fd;

	attr.disabled = 1;
	attr.aux_start_paused = 1;
	fd = sys_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno == EOPNOTSUPP;

	close(fd);
	return false;
}

/* Why an event could not be opened, if that is for its aux-action; the length of the message. */
int evsel__aux_action_strerror(struct evsel *evsel, int err, char *msg, size_t size)
{
	struct perf_event_attr *attr = &evsel->core.attr;
	struct evsel *leader = evsel__leader(evsel);
	enum fault fault;

	if (!attr->aux_action || (err != EINVAL && err != E2BIG && err != EOPNOTSUPP))
		return 0;

	fault = evsel__aux_action_fault(evsel);
	if (fault != FAULT_NONE)
		return scnprintf(msg, size, "Event '%s' %s.", evsel__name(evsel),
				 fault_texts[fault]);

	if (!kernel_has_aux_action())
		return scnprintf(msg, size, "%s", kernel_lacks_it);

	if (evsel__cannot_be_paused(leader))
		return scnprintf(msg, size,
				 "The trace of '%s' cannot be paused: use another AUX area event, or no aux-action.",
				 evsel__name(leader));

	return 0;
}
