// SPDX-License-Identifier: GPL-2.0-only
/*
 * Combinations: any set of enables gives only packets that it enables, time
 * packets do not change the control flow, and many short segments in one
 * buffer stay decodable.
 */
#include "pt.h"

#define INT_VECTOR	0x70
#define USER_VECTOR	0x71
#define COMBINATIONS	600
#define SEGMENTS	60

snippet_fn near_jcc, near_indirect, near_ret, far_int, far_cr3, user_int, user_int32;
extern const u8 far_iret[], user_int_handler[], user_int32_handler[], near_jcc_on[],
	near_jcc_off[], near_indirect_on[];

/* CTL bits that are drawn, the capability that each needs. */
static const struct {
	u64 bit, cap;
} enables[] = {
	{ CTL_OS, 0 }, { CTL_USER, 0 }, { CTL_BRANCHEN, 0 }, { CTL_DISRETC, 0 },
	{ CTL_TSCEN, 0 }, { CTL_MTCEN, CAP_MTC }, { CTL_CYCEN, CAP_PSBCYC },
	{ CTL_PTWEN, CAP_PTWRITE }, { CTL_FUPONPTW, CAP_PTWRITE },
	{ CTL_PWREVTEN, CAP_POWEREV }, { CTL_EVENTEN, CAP_EVENT }, { CTL_DISTNT, CAP_NOTNT },
};

static const struct {
	snippet_fn *fn;
	const u8 *user_handler;
} sequences[] = {
	{ near_jcc, NULL }, { near_indirect, NULL }, { near_ret, NULL }, { far_int, NULL },
	{ far_cr3, NULL }, { user_int, user_int_handler }, { user_int32, user_int32_handler },
};

/* A generator of our own: the same sequence on each run. */
static u64 random_next(u64 *state)
{
	*state = *state * 6364136223846793005ul + 1442695040888963407ul;
	return *state >> 33;
}

static u64 random_ctl(u64 *state)
{
	u64 ctl = CTL_TRACEEN;

	for (u32 i = 0; i < ARRAY_SIZE(enables); i++)
		if ((!enables[i].cap || has(enables[i].cap)) && (random_next(state) & 1))
			ctl |= enables[i].bit;
	return ctl;
}

/* The CTL bits that a packet needs, all of them. */
static u64 needed(const struct pkt *p)
{
	switch (p->type) {
	case P_TNT: case P_TIP: case P_PGE: case P_PGD: case P_MODE_EXEC: case P_MODE_TSX:
		return CTL_BRANCHEN;
	case P_TSC:
		return CTL_TSCEN;
	case P_TMA:
		return CTL_TSCEN | CTL_MTCEN;
	case P_MTC:
		return CTL_MTCEN;
	case P_CYC:
		return CTL_CYCEN;
	case P_PIP:
		return CTL_OS;
	case P_PTW:
		return CTL_PTWEN;
	case P_CFE: case P_EVD:
		return CTL_EVENTEN;
	case P_MWAIT: case P_PWRE: case P_PWRX: case P_EXSTOP:
		return CTL_PWREVTEN;
	}
	return 0;
}

/* MODE.Exec tells of the interrupt flag as well, with EventEn and without BranchEn. */
static bool allowed(const struct pkt *p, u64 ctl)
{
	if (p->type == P_MODE_EXEC && (ctl & CTL_EVENTEN))
		return true;
	if (p->type == P_TNT && (ctl & CTL_DISTNT))
		return false;
	return (needed(p) & ctl) == needed(p);
}

static void run(u32 which, u64 ctl)
{
	gate_set(INT_VECTOR, far_iret, 0);
	if (sequences[which].user_handler)
		gate_set(USER_VECTOR, sequences[which].user_handler, DPL_USER);
	snippet_run(sequences[which].fn, ctl);
	gate_default(INT_VECTOR);
	gate_default(USER_VECTOR);
}

/* One number for the control flow of the trace: kinds, IPs, bits, in order. */
static u64 flow_signature(void)
{
	u64 h = 0;

	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];

		if (p->in_psb)
			continue;
		switch (p->type) {
		case P_TNT:
			for (int b = p->aux - 1; b >= 0; b--)
				h = h * 31 + 1 + (p->val >> b & 1);
			break;
		case P_TIP: case P_PGE: case P_PGD: case P_FUP: case P_PIP: case P_PTW:
		case P_CFE:
			h = h * 31 + p->type + p->val;
		}
	}
	return h;
}

static void test_combinations(void)
{
	const u64 time_bits = CTL_TSCEN | CTL_MTCEN | CTL_CYCEN;
	u32 bad_parse = 0, not_enabled = 0, flow_differs = 0, errors = 0, compared = 0, wrapped = 0;
	u64 state = 1, flow;

	for (u32 i = 0; i < COMBINATIONS; i++) {
		u64 ctl = random_ctl(&state);
		u32 which = i % ARRAY_SIZE(sequences);

		run(which, ctl);
		if (pt_output_wrapped()) {
			wrapped++;
			continue;
		}
		bad_parse += trace.n && trace.pkt[trace.n - 1].type == P_BAD;
		errors += !!(rdmsr(MSR_RTIT_STATUS) & (STATUS_ERROR | STATUS_STOPPED));
		for (u32 p = 0; p < trace.n; p++) {
			if (allowed(&trace.pkt[p], ctl))
				continue;
			if (!not_enabled++) {
				diag("with CTL 0x%lx:", ctl);
				pkt_print(&trace.pkt[p]);
			}
		}
		flow = flow_signature();
		/*
		 * On a slow host there are many time packets: they bring another PSB,
		 * which ends RET compression, or are more than can be kept here.
		 */
		if (trace_count(P_PSB) > 1 || trace.n >= MAX_PKTS - 1)
			continue;
		compared++;
		run(which, ctl & ~time_bits);
		if (flow_signature() != flow && !flow_differs++) {
			diag("with CTL 0x%lx, without time packets:", ctl);
			trace_dump();
		}
	}
	if (wrapped)
		diag("%u traces were longer than the buffer", wrapped);
	is(bad_parse, 0, "mix: %u combinations of enables parse", COMBINATIONS);
	is(errors, 0, "mix: none ends in an error");
	is(not_enabled, 0, "mix: no packet that its enables do not allow");
	ok(!flow_differs && compared > COMBINATIONS / 4,
	   "mix: the control flow is the same with and without time packets (%u of %u compared)",
	   compared, COMBINATIONS);
}

/* Enabled and disabled many times without a new PSB: last IP goes on. */
static void test_segments(bool same)
{
	const char *name = same ? "the same code" : "two pieces of code in turn";
	u32 segments = 0, wrong = 0;

	pt_output_setup();
	for (u32 i = 0; i < SEGMENTS; i++)
		snippet_run_prepared(same || i % 2 ? near_jcc : near_indirect, CTL_TRACE_OS);
	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];
		const u8 *on = same || segments % 2 ? near_jcc_on : near_indirect_on;

		if (p->type != P_PGE)
			continue;
		wrong += p->val != (u64)on;
		segments++;
	}
	is(segments, SEGMENTS, "mix: %u short segments of %s in one buffer", SEGMENTS, name);
	is(wrong, 0, "mix: each TIP.PGE of %s has the right IP", name);
	is(trace_count(P_PGD), SEGMENTS, "mix: each segment of %s ends with TIP.PGD", name);
	if (has(CAP_PSBCYC))
		ok(trace_count(P_PSB) <= 2, "mix: not a PSB in each segment of %s", name);
	else
		is(trace_count(P_PSB), SEGMENTS, "mix: a PSB in each segment of %s", name);
}

void test_mix(void)
{
	test_combinations();
	test_segments(true);
	test_segments(false);
	pt_reset();
}
