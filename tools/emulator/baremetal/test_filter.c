// SPDX-License-Identifier: GPL-2.0-only
/* IP ranges and CR3: how the trace begins and ends at their borders. */
#include "pt.h"

snippet_fn filter_direct, filter_indirect, filter_cond, filter_call, filter_fault,
	filter_sequential, filter_inside, filter_cr3, filter_ret, modes_16;
extern const u8 modes_16_base[], modes_16_start[], modes_16_mid[], modes_16_back[],
	filter_direct_in[], filter_direct_end[], filter_direct_out[], filter_direct_on[],
	filter_direct_off[],
	filter_indirect_in[], filter_indirect_end[], filter_indirect_out[],
	filter_cond_in[], filter_cond_end[], filter_cond_out[],
	filter_call_in[], filter_call_end[], filter_call_out[],
	filter_fault_in[], filter_fault_end[], filter_fault_out[], filter_fault_insn[],
	filter_fault_back[], far_skip2_handler[], far_skip2_end[],
	filter_sequential_in[], filter_sequential_end[], filter_sequential_out[],
	filter_inside_in[], filter_inside_end[], filter_inside_on[], filter_inside_off[],
	filter_ret_in[], filter_ret_end[],
	filter_cr3_on[], filter_cr3_off[], filter_cr3_back[], pml4_other[];

/* Bits of CR3 that 4-level paging without PCIDs ignores */
#define CR3_IGNORED	(BIT(11) | BIT(5))

static void run(snippet_fn *fn, const u8 *in, const u8 *end, u64 ctl)
{
	pt_output_setup();
	ctl |= pt_range_set(0, in, end, ADDR_CFG_FILTER);
	snippet_run_prepared(fn, ctl);
}

static void test_branches(void)
{
	run(filter_direct, filter_direct_in, filter_direct_end, CTL_TRACE_OS);
	EXPECT_TRACE("filter: entered and left by direct jumps",
		     E_PGE(filter_direct_in), E_TNT("T"), E_PGD(filter_direct_out));

	run(filter_indirect, filter_indirect_in, filter_indirect_end, CTL_TRACE_OS);
	EXPECT_TRACE("filter: entered and left by indirect jumps",
		     E_PGE(filter_indirect_in), E_PGD(filter_indirect_out));

	run(filter_cond, filter_cond_in, filter_cond_end, CTL_TRACE_OS);
	EXPECT_TRACE("filter: entered and left by conditional jumps: TIP.PGD without IP",
		     E_PGE(filter_cond_in), E_TNT("N"), E_PGD_NOIP);

	run(filter_call, filter_call_in, filter_call_end, CTL_TRACE_OS | CTL_DISRETC);
	EXPECT_TRACE("filter: entered by a call, left by its return",
		     E_PGE(filter_call_in), E_TNT("N"), E_PGD(filter_call_out));
	/* The call was outside of the range: its return cannot be compressed. */
	run(filter_call, filter_call_in, filter_call_end, CTL_TRACE_OS);
	EXPECT_TRACE("filter: the same with RET compression",
		     E_PGE(filter_call_in), E_TNT("N"), E_PGD(filter_call_out));
}

/* Of a RET that could be compressed the SDM has TIP.PGD with and without IP. */
static void test_ret(void)
{
	const struct expect with_ip[] = { E_PGE(filter_ret_in), E_PGD(filter_ret_end) };
	const struct expect without_ip[] = { E_PGE(filter_ret_in), E_PGD_NOIP };
	bool no_ip = cmdline_num("retnoip", 0);

	run(filter_ret, filter_ret_in, filter_ret_end, CTL_TRACE_OS);
	trace_match(no_ip ? without_ip : with_ip, 2, "filter: left by a RET of a call inside");
	run(filter_ret, filter_ret_in, filter_ret_end, CTL_TRACE_OS | CTL_DISRETC);
	trace_match(with_ip, 2, "filter: left by a RET, DisRETC: TIP.PGD with IP");
}

static void test_events(void)
{
	gate_set(VECTOR_UD, far_skip2_handler, 0);
	run(filter_fault, filter_fault_in, filter_fault_end, CTL_TRACE_OS);
	gate_default(VECTOR_UD);
	EXPECT_TRACE("filter: left by a fault, entered by IRET",
		     E_PGE(filter_fault_in), E_FUP(filter_fault_insn), E_PGD(far_skip2_handler),
		     E_PGE(filter_fault_back), E_PGD(filter_fault_out));

	/* The range is the handler: entered by the fault, without FUP, left by IRET. */
	gate_set(VECTOR_UD, far_skip2_handler, 0);
	run(filter_fault, far_skip2_handler, far_skip2_end, CTL_TRACE_OS);
	gate_default(VECTOR_UD);
	EXPECT_TRACE("filter: entered by a fault, left by IRET",
		     E_PGE(far_skip2_handler), E_PGD(filter_fault_back));
}

static void test_enabling(void)
{
	run(filter_inside, filter_inside_in, filter_inside_end, CTL_TRACE_OS);
	EXPECT_TRACE("filter: enabled and disabled inside",
		     E_PGE(filter_inside_on), E_TNT("T"), E_FUP(filter_inside_off), E_PGD_NOIP);

	run(filter_inside, filter_direct_in, filter_direct_end, CTL_TRACE_OS);
	trace_match(NULL, 0, "filter: never inside: no control flow");
	ok(trace_count(P_PIP) == 1 && !trace_count(P_FUP) && !trace_count(P_MODE_EXEC),
	   "filter: never inside: PSB+ has PIP, neither FUP nor MODE.Exec");
}

/*
 * The SDM evaluates FilterEn at taken branches and events; a processor that
 * does so at every instruction shows the border itself. Both are right.
 */
static void test_sequential(void)
{
	const struct expect at_border[] = {
		E_PGE(filter_sequential_in), E_TNT("NT"), E_PGD(filter_sequential_end),
	};
	const struct expect at_branch[] = {
		E_PGE(filter_sequential_in + 6), E_TNT("NT"), E_PGD(filter_sequential_out),
	};
	const struct pkt *pge, *pgd;
	bool inside;

	run(filter_sequential, filter_sequential_in, filter_sequential_end, CTL_TRACE_OS);
	pge = trace_find(P_PGE, 0);
	pgd = trace_find(P_PGD, 0);
	/* The first taken branch inside, "jz", lands two bytes before the padding. */
	inside = pge && pge->val >= (u64)filter_sequential_in && pge->val < (u64)filter_sequential_end;
	ok(inside && trace_count(P_PGE) == 1, "filter: entered by sequential execution: TIP.PGE inside");
	ok(pgd && trace_count(P_PGD) == 1 &&
	   (pgd->val == (u64)filter_sequential_end || pgd->val == (u64)filter_sequential_out),
	   "filter: left by sequential execution: TIP.PGD at the border or the next branch");
	if (pge && pge->val == (u64)filter_sequential_in)
		trace_match(pgd && pgd->val == at_border[2].val ? at_border : at_branch,
			    3, "filter: sequential: the branches inside");
	else
		ok(trace_count(P_TIP) == 0, "filter: sequential: no TIP outside");
}

/*
 * IPs are compared as packets show them: with LIP the linear address, else the
 * offset in the code segment (SDM "Packet Decoding of RIP versus LIP").
 */
static void test_segment_base(void)
{
	const u8 *base = has(CAP_LIP) ? NULL : modes_16_base;
	const u8 *start = modes_16_start - (u64)base, *end = modes_16_back - (u64)base;

	code16_set_base((u64)modes_16_base);
	run(modes_16, start, end, CTL_TRACE_OS);
	EXPECT_TRACE("filter: a 16-bit segment with a base",
		     E_MODE(EXEC_16), E_PGE(start), E_TNT("T"), E_TIP(modes_16_mid - (u64)base),
		     E_TNT("T"), E_PGD(modes_16_back));
}

static void test_several_ranges(void)
{
	u64 ctl = CTL_TRACE_OS;

	if (caps.ranges < 2)
		return;
	pt_output_setup();
	ctl |= pt_range_set(0, filter_indirect_in, filter_indirect_end, ADDR_CFG_FILTER);
	ctl |= pt_range_set(1, filter_direct_in, filter_direct_end, ADDR_CFG_FILTER);
	snippet_run_prepared(filter_direct, ctl);
	EXPECT_TRACE("filter: the second of two ranges",
		     E_PGE(filter_direct_in), E_TNT("T"), E_PGD(filter_direct_out));

	/* The last range alone, as one byte: the limit is inclusive. */
	pt_output_setup();
	ctl = CTL_TRACE_OS | pt_range_set(caps.ranges - 1, filter_direct_in, filter_direct_in + 1,
					  ADDR_CFG_FILTER);
	snippet_run_prepared(filter_direct, ctl);
	ok(trace_find(P_PGE, 0) && trace_find(P_PGE, 0)->val == (u64)filter_direct_in,
	   "filter: the last range, of one byte, is entered");

	/* A range that is set but not configured does not filter. */
	pt_output_setup();
	pt_range_set(0, filter_indirect_in, filter_indirect_end, ADDR_CFG_FILTER);
	snippet_run_prepared(filter_direct, CTL_TRACE_OS);
	EXPECT_TRACE("filter: ADDR0 set, ADDR0_CFG = 0: no filter",
		     E_PGE(filter_direct_on), E_TNT("TTT"), E_FUP(filter_direct_off), E_PGD_NOIP);
}

static void test_status(void)
{
	u64 status;

	pt_output_setup();
	wrmsr(MSR_RTIT_CTL, CTL_TRACE_OS | pt_output_ctl() |
	      pt_range_set(0, filter_direct_in, filter_direct_end, ADDR_CFG_FILTER));
	status = rdmsr(MSR_RTIT_STATUS);
	wrmsr(MSR_RTIT_CTL, 0);
	is(status & (STATUS_TRIGGEREN | STATUS_CONTEXTEN | STATUS_FILTEREN),
	   STATUS_TRIGGEREN | STATUS_CONTEXTEN, "filter: STATUS.FilterEn is clear outside");
}

static void test_cr3(void)
{
	u64 cr3 = read_cr3();

	pt_output_setup();
	wrmsr(MSR_RTIT_CR3_MATCH, cr3);
	snippet_run_prepared(filter_cr3, CTL_TRACE_OS | CTL_CR3FILTER);
	EXPECT_TRACE("filter: CR3: TIP.PGD without IP, then PIP and TIP.PGE",
		     E_PGE(filter_cr3_on), E_PGD_NOIP, E_PIP(cr3), E_PGE(filter_cr3_back),
		     E_TNT("T"), E_FUP(filter_cr3_off), E_PGD_NOIP);

	pt_output_setup();
	wrmsr(MSR_RTIT_CR3_MATCH, 0x123456000);
	snippet_run_prepared(filter_cr3, CTL_TRACE_OS | CTL_CR3FILTER);
	trace_match(NULL, 0, "filter: CR3 that never matches: no control flow, no PIP");
	is(trace_count(P_PIP), 0, "filter: CR3 that never matches: none in PSB+ either");

	/* SDM 33.2.5.2: bits 11:5 are compared with PAE paging only. */
	pt_output_setup();
	wrmsr(MSR_RTIT_CR3_MATCH, cr3);
	write_cr3(cr3 | CR3_IGNORED);
	snippet_run_prepared(filter_cr3, CTL_TRACE_OS | CTL_CR3FILTER);
	write_cr3(cr3);
	EXPECT_TRACE("filter: CR3: bits that 4-level paging ignores do not matter",
		     E_PGE(filter_cr3_on), E_PGD_NOIP, E_PIP(cr3 | CR3_IGNORED),
		     E_PGE(filter_cr3_back), E_TNT("T"), E_FUP(filter_cr3_off), E_PGD_NOIP);

	/* Without OS there is no PIP, but the filter works. */
	pt_output_setup();
	wrmsr(MSR_RTIT_CR3_MATCH, cr3);
	snippet_run_prepared(filter_cr3, CTL_TRACE_USER | CTL_CR3FILTER);
	is(trace_count(P_PIP), 0, "filter: no PIP without OS");
}

void test_filter(void)
{
	if (caps.ranges) {
		test_branches();
		test_ret();
		test_events();
		test_enabling();
		test_sequential();
		test_segment_base();
		test_several_ranges();
		test_status();
	}
	if (has(CAP_CR3FILTER))
		test_cr3();
	pt_reset();
}
