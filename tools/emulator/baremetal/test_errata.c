// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errata of named processors ("erratum=NAME", enum pt_erratum of the model has
 * their words). Each test fails on a processor without the erratum. "ovf=N" is
 * for those that show with an overflow.
 */
#include "region.h"

snippet_fn near_empty, filter_direct, filter_hop, lbr_many;
extern const u8 near_empty_on[], filter_direct_in[], filter_direct_end[],
	filter_hop_in[], filter_hop_end[];

#define ROUNDS		3000
/* Ends of tracing, so that some are in an overflow */
#define ENDS		64
#define LBR_DEPTH	32
#define MSR_LBR_FROM(n)	(0x680 + (n))
#define DEBUGCTL_LBR	BIT(0)
#define SOME_ADDRESS	0x1234567

/* How many OVFs have a packet of @type behind them, but for time; @ip is no part of the range. */
static u32 behind_ovf(int type, const u8 *from, const u8 *to)
{
	u32 n = 0;

	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *next = trace_next(&trace.pkt[i]);

		n += trace.pkt[i].type == P_OVF && next && next->type == type &&
		     (next->val < (u64)from || next->val >= (u64)to);
	}
	return n;
}

static void bdm70(void)
{
	const struct pkt *fup;

	snippet_run(near_empty, CTL_TRACE_OS);
	fup = trace_find(P_FUP, 0);
	ok(fup && fup->in_psb && fup->val == (u64)near_empty_on && trace_find(P_PGE, 0) > fup,
	   "errata: BDM70: the PSB+ before TIP.PGE has a FUP");
	ok(trace_find(P_MODE_EXEC, 0) && trace_find(P_MODE_EXEC, 0)->in_psb,
	   "errata: BDM70: and MODE.Exec");
}

static void bdm106(void)
{
	u64 ctl;

	pt_output_setup();
	ctl = CTL_OS | pt_output_ctl();
	is(wrmsr_safe(MSR_RTIT_CTL, ctl), 0,
	   "errata: BDM106: BranchEn may be clear while TraceEn is");
	is(wrmsr_safe(MSR_RTIT_CTL, ctl | CTL_TRACEEN), TRAPPED(VECTOR_GP),
	   "errata: BDM106: TraceEn without BranchEn is a #GP");
	is(rdmsr(MSR_RTIT_CTL), ctl, "errata: BDM106: CTL stays as it was");
	is(wrmsr_safe(MSR_RTIT_CTL, ctl | CTL_TRACEEN | CTL_BRANCHEN), 0,
	   "errata: BDM106: TraceEn with BranchEn is taken");
	wrmsr(MSR_RTIT_CTL, 0);
}

static void skl014(void)
{
	pt_output_setup();
	snippet_run_prepared(filter_direct, CTL_TRACE_OS |
			     pt_range_set(0, filter_direct_in, filter_direct_end, ADDR_CFG_FILTER));
	EXPECT_TRACE("errata: SKL014: TIP.PGD of a direct jump has no IP",
		     E_PGE(filter_direct_in), E_TNT("T"), E_PGD_NOIP);
}

static void skl168(void)
{
	u32 without_cyc = 0;

	pt_output_setup();
	bulk_run(10 * ROUNDS, CTL_TRACE_OS | CTL_CYCEN | pt_output_ctl());
	trace_collect();
	/* The first one comes before the cycle counter begins. */
	for (u32 i = 1; i < trace.n; i++)
		without_cyc += trace.pkt[i].type == P_PSB && trace.pkt[i - 1].type != P_CYC;
	ok(without_cyc > 0, "errata: SKL168: %u of %u PSBs have no CYC before them", without_cyc,
	   trace_count(P_PSB));
}

static void skd010(void)
{
	snip_arg[0] = ROUNDS;
	snippet_run(snip_bulk, CTL_TRACE_OS);
	ok(behind_ovf(P_TIP, NULL, NULL) + behind_ovf(P_TNT, NULL, NULL) > 0,
	   "errata: SKD010: OVF without FUP");
	ok(behind_ovf(P_FUP, NULL, NULL) > 0, "errata: SKD010: not always");
}

static void apl12(void)
{
	pt_output_setup();
	snip_arg[0] = ROUNDS;
	snippet_run_prepared(filter_hop, CTL_TRACE_OS |
			     pt_range_set(0, filter_hop_in, filter_hop_end, ADDR_CFG_FILTER));
	ok(behind_ovf(P_FUP, filter_hop_in, filter_hop_end) > 0,
	   "errata: APL12: OVF and FUP out of the IP ranges");
}

static void apl11(void)
{
	u32 n = 0;

	for (u32 i = 0; i < ENDS; i++) {
		snip_arg[0] = ENDS + i;
		snippet_run(snip_bulk, CTL_TRACE_OS);
		n += behind_ovf(P_PGD, NULL, NULL);
	}
	ok(n > 0, "errata: APL11: OVF and TIP.PGD where TraceEn is cleared (%u of %u)", n, ENDS);
}

/* The bytes are no packets that could be parsed. */
static void skd007(void)
{
	const u8 *p = OUTPUT_BUFFER;
	u64 bytes;
	u32 n = 0;

	pt_output_setup();
	bulk_run(ROUNDS, CTL_TRACE_OS | CTL_CYCEN | pt_output_ctl());
	bytes = pt_output_bytes();
	for (u64 i = 0; i + 2 < bytes; i++)
		n += (p[i] & 7) == 7 && p[i + 1] == 0x02 && p[i + 2] == 0xf3;
	ok(n > 0, "errata: SKD007: OVF after the first byte of a CYC (%u)", n);
}

static u32 records(void)
{
	u32 n = 0;

	for (u32 i = 0; i < LBR_DEPTH; i++)
		n += rdmsr(MSR_LBR_FROM(i)) != 0;
	return n;
}

static void lbr_alone(void)
{
	pt_output_setup();
	wrmsr(MSR_DEBUGCTL, DEBUGCTL_LBR);
	snip_arg[0] = MSR_DEBUGCTL;
	snip_arg[1] = snip_arg[2] = DEBUGCTL_LBR;
	snip_arg[3] = ROUNDS;
	lbr_many();
	is(records(), LBR_DEPTH, "errata: LBRs alone: records without a trace");
	wrmsr(MSR_RTIT_CTL, CTL_TRACE_OS | pt_output_ctl());
	is(records(), 0, "errata: LBRs alone: read as 0 while TraceEn is set");
	wrmsr(MSR_LBR_FROM(3), SOME_ADDRESS);
	wrmsr(MSR_RTIT_CTL, 0);
	wrmsr(MSR_DEBUGCTL, 0);
	ok(records() < LBR_DEPTH && rdmsr(MSR_LBR_FROM(3)) != SOME_ADDRESS,
	   "errata: LBRs alone: begin again after the trace");
}

void test_errata(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} errata[] = {
		{ "bdm70", bdm70 }, { "bdm106", bdm106 }, { "skl014", skl014 },
		{ "skl168", skl168 }, { "skd010", skd010 }, { "apl12", apl12 },
		{ "apl11", apl11 }, { "skd007", skd007 }, { "lbr-alone", lbr_alone },
	};

	for (u32 i = 0; i < ARRAY_SIZE(errata); i++)
		if (cmdline_is("erratum", errata[i].name))
			errata[i].run();
	pt_reset();
}
