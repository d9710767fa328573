// SPDX-License-Identifier: GPL-2.0
/* Forced overflows ("ovf=N" on the command line: one about every N bytes). */
#include "region.h"

snippet_fn near_nested;
extern const u8 snip_bulk_on[], snip_bulk_off[], near_nested_outer[], near_nested_inner[];

#define ROUNDS	3000

/* First packet after @i that tells where tracing resumes. */
static const struct pkt *resumption(u32 i)
{
	while (++i < trace.n) {
		const struct pkt *p = &trace.pkt[i];

		if (p->in_psb || p->type == P_PSB || p->type == P_PSBEND)
			continue;
		switch (p->type) {
		case P_PAD: case P_CBR: case P_TSC: case P_TMA: case P_MTC: case P_CYC:
		case P_MODE_EXEC: case P_PIP:
			continue;
		}
		return p;
	}
	return NULL;
}

/* Every OVF is followed by FUP or TIP.PGE, with an IP of the loop. */
static void check_resumptions(void)
{
	u32 wrong = 0;

	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p;

		if (trace.pkt[i].type != P_OVF)
			continue;
		p = resumption(i);
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
	pt_reset();
}
