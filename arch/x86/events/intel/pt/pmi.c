// SPDX-License-Identifier: GPL-2.0-only
/*
 * The performance monitoring interrupt (PMI) of Processor Trace: a region whose
 * ToPA entry has the INT bit is full, or nearly full.
 *
 * The hardware goes on while the PMI is pending. So another one may follow
 * before the first is handled, one may arrive when all data have been read, and
 * one may arrive after tracing was switched off.
 */
#include <linux/perf_event.h>

#include "../../perf_event.h"
#include "pt.h"

/**
 * intel_pt_interrupt - handle a PMI of Processor Trace
 *
 * Context: NMI.
 */
void intel_pt_interrupt(void)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);
	struct pt_buffer *buf;

	if (READ_ONCE(pt->state) == PT_BUSY) {
		/* pt_leave_busy() of the interrupted code handles it. */
		WRITE_ONCE(pt->pmi_pending, true);
		return;
	}

	buf = perf_get_aux(&pt->handle);
	/* In overwrite mode, the hardware wraps without help. */
	if (!buf || buf->overwrite)
		return;
	if (pt_enter_busy(pt) && pt_restart(pt))
		pt_leave_busy(pt);
}
