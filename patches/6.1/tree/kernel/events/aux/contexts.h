/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KERNEL_EVENTS_AUX_CONTEXTS_H
#define _KERNEL_EVENTS_AUX_CONTEXTS_H

#include "../internal.h"

/*
 * Call a function for each context whose events may be active on this CPU. An AUX
 * event that was grouped with events of another PMU is in a context of that PMU,
 * so those of perf_event::pmu are not enough.
 *
 * Context: interrupts off, as for changes of the list.
 */
static inline void
aux_visit_contexts(void (*call)(struct perf_event_context *ctx,
				struct perf_buffer *rb),
		   struct perf_buffer *rb)
{
	struct perf_event_context *ctx;

	list_for_each_entry(ctx, this_cpu_ptr(&active_ctx_list), active_ctx_list)
		call(ctx, rb);
}

#endif /* _KERNEL_EVENTS_AUX_CONTEXTS_H */
