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
 * The state is hw_perf_event::aux_paused. hw_perf_event::aux_pause_wanted is the
 * state that the last overflow asked for. An event may overflow in an NMI while
 * another overflow is changing the state. It then only sets aux_pause_wanted, and
 * the interrupted change repeats until both agree. The last overflow thus wins.
 *
 * The change itself may let events overflow: a tracepoint of wrmsrq(), say. If such
 * an event undoes each change, both never agree. So the number of changes is
 * limited. Beyond it, overflows during a change are ignored; a driver with such a
 * limit of its own may set aux_paused back.
 */
#include <linux/perf_event.h>

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

/*
 * An event in the group may reverse each change: a tracepoint that the change itself
 * triggers, for example. Give up after this many. NMIs cause one or two.
 */
#define AUX_PAUSE_CHANGES_MAX	16

static void aux_pause_until_wanted(struct perf_event *event)
{
	struct hw_perf_event *hw = &event->hw;
	unsigned int changes = 0;
	bool wanted;

	do {
		WRITE_ONCE(hw->aux_in_pause, true);
		/* An NMI after this leaves the change to this function. */
		barrier();
		wanted = READ_ONCE(hw->aux_pause_wanted);
		aux_set_paused(event, wanted);
		barrier();
		WRITE_ONCE(hw->aux_in_pause, false);
		/* An NMI before this left the change: read what it asked for. */
		barrier();
	} while (READ_ONCE(hw->aux_pause_wanted) != wanted &&
		 ++changes < AUX_PAUSE_CHANGES_MAX);
}

/**
 * perf_aux_pause - pause or resume a trace
 * @trace: the AUX event, or NULL
 * @pause: true to pause, false to resume
 *
 * Does nothing without a buffer. In an NMI that interrupted a call for the same
 * event, only sets aux_pause_wanted; the interrupted call does the rest.
 *
 * Context: on the CPU of the event, possibly in NMI.
 */
void perf_aux_pause(struct perf_event *trace, bool pause)
{
	unsigned long irq_flags;

	if (!trace || !READ_ONCE((trace->parent ?: trace)->rb))
		return;

	local_irq_save(irq_flags);
	WRITE_ONCE(trace->hw.aux_pause_wanted, pause);
	if (!READ_ONCE(trace->hw.aux_in_pause))
		aux_pause_until_wanted(trace);
	local_irq_restore(irq_flags);
}
EXPORT_SYMBOL_IF_KUNIT(perf_aux_pause);
