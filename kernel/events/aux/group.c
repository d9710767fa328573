// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links between events and the AUX event that leads their group. Such an event
 * puts its own data into the trace (aux_output), carries a part of the trace in
 * its samples (aux_sample_size), or pauses and resumes the trace (aux_action).
 *
 * The leader is scheduled in first, so these events start only while it runs. It
 * is scheduled out first, too: they may overflow after it has stopped. The link is
 * perf_event::aux_event, which holds a reference on the leader. It is made
 * when the event is created, and removed when the event or its leader leaves the
 * group. An event whose creation failed before it joined the group keeps the
 * reference until it is freed.
 *
 * Derived from core.c:
 *  Copyright (C) 2008-2011 Red Hat, Inc., Peter Zijlstra
 */
#include <linux/perf_event.h>

#include "../internal.h"

static bool aux_link_allowed(struct perf_event *event, struct perf_event *leader)
{
	struct perf_event_attr *attr = &event->attr;
	struct pmu *pmu = event->pmu, *aux_pmu = leader->pmu;

	if (attr->aux_output &&
	    (attr->aux_sample_size || !has_aux(leader) ||
	     !pmu->aux_output_match || !pmu->aux_output_match(leader)))
		return false;
	if ((attr->aux_pause || attr->aux_resume) &&
	    !(aux_pmu->capabilities & PERF_PMU_CAP_AUX_PAUSE))
		return false;
	return !attr->aux_sample_size || aux_pmu->snapshot_aux;
}

/**
 * perf_aux_link - link an event to the AUX event that it refers to
 * @event: the event that is being created
 * @leader: the leader of its group, or NULL
 *
 * Context: process. The caller holds the perf_event_context::mutex of the
 * leader, which is in its context, or the leader belongs to a child task that
 * is being created. The link goes when the leader leaves its context.
 *
 * Return: false if the leader does not support what the event asks for
 */
bool perf_aux_link(struct perf_event *event, struct perf_event *leader)
{
	if (!leader || !aux_link_allowed(event, leader))
		return false;
	if (!atomic_long_inc_not_zero(&leader->refcount))
		return false;

	event->aux_event = leader;
	return true;
}

/**
 * perf_aux_unlink - remove the links of an event that leaves its group
 * @event: the event
 *
 * If @event is the AUX event, the events that refer to it are put into the ERROR
 * state, because they cannot work without the trace.
 *
 * Context: perf_event_context::lock of the event is held.
 */
void perf_aux_unlink(struct perf_event *event)
{
	struct perf_event *aux_event = event->aux_event;
	struct perf_event *sibling;

	if (aux_event) {
		event->aux_event = NULL;
		put_event(aux_event);
		return;
	}

	for_each_sibling_event(sibling, event) {
		if (sibling->aux_event == event) {
			sibling->aux_event = NULL;
			put_event(event);
			__event_disable(sibling, event->ctx,
					PERF_EVENT_STATE_ERROR);
		}
	}
}

/**
 * perf_aux_free_link - drop the link of an event that never joined its group
 * @event: the event, which is being freed
 *
 * Context: process, may sleep.
 */
void perf_aux_free_link(struct perf_event *event)
{
	if (event->aux_event)
		put_event(event->aux_event);
	event->aux_event = NULL;
}
