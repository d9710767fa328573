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
 * The state is hw_perf_event::aux_paused; perf_aux::pause_wanted is what the
 * newest overflow asked for. An overflow may interrupt, as NMI, the change that
 * another one began: then it only says what it wants, and the interrupted change
 * goes on until the state is that. So the last overflow always wins.
 */
#include <linux/perf_event.h>

#include "../internal.h"
#include "pause.h"

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

static void aux_pause_until_wanted(struct perf_aux *aux, struct perf_event *event)
{
	bool wanted;

	do {
		WRITE_ONCE(aux->in_pause, true);
		/* An NMI from here on leaves the change to us. */
		barrier();
		wanted = READ_ONCE(aux->pause_wanted);
		aux_set_paused(event, wanted);
		barrier();
		WRITE_ONCE(aux->in_pause, false);
		/* One that came before this saw in_pause, and we see its wish. */
		barrier();
	} while (READ_ONCE(aux->pause_wanted) != wanted);
}

/**
 * perf_aux_pause - pause or resume a trace
 * @trace: the AUX event
 * @pause: what the event that overflowed wants
 *
 * Context: on the CPU of the event, NMI possibly.
 */
void perf_aux_pause(struct perf_event *trace, bool pause)
{
	struct perf_buffer *rb = trace ? ring_buffer_get(trace) : NULL;
	unsigned long irq_flags;
	struct perf_aux *aux;

	if (!rb)
		return;

	aux = &rb->aux;
	local_irq_save(irq_flags);
	WRITE_ONCE(aux->pause_wanted, pause);
	if (!READ_ONCE(aux->in_pause))
		aux_pause_until_wanted(aux, trace);
	local_irq_restore(irq_flags);
	ring_buffer_put(rb);
}
