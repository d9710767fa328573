// SPDX-License-Identifier: GPL-2.0-only
/* TNT and TIP of near branches, RET compression. */
#include "pt.h"

snippet_fn near_empty, near_jcc, near_tnt_run, near_direct, near_indirect, near_ret,
	near_ret_odd, near_call_next, near_nested, near_ret_psb, near_ret_untraced_call,
	near_no_branch, near_ret_far;
extern const u8 near_ret_far_on[], near_ret_far_off[], near_ret_far_insn[], near_ret_far_1[],
	far_iret[], near_empty_on[], near_empty_off[], near_jcc_on[], near_jcc_off[],
	near_tnt_run_on[], near_tnt_run_off[], near_direct_on[], near_direct_off[],
	near_indirect_on[], near_indirect_off[], near_indirect_1[], near_indirect_2[],
	near_indirect_3[], near_indirect_4[], near_indirect_5[], near_ret_on[], near_ret_off[],
	near_ret_1[], near_ret_2[], near_ret_leaf[], near_ret_odd_on[], near_ret_odd_off[],
	near_ret_odd_1[], near_ret_odd_2[], near_ret_odd_3[], near_call_next_on[],
	near_call_next_off[], near_call_next_1[], near_nested_on[], near_nested_off[],
	near_nested_outer[], near_nested_inner[], near_ret_psb_1[],
	near_ret_psb_loop[], near_ret_psb_off[], near_ret_untraced_call_on[],
	near_ret_untraced_call_1[], near_ret_untraced_call_off[], near_no_branch_on[],
	near_no_branch_off[];

#define INT_VECTOR		0x70
#define LONG_LOOP		2000
#define RETURN_STACK_DEPTH	64
#define SHORT_TNT_BITS		6
#define LONG_TNT_BITS		47

static void test_conditional(void)
{
	snippet_run(near_empty, CTL_TRACE_OS);
	EXPECT_TRACE("near: enable and disable",
		     E_PGE(near_empty_on), E_FUP(near_empty_off), E_PGD_NOIP);

	snippet_run(near_jcc, CTL_TRACE_OS);
	EXPECT_TRACE("near: Jcc, LOOP, LOOPE, LOOPNE, JRCXZ",
		     E_PGE(near_jcc_on), E_TNT("TNNTTTNTN" "TTN" "TN"),
		     E_FUP(near_jcc_off), E_PGD_NOIP);

	snippet_run(near_no_branch, CTL_TRACE_OS);
	EXPECT_TRACE("near: REP, CMOV, SETcc, CPUID are no branches",
		     E_PGE(near_no_branch_on), E_FUP(near_no_branch_off), E_PGD_NOIP);
}

/* A TNT that other TNTs follow is full: 6 bits, or 47 in the long form. */
static void test_tnt_packing(void)
{
	bool full = true;
	u32 bits = 0;

	snippet_run(near_tnt_run, CTL_TRACE_OS);
	EXPECT_TRACE("near: 50 taken and 1 not taken", E_PGE(near_tnt_run_on),
		     E_TNT("TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTN"),
		     E_FUP(near_tnt_run_off), E_PGD_NOIP);
	for (u32 i = 0; i + 1 < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];

		if (p->type != P_TNT)
			continue;
		bits += p->aux;
		if (p[1].type == P_TNT)
			full &= p->aux == (p->len == 1 ? SHORT_TNT_BITS : LONG_TNT_BITS);
		full &= p->aux > 0;
	}
	/* A processor may send it before, see test_rude.c. */
	ok((full || cmdline_get("rude")) && bits == 51,
	   "near: a TNT is sent when it is full, or before another packet");
}

static void test_jumps(void)
{
	snippet_run(near_direct, CTL_TRACE_OS);
	EXPECT_TRACE("near: direct jumps and calls give no packet",
		     E_PGE(near_direct_on), E_FUP(near_direct_off), E_PGD_NOIP);

	snippet_run(near_indirect, CTL_TRACE_OS);
	EXPECT_TRACE("near: indirect jumps and calls, by register and memory",
		     E_PGE(near_indirect_on), E_TIP(near_indirect_1), E_TIP(near_indirect_2),
		     E_TIP(near_indirect_3), E_TIP(near_indirect_4), E_TNT("T"),
		     E_TIP(near_indirect_5), E_FUP(near_indirect_off), E_PGD_NOIP);
}

static void test_returns(void)
{
	snippet_run(near_ret, CTL_TRACE_OS);
	EXPECT_TRACE("near: returns are compressed to a taken bit",
		     E_PGE(near_ret_on), E_TNT("T"), E_TIP(near_ret_leaf), E_TNT("T"),
		     E_FUP(near_ret_off), E_PGD_NOIP);

	snippet_run(near_ret, CTL_TRACE_OS | CTL_DISRETC);
	EXPECT_TRACE("near: DisRETC: returns give a TIP",
		     E_PGE(near_ret_on), E_TIP(near_ret_1), E_TIP(near_ret_leaf),
		     E_TIP(near_ret_2), E_FUP(near_ret_off), E_PGD_NOIP);

	snippet_run(near_ret_odd, CTL_TRACE_OS);
	EXPECT_TRACE("near: returns to elsewhere give a TIP",
		     E_PGE(near_ret_odd_on), E_TIP(near_ret_odd_1), E_TIP(near_ret_odd_2),
		     E_TIP(near_ret_odd_3), E_FUP(near_ret_odd_off), E_PGD_NOIP);

	snippet_run(near_call_next, CTL_TRACE_OS);
	EXPECT_TRACE("near: a call of the next instruction is not on the return stack",
		     E_PGE(near_call_next_on), E_TNT("T"), E_FUP(near_call_next_off),
		     E_PGD_NOIP);

	snippet_run(near_ret_untraced_call, CTL_TRACE_OS);
	EXPECT_TRACE("near: a return whose call was not traced gives a TIP",
		     E_PGE(near_ret_untraced_call_on), E_TIP(near_ret_untraced_call_1),
		     E_FUP(near_ret_untraced_call_off), E_PGD_NOIP);
}

static void test_return_after_far(void)
{
	gate_set(INT_VECTOR, far_iret, 0);
	snippet_run(near_ret_far, CTL_TRACE_OS);
	gate_default(INT_VECTOR);
	EXPECT_TRACE("near: a return is compressed across INT and IRET",
		     E_PGE(near_ret_far_on), E_FUP(near_ret_far_insn), E_TIP(far_iret),
		     E_TIP(near_ret_far_1), E_TNT("T"), E_FUP(near_ret_far_off), E_PGD_NOIP);
}

/* @depth nested calls; the oldest beyond 64 fall off the return stack. */
static void test_nested(u32 depth)
{
	u32 compressed = depth < RETURN_STACK_DEPTH ? depth : RETURN_STACK_DEPTH;
	static char bits[RETURN_STACK_DEPTH * 4];
	struct expect e[16] = { E_PGE(near_nested_on) };
	u32 n = 1, b = 0;

	for (u32 i = 1; i < depth; i++)
		bits[b++] = 'N';		/* jz of an inner round */
	bits[b++] = 'T';
	for (u32 i = 0; i < compressed; i++)
		bits[b++] = 'T';
	bits[b] = 0;
	e[n++] = (struct expect) E_TNT(bits);
	for (u32 i = compressed; i < depth; i++)
		e[n++] = (struct expect) E_TIP(i + 1 < depth ? near_nested_inner : near_nested_outer);
	e[n++] = (struct expect) E_FUP(near_nested_off);
	e[n++] = (struct expect) E_PGD_NOIP;

	snip_arg[0] = depth;
	snippet_run(near_nested, CTL_TRACE_OS);
	trace_match(e, n, depth == compressed ? "near: 64 nested returns are compressed" :
		    "near: 67 nested calls: the oldest 3 returns give a TIP");
}

static u32 count_bits(u64 value)
{
	u32 n = 0;

	for (u32 i = 0; i < trace.n; i++)
		for (u32 b = 0; trace.pkt[i].type == P_TNT && b < trace.pkt[i].aux; b++)
			n += (trace.pkt[i].val >> b & 1) == value;
	return n;
}

/* Only calls since the last PSB may be compressed. */
static void test_return_after_psb(void)
{
	const struct pkt *tip = NULL;
	u32 psbs = 0, at = 0, tips = 0, in_loop = 0;

	if (!has(CAP_PSBCYC)) {
		skip("PSB period is not configurable", "near: no compression across a PSB");
		return;
	}
	snip_arg[0] = LONG_LOOP;
	snippet_run(near_ret_psb, CTL_TRACE_OS);
	for (u32 i = 0; i < trace.n; i++) {
		psbs += trace.pkt[i].type == P_PSB;
		if (trace.pkt[i].type == P_TIP) {
			tip = &trace.pkt[i];
			at = psbs;
			tips++;
			in_loop += tip->val == (u64)near_ret_psb_loop;
		}
	}
	/* The first PSB comes before the call; a rude processor may send one after the return. */
	if (!ok(at > 1 && tip->val == (u64)near_ret_psb_1,
		"near: no compression across a PSB"))
		diag("%u PSB, last TIP 0x%lx, expected 0x%lx", psbs, tip ? tip->val : 0,
		     (u64)near_ret_psb_1);
	ok(tips == LONG_LOOP + 1 && in_loop == LONG_LOOP && count_bits(0) == 1 &&
	   count_bits(1) == LONG_LOOP - 1, "near: every TIP and TNT of a long loop is there and right");
}

void test_near(void)
{
	test_conditional();
	test_tnt_packing();
	test_jumps();
	test_returns();
	test_return_after_far();
	test_nested(RETURN_STACK_DEPTH);
	test_nested(RETURN_STACK_DEPTH + 3);
	test_return_after_psb();
	pt_reset();
}
