// SPDX-License-Identifier: GPL-2.0-only
/* PTWRITE: payload, FUPonPTW, enables; and tracing without BranchEn or TNT. */
#include "pt.h"

#define USER_VECTOR	0x71
#define VALUE64		0x1122334455667788ul
#define VALUE32		0x55667788ul
/* What TRACE_ON leaves in EAX is the low half of the CTL value. */
#define CTL_LOW(ctl)	((u32)((ctl) | pt_output_ctl()))

snippet_fn ptwrite_all, ptwrite_order, ptwrite_user, near_jcc, near_indirect, near_ret, far_cr3;
extern const u8 ptwrite_all_on[], ptwrite_all_off[], ptwrite_reg32[], ptwrite_reg64[],
	ptwrite_mem32[], ptwrite_mem64[], ptwrite_order_on[], ptwrite_order_off[],
	ptwrite_order_1[], ptwrite_order_2[], ptwrite_user_start[], ptwrite_user_handler[],
	ptwrite_user_on[], ptwrite_user_off[],
	near_jcc_on[], near_jcc_off[], near_ret_on[], near_ret_off[], near_ret_1[], near_ret_2[],
	near_ret_leaf[], pml4_other[];
int ptwrite_safe(void);

static void test_payload(void)
{
	snippet_run(ptwrite_all, CTL_TRACE_OS | CTL_PTWEN);
	EXPECT_TRACE("ptwrite: 32 and 64 bits, register and memory",
		     E_PGE(ptwrite_all_on), E_PTW(4, VALUE32, 0), E_PTW(8, VALUE64, 0),
		     E_PTW(4, VALUE32, 0), E_PTW(8, VALUE64, 0), E_FUP(ptwrite_all_off),
		     E_PGD_NOIP);

	snippet_run(ptwrite_all, CTL_TRACE_OS | CTL_PTWEN | CTL_FUPONPTW);
	EXPECT_TRACE("ptwrite: FUPonPTW: a FUP of each PTWRITE",
		     E_PGE(ptwrite_all_on),
		     E_PTW(4, VALUE32, 1), E_FUP(ptwrite_reg32),
		     E_PTW(8, VALUE64, 1), E_FUP(ptwrite_reg64),
		     E_PTW(4, VALUE32, 1), E_FUP(ptwrite_mem32),
		     E_PTW(8, VALUE64, 1), E_FUP(ptwrite_mem64),
		     E_FUP(ptwrite_all_off), E_PGD_NOIP);

	snippet_run(ptwrite_all, CTL_TRACE_OS | CTL_FUPONPTW);
	EXPECT_TRACE("ptwrite: no packet without PTWEn",
		     E_PGE(ptwrite_all_on), E_FUP(ptwrite_all_off), E_PGD_NOIP);

	snippet_run(ptwrite_order, CTL_TRACE_OS | CTL_PTWEN | CTL_FUPONPTW);
	EXPECT_TRACE("ptwrite: in order with TNT and TIP",
		     E_PGE(ptwrite_order_on), E_TNT("T"), E_PTW(4, 0, 1), E_FUP(ptwrite_order_1),
		     E_TIP(ptwrite_order_2), E_PTW(4, 0, 1), E_FUP(ptwrite_order_2), E_TNT("N"),
		     E_FUP(ptwrite_order_off), E_PGD_NOIP);
}

static void test_context(void)
{
	u64 ctl = CTL_TRACE_USER | CTL_PTWEN;

	gate_set(USER_VECTOR, ptwrite_user_handler, DPL_USER);
	snippet_run(ptwrite_user, ctl);
	EXPECT_TRACE("ptwrite: User alone: not from CPL 0",
		     E_PGE(ptwrite_user_start), E_PTW(8, CTL_LOW(ctl), 0),
		     E_FUP(ptwrite_user_start + 5), E_PGD_NOIP);
	ctl = CTL_TRACE_OS | CTL_PTWEN;
	snippet_run(ptwrite_user, ctl);
	EXPECT_TRACE("ptwrite: OS alone: not from CPL 3",
		     E_PGE(ptwrite_user_on), E_PTW(4, CTL_LOW(ctl), 0), E_PGD_NOIP,
		     E_PGE(ptwrite_user_handler), E_PTW(4, CTL_LOW(ctl), 0),
		     E_FUP(ptwrite_user_off), E_PGD_NOIP);
	gate_default(USER_VECTOR);
}

/* Outside of the filter ranges there is no PTW. */
static void test_filtered(void)
{
	if (!caps.ranges)
		return;
	pt_output_setup();
	wrmsr(MSR_RTIT_ADDR_A(0), 0);
	wrmsr(MSR_RTIT_ADDR_B(0), 0xfff);
	snippet_run_prepared(ptwrite_all, CTL_TRACE_OS | CTL_PTWEN |
			     FIELD_PREP(CTL_ADDR_CFG(0), ADDR_CFG_FILTER));
	trace_match(NULL, 0, "ptwrite: not from outside of the filter ranges");
}

static void test_without_branches(void)
{
	u64 ctl = CTL_TRACEEN | CTL_OS | CTL_PTWEN;

	snippet_run(ptwrite_order, ctl | CTL_FUPONPTW);
	EXPECT_TRACE("ptwrite: BranchEn = 0: PTW and its FUP, no branch",
		     E_PTW(4, 0, 1), E_FUP(ptwrite_order_1),
		     E_PTW(4, 0, 1), E_FUP(ptwrite_order_2));
	snippet_run(ptwrite_all, ctl);
	EXPECT_TRACE("ptwrite: BranchEn = 0: PTW alone",
		     E_PTW(4, VALUE32, 0), E_PTW(8, VALUE64, 0),
		     E_PTW(4, VALUE32, 0), E_PTW(8, VALUE64, 0));
}

static void test_branch_enable(void)
{
	u64 ctl = CTL_TRACEEN | CTL_OS, cr3 = read_cr3();

	snippet_run(near_jcc, ctl);
	trace_match(NULL, 0, "branchen: BranchEn = 0: no control flow packet");
	ok(trace_count(P_PSB) == 1 && trace_count(P_PSBEND) == 1 && !trace_count(P_MODE_EXEC) &&
	   !trace_count(P_FUP), "branchen: BranchEn = 0: PSB+ without MODE.Exec and FUP");
	snippet_run(near_indirect, ctl);
	trace_match(NULL, 0, "branchen: BranchEn = 0: no TIP");
	snippet_run(far_cr3, ctl);
	EXPECT_TRACE("branchen: BranchEn = 0: PIP all the same",
		     E_PIP((u64)pml4_other), E_PIP(cr3), E_PIP(cr3));
}

static void test_tnt_disable(void)
{
	snippet_run(near_jcc, CTL_TRACE_OS | CTL_DISTNT);
	EXPECT_TRACE("distnt: no TNT", E_PGE(near_jcc_on), E_FUP(near_jcc_off), E_PGD_NOIP);
	snippet_run(near_ret, CTL_TRACE_OS | CTL_DISTNT | CTL_DISRETC);
	EXPECT_TRACE("distnt: with DisRETC: TIPs of returns",
		     E_PGE(near_ret_on), E_TIP(near_ret_1), E_TIP(near_ret_leaf),
		     E_TIP(near_ret_2), E_FUP(near_ret_off), E_PGD_NOIP);
	snippet_run(near_ret, CTL_TRACE_OS | CTL_DISTNT);
	is(trace_count(P_TNT), 0, "distnt: no TNT of compressed returns");
}

void test_ptwrite(void)
{
	is(ptwrite_safe(), has(CAP_PTWRITE) ? 0 : TRAPPED(VECTOR_UD),
	   "ptwrite: the instruction is there as CPUID says");
	if (has(CAP_PTWRITE)) {
		test_payload();
		test_context();
		test_filtered();
		test_without_branches();
	}
	test_branch_enable();
	if (has(CAP_NOTNT))
		test_tnt_disable();
	pt_reset();
}
