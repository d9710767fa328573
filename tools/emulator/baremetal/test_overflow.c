// SPDX-License-Identifier: GPL-2.0-only
/* Forced overflows ("ovf=N" on the command line: one about every N bytes). */
#include "overflow.h"
#include "region.h"

snippet_fn near_nested, filter_hop, far_int_loop;
extern const u8 snip_bulk_on[], snip_bulk_off[], near_nested_outer[], near_nested_inner[],
	filter_hop_in[], filter_hop_end[], filter_hop_out[],
	filter_hop_stop[], filter_hop_stop_end[],
	far_int_loop_on[], far_int_loop_off[], far_iret[];

#define ROUNDS	OVERFLOW_ROUNDS
#define INT_VECTOR	0x70
/* Enough for a branch to be lost and not to be, at any place of an overflow. */
#define STOP_ROUNDS	64

/* First packet after @p that tells where tracing resumes. */
static const struct pkt *resumption(const struct pkt *p)
{
	do
		p = trace_next(p);
	while (p && (p->in_psb || p->type == P_PSB || p->type == P_PSBEND ||
		     p->type == P_MODE_EXEC || p->type == P_PIP));
	return p;
}

/* Every OVF is followed by FUP or TIP.PGE, with an IP of the loop. */
static void check_resumptions(void)
{
	u32 wrong = 0;

	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p;

		if (trace.pkt[i].type != P_OVF)
			continue;
		p = resumption(&trace.pkt[i]);
		if (!p)
			continue;	/* the trace ends here */
		if ((p->type != P_FUP && p->type != P_PGE) || p->val < (u64)snip_bulk_on ||
		    p->val > (u64)snip_bulk_off) {
			wrong++;
			pkt_print(p);
		}
	}
	is(wrong, 0, "overflow: each OVF is followed by FUP or TIP.PGE where the code is");
}

/* With a return outstanding at each OVF, its compression would be wrong. */
static void check_returns(void)
{
	u32 ovf_at = 0, t_bits = 0, tips = 0;

	snip_arg[0] = 60;
	pt_output_setup();
	/* Cold trace: the first bytes make the overflow come in the calls. */
	snippet_run_prepared(near_nested, CTL_TRACE_OS);
	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];

		if (p->type == P_OVF)
			ovf_at = i;
		if (p->type == P_TNT)
			for (u32 b = 0; b < p->aux; b++)
				t_bits += p->val >> b & 1;
		if (p->type == P_TIP) {
			tips++;
			if (p->val != (u64)near_nested_inner && p->val != (u64)near_nested_outer)
				bail_out("a return to nowhere");
		}
	}
	/* One T is the last Jcc; the others are returns. */
	if (trace_count(P_OVF))
		ok(t_bits <= 61, "overflow: returns: %u taken bits, %u TIPs, OVF is packet %u",
		   t_bits, tips, ovf_at);
}

/* FilterEn follows the branches that are lost: no IP is of the code outside. */
static void check_filter(void)
{
	bool resumes = false;	/* TIP.PGE ends an overflow: it may come amid the range */
	u32 wrong = 0;

	pt_output_setup();
	snip_arg[0] = ROUNDS;
	snippet_run_prepared(filter_hop, CTL_TRACE_OS |
			     pt_range_set(0, filter_hop_in, filter_hop_end, ADDR_CFG_FILTER));
	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];
		bool in = p->val >= (u64)filter_hop_in && p->val < (u64)filter_hop_end;

		wrong += (p->type == P_FUP && !in) || p->type == P_TIP ||
			 (p->type == P_PGE && !(resumes ? in : p->val == (u64)filter_hop_in)) ||
			 (p->type == P_PGD && p->val != (u64)filter_hop_out);
		if (p->type == P_OVF || p->type == P_PGE || p->type == P_FUP)
			resumes = p->type == P_OVF;
	}
	ok(trace_count(P_OVF) && !wrong, "overflow: with an IP filter: %u packets of code outside",
	   wrong);
}

/* A branch into a TraceStop range stops the trace, lost or not. */
static void check_stop(void)
{
	u32 missed = 0;

	for (u32 rounds = 1; rounds <= STOP_ROUNDS; rounds++) {
		pt_output_setup();
		snip_arg[0] = rounds;
		snippet_run_prepared(filter_hop, CTL_TRACE_OS |
				     pt_range_set(0, filter_hop_stop, filter_hop_stop_end,
					       ADDR_CFG_STOP));
		missed += !(rdmsr(MSR_RTIT_STATUS) & STATUS_STOPPED) || trace_count(P_STOP) != 1;
	}
	ok(!missed, "overflow: %u of %u TraceStops are missed", missed, STOP_ROUNDS);
}

/* SDM 33.3.8.2: with CYC, OVF tells how long the overflow took. */
static void check_cycles(void)
{
	u32 alone = 0;

	pt_output_setup();
	bulk_run(ROUNDS, CTL_TRACE_OS | CTL_CYCEN | pt_output_ctl());
	trace_collect();
	for (u32 i = 1; i < trace.n; i++)
		alone += trace.pkt[i].type == P_OVF && trace.pkt[i - 1].type != P_CYC;
	ok(trace_count(P_OVF) && !alone, "overflow: with CYCEn: %u of %u OVF without CYC", alone,
	   trace_count(P_OVF));
}

/* SDM 33.3.8: what is lost is not branches alone; where it ends the IP is right. */
static void check_far(void)
{
	u32 ovf, wrong = 0;

	gate_set(INT_VECTOR, far_iret, 0);
	snip_arg[0] = ROUNDS;
	snippet_run(far_int_loop, CTL_TRACE_OS);
	gate_default(INT_VECTOR);
	ovf = trace_count(P_OVF);
	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];

		wrong += p->type == P_FUP && p->val != (u64)far_iret &&
			 (p->val < (u64)far_int_loop_on || p->val > (u64)far_int_loop_off);
	}
	ok(ovf && !wrong, "overflow: INT n: %u of the FUPs are elsewhere", wrong);
	ok(trace_count(P_TIP) + 4 * ovf <= 2 * ROUNDS,
	   "overflow: INT n and IRET are lost, too (%u TIPs, %u OVF)", trace_count(P_TIP), ovf);
}

/* Out of the IP ranges OVF does not wait for the next TIP.PGE: time passes between. */
static void check_filter_time(void)
{
	u32 early = 0;

	pt_output_setup();
	snip_arg[0] = ROUNDS;
	snippet_run_prepared(filter_hop, CTL_TRACE_OS | CTL_CYCEN |
			     pt_range_set(0, filter_hop_in, filter_hop_end, ADDR_CFG_FILTER));
	for (u32 i = 0; i + 1 < trace.n; i++) {
		const struct pkt *next = resumption(&trace.pkt[i]);

		early += trace.pkt[i].type == P_OVF && trace.pkt[i + 1].type == P_CYC &&
			 next && next->type == P_PGE;
	}
	ok(early, "overflow: with an IP filter: OVF comes before the time of TIP.PGE (%u of %u)",
	   early, trace_count(P_OVF));
}

void test_overflow(void)
{
	u64 every = cmdline_num("ovf", 0);
	u32 n, tips, stray = 0;

	if (!every) {
		pt_output_setup();
		bulk_run(ROUNDS, CTL_TRACE_OS | pt_output_ctl());
		trace_collect();
		is(trace_count(P_OVF), 0, "overflow: none without a reason");
		return;
	}
	pt_output_setup();
	bulk_run(ROUNDS, CTL_TRACE_OS | pt_output_ctl());
	ok(trace_collect(), "overflow: the trace parses");
	n = trace_count(P_OVF);
	tips = trace_count(P_TIP);
	ok(n > 0, "overflow: OVF is there (%u)", n);
	ok(n <= trace.bytes / every + 2, "overflow: not more often than asked");
	ok(tips < ROUNDS && tips > 0, "overflow: packets were lost, not all (%u of %u TIPs)",
	   tips, ROUNDS);
	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];

		if (p->type == P_TIP)
			stray += p->val < (u64)snip_bulk_on || p->val > (u64)snip_bulk_off;
	}
	is(stray, 0, "overflow: IPs after OVF are right");
	is(rdmsr(MSR_RTIT_STATUS) & (STATUS_ERROR | STATUS_STOPPED), 0,
	   "overflow: neither error nor stop");
	check_resumptions();
	check_returns();
	check_far();
	check_overflow_kinds();
	if (has(CAP_PSBCYC))
		check_cycles();
	if (caps.ranges) {
		check_filter();
		check_stop();
	}
	if (caps.ranges && has(CAP_PSBCYC) && cmdline_num("icount", 0))
		check_filter_time();
	pt_reset();
}
