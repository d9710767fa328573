// SPDX-License-Identifier: GPL-2.0-only
/* Power event trace: HLT and MWAIT with PwrEvtEn. */
#include "pt.h"

#define TIMER_VECTOR	0x73
#define TIMER_TICKS	2000000
/* Half of a sleep, where a crystal tick has a hundred TSC ticks. */
#define SLEEP_TSC	(TIMER_TICKS * 50ul)
#define HINT_C1		0x00
#define HINT_C6		0x21
#define HINT_C0		0xf0
#define HINT_STATE	GENMASK(7, 4)
#define HINT_SUBSTATE	GENMASK(3, 0)

#define PWRE_HW			BIT(7)
#define PWRE_STATE		GENMASK(15, 12)
#define PWRE_SUBSTATE		GENMASK(11, 8)
#define PWRX_LAST		GENMASK(7, 4)
#define PWRX_DEEPEST		GENMASK(3, 0)
#define PWRX_WAKE_REASON	GENMASK(11, 8)
#define WAKE_INTERRUPT		BIT(0)

snippet_fn power_hlt, power_prefixed, power_mwait;
extern const u8 power_hlt_on[], power_hlt_off[], power_hlt_insn[], power_hlt_back[],
	power_prefixed_on[], power_prefixed_off[], power_prefixed_insn[],
	power_prefixed_back[],
	power_mwait_on[], power_mwait_off[], power_mwait_insn[], power_mwait_back[],
	power_irq_handler[];

static void run_prepared(snippet_fn *fn, u64 ctl)
{
	gate_set(TIMER_VECTOR, power_irq_handler, 0);
	lapic_timer(TIMER_VECTOR, TIMER_TICKS);
	snippet_run_prepared(fn, ctl);
	lapic_timer(0, 0);
	gate_default(TIMER_VECTOR);
}

static void run(snippet_fn *fn, u64 ctl)
{
	pt_output_setup();
	run_prepared(fn, ctl);
}

static u64 value_of(int type)
{
	const struct pkt *p = trace_find(type, 0);

	return p ? p->val : ~0ul;
}

/* SDM 33.4.2.24, 33.4.2.25: the states are those of MWAIT hints, in which C1 is 0. */
static void check_states(const char *name, u64 hint)
{
	u64 pwre = value_of(P_PWRE), pwrx = value_of(P_PWRX);
	u64 state = FIELD_GET(HINT_STATE, hint);

	ok(trace_find(P_PWRE, 0) && !(pwre & PWRE_HW), "power: %s: PWRE: by software", name);
	is(FIELD_GET(PWRE_STATE, pwre), state, "power: %s: PWRE: the C-state", name);
	is(FIELD_GET(PWRE_SUBSTATE, pwre), FIELD_GET(HINT_SUBSTATE, hint),
	   "power: %s: PWRE: the sub-state", name);
	ok(trace_find(P_PWRX, 0) && FIELD_GET(PWRX_WAKE_REASON, pwrx) == WAKE_INTERRUPT,
	   "power: %s: PWRX: woken by an interrupt", name);
	ok(FIELD_GET(PWRX_LAST, pwrx) == state && FIELD_GET(PWRX_DEEPEST, pwrx) == state,
	   "power: %s: PWRX: the last and the deepest C-state", name);
}

static void test_hlt(void)
{
	run(power_hlt, CTL_TRACE_OS | CTL_PWREVTEN);
	check_states("HLT", HINT_C1);
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

/* SDM 33.4.2.22: the IP of EXSTOP depends on ContextEn alone. */
static void test_outside(void)
{
	pt_output_setup();
	run_prepared(power_hlt, CTL_TRACE_OS | CTL_PWREVTEN |
		     pt_range_set(0, power_mwait_on, power_mwait_off, ADDR_CFG_FILTER));
	EXPECT_TRACE("power: HLT outside of the IP ranges: EXSTOP has an IP",
		     E_PWRE(value_of(P_PWRE)), E_EXSTOP(1), E_FUP(power_hlt_insn),
		     E_PWRX(value_of(P_PWRX)));
}

static u64 cycles_before(const struct pkt *end)
{
	u64 sum = 0;

	for (const struct pkt *p = trace.pkt; p < end; p++)
		sum += p->type == P_CYC ? p->val : 0;
	return sum;
}

/*
 * SDM 33.7: a processor that wakes from a C-state sends the time, by TSC, TMA and
 * CBR; then comes PWRX. The cycle counter stood still.
 */
static void test_wake(u64 power)
{
	const char *name = power ? "with PwrEvtEn" : "without PwrEvtEn";
	u64 timing = CTL_TSCEN | (has(CAP_PSBCYC) ? CTL_CYCEN : 0);
	const struct pkt *first, *p;

	/* The longest period, so that no PSB is due. */
	if (has(CAP_MTC))
		timing |= CTL_MTCEN |
			  FIELD_PREP(CTL_MTCFREQ, 31 - __builtin_clz(caps.mtc_periods));
	run(power_hlt, CTL_TRACE_OS | timing | power);
	first = trace_find(P_TSC, 0);
	/* A slow host's processor may be told the time now and then, too. */
	for (u32 i = 1; (p = trace_find(P_TSC, i)); i++)
		if (!p->in_psb && p->val - first->val >= SLEEP_TSC)
			break;
	if (!ok(p, "power: wake %s: TSC", name)) {
		trace_dump();
		return;
	}
	if (has(CAP_PSBCYC))
		ok(cycles_before(p) < (p->val - first->val) / 2,
		   "power: wake %s: CYC does not count sleep", name);
	if (has(CAP_MTC))
		is((++p)->type, P_TMA, "power: wake %s: TMA follows", name);
	is((++p)->type, P_CBR, "power: wake %s: CBR follows", name);
	while ((++p)->type == P_CYC || p->type == P_MTC || p->type == P_TSC || p->type == P_TMA)
		;
	is(p->type, power ? P_PWRX : P_FUP, "power: wake %s: then what woke it", name);
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
	check_states("MWAIT", hint);
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
	test_wake(0);
	if (!has(CAP_POWEREV))
		return;
	test_wake(CTL_PWREVTEN);
	test_hlt();
	if (caps.ranges)
		test_outside();
	test_prefixes();
	test_mwait(HINT_C1);
	test_mwait(HINT_C6);
	test_mwait_c0();
	pt_reset();
}
