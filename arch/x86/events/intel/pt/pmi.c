// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interrupt of Processor Trace, a PMI: a region with INT is full, or nearly.
 *
 * Hardware goes on meanwhile, so a second one may arrive before the first has
 * been handled, or when all has been read already; and one may be on its way
 * when tracing is switched off.
 */
#include <linux/perf_event.h>

#include "../../perf_event.h"
#include "pt.h"

/**
 * enum pt_pmi - what a PMI is about
 * @PT_PMI_STALE: nothing that is traced now
 * @PT_PMI_LATER: it comes in the middle of a change, after which it is handled
 * @PT_PMI_FULL: there is data, or no space any more
 */
enum pt_pmi {
	PT_PMI_STALE,
	PT_PMI_LATER,
	PT_PMI_FULL,
};

static enum pt_pmi pt_classify(struct pt *pt)
{
	struct pt_buffer *buf;

	switch (READ_ONCE(pt->state)) {
	case PT_IDLE:
		return PT_PMI_STALE;
	case PT_BUSY:
		return PT_PMI_LATER;
	default:
		buf = perf_get_aux(&pt->handle);
		/* Where newest data win, hardware goes round by itself. */
		return buf && !buf->overwrite ? PT_PMI_FULL : PT_PMI_STALE;
	}
}

/**
 * intel_pt_interrupt - handle a PMI of Processor Trace
 *
 * Context: NMI.
 */
void intel_pt_interrupt(void)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);

	switch (pt_classify(pt)) {
	case PT_PMI_STALE:
		break;
	case PT_PMI_LATER:
		WRITE_ONCE(pt->missed, true);
		break;
	case PT_PMI_FULL:
		if (pt_take(pt) && pt_turn(pt))
			pt_settle(pt);
		break;
	}
}
