// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events whose overflow pauses or resumes the AUX event that leads their group.
 *
 *              attr.aux_start_paused
 *                        |
 *                        v   overflow of an aux_resume event
 *   RUNNING           PAUSED ------------------------------> RUNNING
 *      |                 ^
 *      +-----------------+
 *        overflow of an aux_pause event
 *
 * The state is hw_perf_event::aux_paused. perf_aux::pause_wanted is the state
 * that the last overflow asked for. An NMI may overflow while another overflow
 * is changing the state. The NMI then only sets pause_wanted, and the
 * interrupted change repeats until both agree. The last overflow thus wins.
 *
 * The change itself may let events overflow: a tracepoint of wrmsrl(), say. If such
 * an event undoes each change, both never agree. So the number of changes is
 * limited; beyond it, overflows during a change are ignored.
 */
#include <linux/perf_event.h>
#include <linux/rcupdate.h>

#include "../internal.h"

static void aux_set_paused(struct perf_event *event, bool paused)
{
	if (event->hw.aux_paused == paused)
		return;

	event->hw.aux_paused = paused;
	if (paused)
		event->pmu->stop(event, PERF_EF_PAUSE);
	else
		event->pmu->start(event, PERF_EF_RESUME);
}

/* More than NMIs need */
#define AUX_PAUSE_CHANGES_MAX	16

static void aux_pause_until_wanted(struct perf_aux *aux, struct perf_event *event)
{
	unsigned int changes = 0;
	bool wanted;

	do {
		WRITE_ONCE(aux->in_pause, true);
		/* An NMI after this sees in_pause and leaves the change to us. */
		barrier();
		wanted = READ_ONCE(aux->pause_wanted);
		aux_set_paused(event, wanted);
		barrier();
		WRITE_ONCE(aux->in_pause, false);
		/* An NMI before this saw in_pause: read what it asked for. */
		barrier();
	} while (READ_ONCE(aux->pause_wanted) != wanted &&
		 ++changes < AUX_PAUSE_CHANGES_MAX);
}

/**
 * perf_aux_pause - pause or resume a trace
 * @trace: the AUX event, or NULL
 * @pause: true to pause, false to resume
 *
 * Does nothing without a buffer. In an NMI that interrupted another call, only
 * sets pause_wanted; the interrupted call does the rest.
 *
 * Context: on the CPU of the event, possibly in NMI.
 */
void perf_aux_pause(struct perf_event *trace, bool pause)
{
	unsigned long irq_flags;
	struct perf_buffer *rb;

	if (!trace)
		return;

	/* RCU keeps the buffer. The last reference must not be dropped in NMI. */
	local_irq_save(irq_flags);
	rcu_read_lock();
	rb = READ_ONCE((trace->parent ?: trace)->rb);
	if (rb) {
		WRITE_ONCE(rb->aux.pause_wanted, pause);
		if (!READ_ONCE(rb->aux.in_pause))
			aux_pause_until_wanted(&rb->aux, trace);
	}
	rcu_read_unlock();
	local_irq_restore(irq_flags);
}
