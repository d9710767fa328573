/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KERNEL_EVENTS_AUX_CONTEXTS_H
#define _KERNEL_EVENTS_AUX_CONTEXTS_H

#include "../internal.h"

/*
 * Call a function for each context whose events may be active on this CPU.
 *
 * Context: interrupts off.
 */
static inline void
aux_visit_contexts(void (*call)(struct perf_event_context *ctx,
				struct perf_buffer *rb),
		   struct perf_buffer *rb)
{
	struct perf_cpu_context *cpuctx = this_cpu_ptr(&perf_cpu_context);

	call(&cpuctx->ctx, rb);
	if (cpuctx->task_ctx)
		call(cpuctx->task_ctx, rb);
}

#endif /* _KERNEL_EVENTS_AUX_CONTEXTS_H */
