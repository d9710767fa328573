// SPDX-License-Identifier: GPL-2.0
/* Power event trace: HLT and MWAIT with PwrEvtEn. */
#include "pt.h"

#define TIMER_VECTOR	0x73
#define TIMER_TICKS	2000000
#define HINT_C1		0x00
#define HINT_C6		0x20
#define HINT_C0		0xf0

#define PWRE_HW			BIT(7)
#define PWRE_STATE		GENMASK(15, 12)
#define PWRE_SUBSTATE		GENMASK(11, 8)
#define PWRX_WAKE_REASON	GENMASK(11, 8)
#define WAKE_INTERRUPT		BIT(0)

snippet_fn power_hlt, power_prefixed, power_mwait;
extern const u8 power_hlt_on[], power_hlt_off[], power_hlt_insn[], power_hlt_back[],
	power_prefixed_on[], power_prefixed_off[], power_prefixed_insn[],
	power_prefixed_back[],
	power_mwait_on[], power_mwait_off[], power_mwait_insn[], power_mwait_back[],
	power_irq_handler[];

static void run(snippet_fn *fn, u64 ctl)
{
	pt_output_setup();
	gate_set(TIMER_VECTOR, power_irq_handler, 0);
	lapic_timer(TIMER_VECTOR, TIMER_TICKS);
	snippet_run_prepared(fn, ctl);
	lapic_timer(0, 0);
	gate_default(TIMER_VECTOR);
}

static u64 value_of(int type)
{
	const struct pkt *p = trace_find(type, 0);

	return p ? p->val : ~0ul;
}

/* The SDM gives C1 as 0 where it is an MWAIT hint, as 1 where it is a name. */
static void check_states(const char *name)
{
	u64 pwre = value_of(P_PWRE), pwrx = value_of(P_PWRX);

	ok(trace_find(P_PWRE, 0) && !(pwre & (PWRE_HW | PWRE_SUBSTATE)) &&
	   FIELD_GET(PWRE_STATE, pwre) <= 1, "power: %s: PWRE: C1, by software", name);
	ok(trace_find(P_PWRX, 0) && FIELD_GET(PWRX_WAKE_REASON, pwrx) == WAKE_INTERRUPT,
	   "power: %s: PWRX: woken by an interrupt", name);
}

static void test_hlt(void)
{
	run(power_hlt, CTL_TRACE_OS | CTL_PWREVTEN);
	check_states("HLT");
	EXPECT_TRACE("power: HLT: PWRE, EXSTOP with FUP of HLT, PWRX, then the interrupt",
		     E_PGE(power_hlt_on), E_PWRE(value_of(P_PWRE)), E_EXSTOP(1),
		     E_FUP(power_hlt_insn), E_PWRX(value_of(P_PWRX)), E_FUP(power_hlt_back),
		     E_TIP(power_irq_handler), E_TIP(power_hlt_back), E_FUP(power_hlt_off),
		     E_PGD_NOIP);

	run(power_hlt, CTL_TRACE_OS);
	EXPECT_TRACE("power: HLT without PwrEvtEn: the interrupt alone",
		     E_PGE(power_hlt_on), E_FUP(power_hlt_back), E_TIP(power_irq_handler),
		     E_TIP(power_hlt_back), E_FUP(power_hlt_off), E_PGD_NOIP);

	run(power_hlt, CTL_TRACE_USER | CTL_PWREVTEN);
	EXPECT_TRACE("power: HLT out of context: no IP",
		     E_PWRE(value_of(P_PWRE)), E_EXSTOP(0), E_PWRX(value_of(P_PWRX)));

	run(power_hlt, CTL_TRACEEN | CTL_OS | CTL_PWREVTEN);
	EXPECT_TRACE("power: HLT with BranchEn = 0",
		     E_PWRE(value_of(P_PWRE)), E_EXSTOP(1), E_FUP(power_hlt_insn),
		     E_PWRX(value_of(P_PWRX)));
}

static void test_prefixes(void)
{
	run(power_prefixed, CTL_TRACE_OS | CTL_PWREVTEN);
	EXPECT_TRACE("power: WRMSR and HLT with prefixes: the IPs of their begin and end",
		     E_PGE(power_prefixed_on), E_PWRE(value_of(P_PWRE)), E_EXSTOP(1),
		     E_FUP(power_prefixed_insn), E_PWRX(value_of(P_PWRX)),
		     E_FUP(power_prefixed_back), E_TIP(power_irq_handler),
		     E_TIP(power_prefixed_back), E_FUP(power_prefixed_off), E_PGD_NOIP);
}

/* A wait in C0 is no power event. */
static void test_mwait_c0(void)
{
	if (!(cpuid(1, 0).c & CPUID_FEATURE_ECX_MONITOR)) {
		skip("the processor has no MONITOR", "power: MWAIT in C0");
		return;
	}
	snip_arg[0] = HINT_C0;
	run(power_mwait, CTL_TRACE_OS | CTL_PWREVTEN);
	EXPECT_TRACE("power: MWAIT that asks for C0: the interrupt alone",
		     E_PGE(power_mwait_on), E_FUP(power_mwait_back), E_TIP(power_irq_handler),
		     E_TIP(power_mwait_back), E_FUP(power_mwait_off), E_PGD_NOIP);
}

static void test_mwait(u64 hint)
{
	const struct pkt *p;

	if (!(cpuid(1, 0).c & CPUID_FEATURE_ECX_MONITOR)) {
		skip("the processor has no MONITOR", "power: MWAIT");
		return;
	}
	snip_arg[0] = hint;
	run(power_mwait, CTL_TRACE_OS | CTL_PWREVTEN);
	p = trace_find(P_MWAIT, 0);
	is(p ? p->val : ~0ul, hint, "power: MWAIT: hints and extensions");
	ok(trace_find(P_PWRX, 0) &&
	   FIELD_GET(PWRX_WAKE_REASON, value_of(P_PWRX)) == WAKE_INTERRUPT,
	   "power: MWAIT: PWRX: woken by an interrupt");
	EXPECT_TRACE("power: MWAIT, PWRE, EXSTOP with FUP of MWAIT, PWRX, the interrupt",
		     E_PGE(power_mwait_on), E_MWAIT(hint), E_PWRE(value_of(P_PWRE)), E_EXSTOP(1),
		     E_FUP(power_mwait_insn), E_PWRX(value_of(P_PWRX)), E_FUP(power_mwait_back),
		     E_TIP(power_irq_handler), E_TIP(power_mwait_back), E_FUP(power_mwait_off),
		     E_PGD_NOIP);

	snip_arg[0] = hint;
	run(power_mwait, CTL_TRACE_USER | CTL_PWREVTEN);
	is(trace_count(P_MWAIT), 0, "power: MWAIT out of context: no MWAIT packet");
}

void test_power(void)
{
	if (!has(CAP_POWEREV))
		return;
	test_hlt();
	test_prefixes();
	test_mwait(HINT_C1);
	test_mwait(HINT_C6);
	test_mwait_c0();
	pt_reset();
}
