// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that refer to the AUX event that leads their group: they put their
 * own data into its trace (aux_output), carry parts of it in their samples
 * (aux_sample_size), or pause and resume it (aux_action).
 *
 * The leader is scheduled first, so it runs whenever they do. The link is
 * perf_event::aux_event, with a reference on the leader; it is made while the
 * event is created and cut when either leaves the group. An event that never
 * joined its group, because its CPU was not quite up or something else failed
 * while it was created, keeps the reference until it is freed.
 */
#include <linux/perf_event.h>

#include "../internal.h"
#include "group.h"

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
 * perf_aux_wants_link - whether an event has to be linked to its leader
 * @event: with the attributes that the user gave (include/uapi/linux/perf_event.h)
 *
 * Return: whether perf_aux_link() is to be called
 */
bool perf_aux_wants_link(struct perf_event *event)
{
	return has_aux_action(event) || event->attr.aux_output;
}

/**
 * perf_aux_link - link an event to the AUX event that it refers to
 * @event: that is being created
 * @leader: of its group, or NULL
 *
 * Context: process; perf_event_context::mutex of the leader is held, or the
 * leader is a child that is being made.
 *
 * Return: false if the leader cannot do what the event asks for, or has left
 * its group
 */
bool perf_aux_link(struct perf_event *event, struct perf_event *leader)
{
	if (!leader || !aux_link_allowed(event, leader))
		return false;
	/*
	 * A leader whose CPU was taken off has left its group, and would not
	 * cut the link again: the last reference must not go under a lock.
	 */
	if (!(leader->attach_state & PERF_ATTACH_GROUP) ||
	    !atomic_long_inc_not_zero(&leader->refcount))
		return false;

	event->aux_event = leader;
	return true;
}

/**
 * perf_aux_inherit_link - link a child's event as its parent's is linked
 * @event: of the child that is being made
 * @leader: the child's AUX event; NULL: its parent is being closed, and is not
 *	inherited any more
 *
 * Without a leader the event is in error, as its parent will be at once. That
 * somebody closes an event is no reason for fork() to fail.
 *
 * Return: false if the leader cannot be linked to
 */
bool perf_aux_inherit_link(struct perf_event *event, struct perf_event *leader)
{
	if (leader)
		return perf_aux_link(event, leader);

	perf_event_set_state(event, PERF_EVENT_STATE_ERROR);
	return true;
}

/**
 * perf_aux_unlink - cut the links from and to an event that leaves its group
 * @event: that leaves
 *
 * Events that referred to it go to the ERROR state: without the trace that they
 * refer to they have nothing to do.
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

	for_each_sibling_event(sibling, event->group_leader) {
		if (sibling->aux_event == event) {
			sibling->aux_event = NULL;
			put_event(event);
			__event_disable(sibling, event->ctx,
					PERF_EVENT_STATE_ERROR);
		}
	}
}

/**
 * perf_aux_free_link - give back the reference of an event that never joined
 * @event: that is being freed
 *
 * Context: process, may sleep.
 */
void perf_aux_free_link(struct perf_event *event)
{
	if (event->aux_event)
		put_event(event->aux_event);
	event->aux_event = NULL;
}
