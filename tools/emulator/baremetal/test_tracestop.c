// SPDX-License-Identifier: GPL-2.0-only
/* TraceStop ranges: the STOP packet, STATUS.Stopped, nothing thereafter. */
#include "pt.h"

snippet_fn filter_direct, filter_indirect, filter_cond, filter_inside, filter_cr3, filter_fault;
extern const u8 far_skip2_handler[], far_skip2_end[], filter_fault_on[], filter_fault_insn[],
	filter_direct_in[], filter_direct_end[], filter_direct_on[],
	filter_indirect_in[], filter_indirect_end[], filter_indirect_on[],
	filter_cond_in[], filter_cond_end[], filter_cond_on[],
	filter_inside_in[], filter_inside_end[], filter_inside_on[],
	filter_cr3_on[], filter_cr3_hidden[], filter_cr3_off[];

static void run(snippet_fn *fn, const u8 *in, const u8 *end)
{
	pt_output_setup();
	snippet_run_prepared(fn, CTL_TRACE_OS | pt_range_set(0, in, end, ADDR_CFG_STOP));
}

static void stopped(const char *name)
{
	is(rdmsr(MSR_RTIT_STATUS) & (STATUS_STOPPED | STATUS_ERROR), STATUS_STOPPED,
	   "tracestop: %s: STATUS.Stopped", name);
}

static void test_entry(void)
{
	run(filter_direct, filter_direct_in, filter_direct_end);
	EXPECT_TRACE("tracestop: entered by a direct jump: TIP.PGD with its target, STOP",
		     E_PGE(filter_direct_on), E_TNT("T"), E_PGD(filter_direct_in), E_STOP);
	stopped("direct jump");

	run(filter_indirect, filter_indirect_in, filter_indirect_end);
	EXPECT_TRACE("tracestop: entered by an indirect jump: TIP.PGD with its target, STOP",
		     E_PGE(filter_indirect_on), E_PGD(filter_indirect_in), E_STOP);
	stopped("indirect jump");

	run(filter_cond, filter_cond_in, filter_cond_end);
	EXPECT_TRACE("tracestop: entered by a conditional jump: TIP.PGD without IP, STOP",
		     E_PGE(filter_cond_on), E_PGD_NOIP, E_STOP);
	stopped("conditional jump");

	gate_set(VECTOR_UD, far_skip2_handler, 0);
	run(filter_fault, far_skip2_handler, far_skip2_end);
	gate_default(VECTOR_UD);
	EXPECT_TRACE("tracestop: entered by a fault: FUP, TIP.PGD with the handler, STOP",
		     E_PGE(filter_fault_on), E_FUP(filter_fault_insn), E_PGD(far_skip2_handler),
		     E_STOP);
	stopped("fault");

	run(filter_inside, filter_inside_in, filter_inside_end);
	is(trace_count(P_STOP), 1, "tracestop: enabled inside: STOP");
	is(trace_count(P_TNT), 0, "tracestop: enabled inside: nothing is traced");
	stopped("enabled inside");
}

static void test_not_entered(void)
{
	run(filter_direct, filter_indirect_in, filter_indirect_end);
	is(trace_count(P_STOP), 0, "tracestop: a range that is not entered: no STOP");
	is(rdmsr(MSR_RTIT_STATUS) & STATUS_STOPPED, 0,
	   "tracestop: a range that is not entered: not stopped");

	/* Out of context (User only, at CPL 0) the range does not count. */
	pt_output_setup();
	snippet_run_prepared(filter_direct, CTL_TRACE_USER |
			     pt_range_set(0, filter_direct_in, filter_direct_end, ADDR_CFG_STOP));
	ok(trace_count(P_STOP) == 0 && !(rdmsr(MSR_RTIT_STATUS) & STATUS_STOPPED),
	   "tracestop: not while ContextEn is clear");
}

/* A filter on one range, TraceStop on another: STOP without TIP.PGD from outside. */
static void test_with_filter(void)
{
	if (caps.ranges < 2)
		return;
	pt_output_setup();
	snippet_run_prepared(filter_indirect, CTL_TRACE_OS |
			     pt_range_set(0, filter_direct_in, filter_direct_end,
					  ADDR_CFG_FILTER) |
			     pt_range_set(1, filter_indirect_in, filter_indirect_end,
					  ADDR_CFG_STOP));
	EXPECT_TRACE("tracestop: entered from outside the filter range: STOP alone", E_STOP);
	stopped("with a filter range");
}

/* MOV CR3 brings the context back while the code is in the range: PIP, STOP. */
static void test_by_cr3(void)
{
	u64 cr3 = read_cr3();

	if (!has(CAP_CR3FILTER))
		return;
	pt_output_setup();
	wrmsr(MSR_RTIT_CR3_MATCH, cr3);
	wrmsr(MSR_RTIT_ADDR_A(0), (u64)filter_cr3_hidden);
	wrmsr(MSR_RTIT_ADDR_B(0), (u64)filter_cr3_off);
	snippet_run_prepared(filter_cr3, CTL_TRACE_OS | CTL_CR3FILTER |
			     FIELD_PREP(CTL_ADDR_CFG(0), ADDR_CFG_STOP));
	EXPECT_TRACE("tracestop: the context comes back within the range: PIP, STOP",
		     E_PGE(filter_cr3_on), E_PGD_NOIP, E_PIP(cr3), E_STOP);
	stopped("MOV CR3");
}

/*
 * SDM 33.2.5.3, 33.2.7: what is in the processor is written when TraceEn is
 * cleared, and need not be before; "lazy=1": it is not.
 */
static void test_tail(void)
{
	pt_output_setup();
	wrmsr(MSR_RTIT_CTL, CTL_TRACE_OS | pt_output_ctl() |
	      pt_range_set(0, NULL, (const u8 *)CANON_EDGE, ADDR_CFG_STOP));
	stopped("enabled anywhere");
	if (cmdline_num("lazy", 0))
		is(OUTPUT_BUFFER[0], OUTPUT_POISON, "tracestop: TraceEn = 1: nothing is written");
	wrmsr(MSR_RTIT_CTL, 0);
	trace_collect();
	is(trace_count(P_STOP), 1, "tracestop: TraceEn = 0: all is written");
}

void test_tracestop(void)
{
	if (!caps.ranges)
		return;
	test_entry();
	test_not_entered();
	test_with_filter();
	test_by_cr3();
	test_tail();
	pt_reset();
}
