// SPDX-License-Identifier: GPL-2.0-only
/*
 * Forced overflows that begin elsewhere than at a branch (SDM 33.3.8): in
 * PSB+, out of context, and where PTW, PIP, CFE or the packets of a C-state
 * would have been.
 */
#include "overflow.h"

snippet_fn snip_bulk, far_int_loop, power_hlt, timing_outside, overflow_ptwrite, overflow_cr3;
extern const u8 far_iret[], power_irq_handler[];

#define INT_VECTOR	0x70
#define TIMER_VECTOR	0x73
#define TIMER_TICKS	200000
/* So many that some of them meet an overflow that is due */
#define SLEEPS		64
/* Long enough for some ticks of a host with other work; TSC ticks */
#define OUTSIDE_TSC	200000000
/* and rare enough MTCs for one buffer */
#define OUTSIDE_MTCFREQ	6

/* PSBs that an OVF follows and no PSBEND. */
static u32 cut_psbs(void)
{
	bool open = false;
	u32 n = 0;

	for (u32 i = 0; i < trace.n; i++) {
		if (trace.pkt[i].type == P_PSB)
			open = true;
		else if (trace.pkt[i].type == P_PSBEND)
			open = false;
		else if (trace.pkt[i].type == P_OVF && open)
			n++;
	}
	return n;
}

static void check_psb(void)
{
	snip_arg[0] = 6 * OVERFLOW_ROUNDS;
	ok(snippet_run(snip_bulk, CTL_TRACE_OS), "overflow: PSB+: the trace parses");
	ok(cut_psbs() > 0, "overflow: PSB+: one ends with OVF in place of PSBEND (%u of %u)",
	   cut_psbs(), trace_count(P_PSB));
}

/* @type is lost at times, not always. */
static void check_lost(snippet_fn *fn, u64 ctl, int type, u32 made, const char *name)
{
	snip_arg[0] = OVERFLOW_ROUNDS;
	ok(snippet_run(fn, ctl), "overflow: %s: the trace parses", name);
	ok(trace_count(type) > 0 && trace_count(type) < made && trace_count(P_OVF),
	   "overflow: %s: %u of %u %s are left, %u OVF", name, trace_count(type), made,
	   pkt_name(type), trace_count(P_OVF));
}

static void check_sleep(void)
{
	u64 time = CTL_TSCEN | (has(CAP_MTC) ? CTL_MTCEN : 0);
	u32 without = 0, disagree = 0, back = 0;

	gate_set(TIMER_VECTOR, power_irq_handler, 0);
	for (u32 i = 0; i < SLEEPS; i++) {
		pt_output_setup();
		lapic_timer(TIMER_VECTOR, TIMER_TICKS);
		/* Not always as many bytes, or the overflow would always come elsewhere. */
		snippet_run_prepared(power_hlt, CTL_TRACE_OS | CTL_PWREVTEN | (i & 1 ? time : 0));
		for (u32 n = 1; trace_find(P_TSC, n); n++)
			back += trace_find(P_TSC, n)->val < trace_find(P_TSC, n - 1)->val;
		without += trace_count(P_OVF) && !trace_count(P_PWRE);
		disagree += trace_count(P_PWRE) != trace_count(P_PWRX) ||
			    trace_count(P_PWRE) != trace_count(P_EXSTOP);
	}
	lapic_timer(0, 0);
	gate_default(TIMER_VECTOR);
	ok(without > 0, "overflow: a C-state is lost (%u of %u)", without, SLEEPS);
	is(disagree, 0, "overflow: PWRE, EXSTOP and PWRX are lost together");
	is(back, 0, "overflow: time does not run back when a lost C-state ends");
}

static void check_outside(void)
{
	if (!(caps.mtc_periods & BIT(OUTSIDE_MTCFREQ)))
		return;
	snip_arg[0] = OUTSIDE_TSC;
	snippet_run(timing_outside, CTL_TRACE_USER | CTL_TSCEN | CTL_MTCEN |
		    FIELD_PREP(CTL_MTCFREQ, OUTSIDE_MTCFREQ));
	ok(trace_count(P_OVF) > 0, "overflow: out of context (%u of %u packets)",
	   trace_count(P_OVF), trace.n);
	is(trace_count(P_PGE) + trace_count(P_PGD) + trace_count(P_TIP), 0,
	   "overflow: out of context: no control flow");
}

void check_overflow_kinds(void)
{
	check_psb();
	if (has(CAP_PTWRITE)) {
		check_lost(overflow_ptwrite, CTL_TRACE_OS | CTL_PTWEN, P_PTW, OVERFLOW_ROUNDS,
			   "PTWRITE");
		check_lost(overflow_ptwrite, CTL_TRACEEN | CTL_OS | CTL_PTWEN, P_PTW,
			   OVERFLOW_ROUNDS, "PTWRITE with BranchEn = 0");
	}
	check_lost(overflow_cr3, CTL_TRACE_OS, P_PIP, OVERFLOW_ROUNDS, "MOV CR3");
	if (has(CAP_EVENT)) {
		gate_set(INT_VECTOR, far_iret, 0);
		check_lost(far_int_loop, CTL_TRACE_OS | CTL_EVENTEN, P_CFE, 2 * OVERFLOW_ROUNDS,
			   "event trace");
		gate_default(INT_VECTOR);
	}
	if (has(CAP_POWEREV))
		check_sleep();
	if (has(CAP_MTC))
		check_outside();
}
