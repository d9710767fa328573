// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adaptive PEBS (SDM volume 3, "Adaptive PEBS", "PEBS output to Intel Processor Trace"):
 * registers, what a record has, and where it goes. "adaptive=1" and "traced=1" on the
 * command line: the processor can compose records; it can write them to a trace.
 */
#include "perfmon.h"

#define MSR_RELOAD_FIXED_CTR(n)	(0x1309 + (n))
#define DEBUGCTL_LBR		BIT(0)

#define CAP_PEBS_FORMAT		GENMASK(11, 8)
#define CAP_PEBS_BASELINE	BIT(14)
#define CAP_PEBS_TRACE		BIT(16)

#define ENABLE_PMI_EACH		BIT(60)
#define ENABLE_TRACE		BIT(61)
#define FIXED_ADAPTIVE(n)	BIT(32 + 4 * (n))
#define STATUS_OVF_BUF		BIT(62)

#define CFG_MEMORY		BIT(0)
#define CFG_GPR			BIT(1)
#define CFG_XMM			BIT(2)
#define CFG_LBR			BIT(3)
#define CFG_LBRS(n)		((u64)((n) - 1) << 24)

/* What blocks are about */
enum { BLOCK_GPR = 0x01, BLOCK_BASIC = 0x04, BLOCK_MEMORY = 0x05, BLOCK_LBR = 0x08, BLOCK_XMM = 0x10 };
#define BASIC_IP		0
#define BASIC_COUNTERS		1
#define BASIC_TSC		2
#define GPR_FLAGS		0
#define GPR_IP			1
#define GPR(n)			(2 + (n))
#define REG_BX			3
#define REG_SP			4
#define LBRS_OF_BLOCK		10

#define PMI_VECTOR		0x58
#define USER_VECTOR		0x71
#define BUFFER			(ARENA + 0x10000)
#define FLAG_ZF			BIT(6)
/* No counter overflows again. */
#define FAR_AWAY		(counter_mask / 2)
#define BEFORE(n)		(counter_mask + 1 - (n))

snippet_fn pebs_code, pebs_code32, pebs_irq, pebs_user;
extern const u8 pebs_code_on[], pebs_code_off[], pebs_first[], pebs_second[], pebs_third[],
	pebs_after[], pebs_code32_on[], pebs_code32_off[], pebs_start32[], pebs_next32[],
	pebs_back64[], pebs_irq_on[], pebs_irq_off[], pebs_irq_place[], pebs_irq_handler[],
	pebs_user_start[], pebs_user_insn[], pebs_user_handler[];

/* A block of the basic group, and the end of the record where the next instruction is told. */
#define E_BASIC(ip, counters)	E_BBP(BLOCK_BASIC, 8), E_BIP(BASIC_IP, ip),	\
				E_BIP(BASIC_COUNTERS, counters), E_BIP_ANY(BASIC_TSC)
#define E_END(next)		E_BEP(1), E_FUP(next)

/* Counter 0 of taken branches or of instructions, about to overflow with the @n-th. */
static void count_on(u64 event, u64 n, u64 enable, u64 cfg)
{
	perfmon_reset();
	wrmsr(MSR_PEBS_DATA_CFG, cfg);
	if (enable & ENABLE_TRACE)
		wrmsr(MSR_RELOAD_PMC(0), FAR_AWAY);
	wrmsr(MSR_PEBS_ENABLE, GLOBAL_PMC(0) | enable);
	wrmsr(MSR_EVNTSEL(0), event | EVNTSEL_EN);
	wrmsr(MSR_PMC(0), (u32)-n);
	snip_arg[1] = GLOBAL_PMC(0);
}

static void count_off(void)
{
	wrmsr(MSR_PEBS_ENABLE, 0);
	wrmsr(MSR_PEBS_DATA_CFG, 0);
	perfmon_reset();
}

/* The @n-th taken branch of the sequence is the event. */
static void trace_nth(u64 n, u64 ctl, u64 cfg)
{
	count_on(EVENT_BRANCHES_TAKEN | EVNTSEL_OS | EVNTSEL_ADAPTIVE, n, ENABLE_TRACE, cfg);
	snippet_run(pebs_code, ctl);
}

static void test_registers(bool adaptive, bool traced)
{
	u64 caps = rdmsr(MSR_PERF_CAPABILITIES);

	is(FIELD_GET(CAP_PEBS_FORMAT, caps), adaptive ? 4 : 3, "pebs: format");
	is(!!(caps & CAP_PEBS_BASELINE), adaptive, "pebs: PERF_CAPABILITIES shows adaptive PEBS");
	is(!!(caps & CAP_PEBS_TRACE), traced, "pebs: PERF_CAPABILITIES shows output to a trace");

	is(wrmsr_safe(MSR_PEBS_ENABLE, GLOBAL_PMC(3)), 0, "pebs: PMC3 can have it");
	is(wrmsr_safe(MSR_PEBS_ENABLE, GLOBAL_PMC(counters - 1)), adaptive ? 0 : TRAPPED(VECTOR_GP),
	   "pebs: the last PMC");
	is(wrmsr_safe(MSR_PEBS_ENABLE, GLOBAL_FIXED(fixed - 1)), adaptive ? 0 : TRAPPED(VECTOR_GP),
	   "pebs: the last fixed counter");
	is(wrmsr_safe(MSR_PEBS_ENABLE, GLOBAL_PMC(counters)), TRAPPED(VECTOR_GP),
	   "pebs: a counter that is not there faults");
	is(wrmsr_safe(MSR_PEBS_ENABLE, ENABLE_TRACE), traced ? 0 : TRAPPED(VECTOR_GP),
	   "pebs: output to a trace");
	is(wrmsr_safe(MSR_PEBS_ENABLE, ENABLE_PMI_EACH), traced ? 0 : TRAPPED(VECTOR_GP),
	   "pebs: a PMI with each record");
	is(wrmsr_safe(MSR_PEBS_ENABLE, BIT(62)), TRAPPED(VECTOR_GP), "pebs: a reserved output faults");
	is(wrmsr_safe(MSR_EVNTSEL(0), EVNTSEL_ADAPTIVE), adaptive ? 0 : TRAPPED(VECTOR_GP),
	   "pebs: PERFEVTSEL0.Adaptive_Record");
	is(wrmsr_safe(MSR_FIXED_CTR_CTRL, FIXED_ADAPTIVE(fixed - 1)),
	   adaptive ? 0 : TRAPPED(VECTOR_GP), "pebs: FIXED_CTR_CTRL.Adaptive_Record");
	is(wrmsr_safe(MSR_FIXED_CTR_CTRL, FIXED_ADAPTIVE(fixed)), TRAPPED(VECTOR_GP),
	   "pebs: Adaptive_Record of an absent counter faults");
	wrmsr(MSR_PEBS_ENABLE, 0);
	perfmon_reset();
}

/* Registers that are not there at all on the other processors. */
static void test_config(void)
{
	u64 all = CFG_MEMORY | CFG_GPR | CFG_XMM | CFG_LBR | CFG_LBRS(256);

	is(wrmsr_safe(MSR_PEBS_DATA_CFG, all), 0, "pebs: PEBS_DATA_CFG takes its groups");
	is(rdmsr(MSR_PEBS_DATA_CFG), all, "pebs: PEBS_DATA_CFG keeps them");
	is(wrmsr_safe(MSR_PEBS_DATA_CFG, BIT(4)), TRAPPED(VECTOR_GP),
	   "pebs: a reserved bit of PEBS_DATA_CFG faults");
	wrmsr(MSR_PEBS_DATA_CFG, 0);
}

static void test_reload_registers(void)
{
	for (u32 n = 0; n < counters; n++)
		wrmsr(MSR_RELOAD_PMC(n), counter_mask - n);
	for (u32 n = 0; n < fixed; n++)
		wrmsr(MSR_RELOAD_FIXED_CTR(n), fixed_mask / 2 - n);
	for (u32 n = 0; n < counters; n++)
		is(rdmsr(MSR_RELOAD_PMC(n)), counter_mask - n, "pebs: RELOAD_PMC%u", n);
	for (u32 n = 0; n < fixed; n++)
		is(rdmsr(MSR_RELOAD_FIXED_CTR(n)), fixed_mask / 2 - n, "pebs: RELOAD_FIXED_CTR%u", n);
	is(wrmsr_safe(MSR_RELOAD_PMC(0), counter_mask + 1), TRAPPED(VECTOR_GP),
	   "pebs: RELOAD_PMC0 beyond the width faults");
	is(wrmsr_safe(MSR_RELOAD_FIXED_CTR(0), fixed_mask + 1), TRAPPED(VECTOR_GP),
	   "pebs: RELOAD_FIXED_CTR0 beyond the width faults");
}

/* Behind the packets of the branch, before those of the next one. */
static void test_order(void)
{
	u64 before = rdtsc(), after;
	const struct pkt *tsc;

	trace_nth(1, CTL_TRACE_OS, 0);
	after = rdtsc();
	EXPECT_TRACE("pebs: a record behind the TNT of its branch",
		     E_PGE(pebs_code_on), E_TNT("T"), E_BASIC(pebs_first, GLOBAL_PMC(0)),
		     E_END(pebs_second), E_TIP(pebs_third), E_FUP(pebs_code_off), E_PGD_NOIP);
	tsc = trace_find(P_BIP, BASIC_TSC);
	ok(tsc && tsc->val >= before && tsc->val <= after, "pebs: with the time stamp");
	trace_nth(2, CTL_TRACE_OS, 0);
	EXPECT_TRACE("pebs: a record behind the TIP of its branch",
		     E_PGE(pebs_code_on), E_TNT("T"), E_TIP(pebs_third),
		     E_BASIC(pebs_second, GLOBAL_PMC(0)), E_END(pebs_third),
		     E_FUP(pebs_code_off), E_PGD_NOIP);
	trace_nth(3, CTL_TRACE_OS, 0);
	EXPECT_TRACE("pebs: a record of a direct jump",
		     E_PGE(pebs_code_on), E_TNT("T"), E_TIP(pebs_third),
		     E_BASIC(pebs_third, GLOBAL_PMC(0)), E_END(pebs_after),
		     E_FUP(pebs_code_off), E_PGD_NOIP);
	trace_nth(4, CTL_TRACE_OS, 0);
	EXPECT_TRACE("pebs: no record before the overflow",
		     E_PGE(pebs_code_on), E_TNT("T"), E_TIP(pebs_third), E_FUP(pebs_code_off),
		     E_PGD_NOIP);
}

static void test_context(void)
{
	trace_nth(2, CTL_TRACEEN | CTL_OS, 0);
	EXPECT_TRACE("pebs: without BranchEn a record has its IP",
		     E_BASIC(pebs_second, GLOBAL_PMC(0)), E_END(pebs_third));
	trace_nth(2, CTL_TRACE_USER, 0);
	EXPECT_TRACE("pebs: without ContextEn a record has no FUP",
		     E_BASIC(pebs_second, GLOBAL_PMC(0)), E_BEP(0));
	gate_set(USER_VECTOR, pebs_user_handler, DPL_USER);
	count_on(EVENT_BRANCHES_TAKEN | EVNTSEL_USR, 1, ENABLE_TRACE, 0);
	snippet_run(pebs_user, CTL_TRACE_USER);
	gate_default(USER_VECTOR);
	EXPECT_TRACE("pebs: a record of user code, counted and traced alone",
		     E_PGE(pebs_user_start), E_BASIC(pebs_user_start, GLOBAL_PMC(0)),
		     E_END(pebs_user_insn), E_FUP(pebs_user_insn), E_PGD_NOIP);
}

/* @n items from packet @first on are numbered and have @bytes. */
static bool items(u32 first, u32 n, u32 bytes)
{
	for (u32 i = 0; i < n; i++) {
		const struct pkt *p = &trace.pkt[first + i];

		if (first + i >= trace.n || p->type != P_BIP || p->aux != i || p->len != 1 + bytes)
			return false;
	}
	return first + n < trace.n && trace.pkt[first + n].type != P_BIP;
}

/* The items of the one block about @type, which are @n of @bytes; NULL: that is not so. */
static const struct pkt *block(u32 type, u32 n, u32 bytes, const char *name)
{
	u32 found = 0, at = 0;

	for (u32 i = 0; i < trace.n; i++)
		if (trace.pkt[i].type == P_BBP && trace.pkt[i].val == type) {
			at = i;
			found++;
		}
	if (!ok(found == 1 && trace.pkt[at].aux == bytes && items(at + 1, n, bytes), "pebs: %s", name)) {
		trace_dump();
		return NULL;
	}
	return &trace.pkt[at + 1];
}

/* What REGISTERS of trace_pebs.S gives the @n-th. */
static u64 pattern(u32 n)
{
	return (u64)n << 56 | n;
}

static void test_gpr(void)
{
	const struct pkt *p;
	bool same = true;

	trace_nth(1, CTL_TRACE_OS, CFG_GPR);
	is(trace_count(P_BBP), 2, "pebs: general registers: that and the basics");
	p = block(BLOCK_GPR, 18, 8, "18 general registers");
	if (!p)
		return;
	is(p[GPR_IP].val, (u64)pebs_second, "pebs: RIP is the next instruction's");
	ok(p[GPR_FLAGS].val & FLAG_ZF, "pebs: RFLAGS are those after the event");
	ok(p[GPR(0)].val == 0x11 && p[GPR(1)].val == 0x22 && p[GPR(2)].val == 0x33,
	   "pebs: RAX, RCX, RDX");
	for (u32 n = REG_BX; n < 16; n++)
		if (n != REG_SP && n != 12)
			same = same && p[GPR(n)].val == pattern(n);
	ok(same && p[GPR(12)].val == (u64)pebs_third, "pebs: RBX, and RBP to R15");
}

static void test_code32(void)
{
	const struct pkt *p;

	count_on(EVENT_BRANCHES_TAKEN | EVNTSEL_OS | EVNTSEL_ADAPTIVE, 1, ENABLE_TRACE, CFG_GPR);
	snippet_run(pebs_code32, CTL_TRACE_OS);
	p = block(BLOCK_GPR, 10, 4, "32-bit code: 10 registers of four bytes");
	if (p)
		ok(p[GPR_IP].val == (u64)pebs_next32 && p[GPR(REG_BX)].val == 3,
		   "pebs: 32-bit code: EIP and the low half of a register");
	p = block(BLOCK_BASIC, 3, 8, "32-bit code: the basics have eight bytes");
	if (p)
		is(p[BASIC_IP].val, (u64)pebs_start32, "pebs: 32-bit code: IP");
}

static void test_groups(void)
{
	const struct pkt *p;

	trace_nth(1, CTL_TRACE_OS, CFG_MEMORY | CFG_XMM);
	p = block(BLOCK_MEMORY, 4, 8, "four words of the memory access");
	p = block(BLOCK_XMM, 32, 8, "XMM registers, by halves");
	if (p)
		ok(p[2].val == pattern(15) && p[3].val == pattern(14) && p[30].val == pattern(13) &&
		   p[31].val == pattern(11), "pebs: XMM1 and XMM15");
	count_on(EVENT_BRANCHES_TAKEN | EVNTSEL_OS, 1, ENABLE_TRACE, CFG_GPR | CFG_XMM);
	snippet_run(pebs_code, CTL_TRACE_OS);
	is(trace_count(P_BBP), 1, "pebs: the basics alone without Adaptive_Record");
}

static void test_last_branches(void)
{
	const struct pkt *p;

	wrmsr(MSR_DEBUGCTL, DEBUGCTL_LBR);
	trace_nth(3, CTL_TRACE_OS, CFG_LBR | CFG_LBRS(3));
	p = block(BLOCK_LBR, 9, 8, "three last branch records");
	if (p)
		ok(p[0].val == (u64)pebs_third && p[1].val == (u64)pebs_after &&
		   p[3].val == (u64)pebs_second && p[4].val == (u64)pebs_third &&
		   p[6].val == (u64)pebs_first && p[7].val == (u64)pebs_second,
		   "pebs: they are the branches, the newest first");
	trace_nth(1, CTL_TRACE_OS, CFG_LBR | CFG_LBRS(LBRS_OF_BLOCK + 1));
	block(BLOCK_LBR, 3 * LBRS_OF_BLOCK, 8, "eleven last branch records: a block of ten");
	block(BLOCK_LBR + 1, 3, 8, "eleven last branch records: and one of one");
	wrmsr(MSR_DEBUGCTL, 0);
}

/* Each record reloads the counter, and interrupts where that is asked for. */
static void test_reload(void)
{
	u32 before = irq_count[PMI_VECTOR];

	count_on(EVENT_BRANCHES_TAKEN | EVNTSEL_OS, 1, ENABLE_TRACE, 0);
	wrmsr(MSR_RELOAD_PMC(0), BEFORE(2));
	lapic_set_lvtpc(PMI_VECTOR);
	snippet_run(pebs_code, CTL_TRACEEN | CTL_OS);
	sti_nop_cli();
	EXPECT_TRACE("pebs: the counter is reloaded: the first and the third branch",
		     E_BASIC(pebs_first, GLOBAL_PMC(0)), E_END(pebs_second),
		     E_BASIC(pebs_third, GLOBAL_PMC(0)), E_END(pebs_after));
	is(rdmsr(MSR_PMC(0)), BEFORE(2), "pebs: the counter has the value of RELOAD_PMC0");
	ok(irq_count[PMI_VECTOR] == before && !rdmsr(MSR_PERF_GLOBAL_STATUS),
	   "pebs: no PMI, and no status");

	count_on(EVENT_BRANCHES_TAKEN | EVNTSEL_OS, 1, ENABLE_TRACE | ENABLE_PMI_EACH, 0);
	snippet_run(pebs_code, CTL_TRACEEN | CTL_OS);
	sti_nop_cli();
	is(irq_count[PMI_VECTOR], before + 1, "pebs: a PMI with each record, where asked for");
	is(rdmsr(MSR_PERF_GLOBAL_STATUS), STATUS_OVF_BUF, "pebs: GLOBAL_STATUS.OvfBuf tells it");

	before = irq_count[PMI_VECTOR];
	lapic_set_lvtpc(PMI_VECTOR);
	count_on(EVENT_BRANCHES_TAKEN | EVNTSEL_OS, 1, ENABLE_TRACE | ENABLE_PMI_EACH, 0);
	wrmsr(MSR_RELOAD_PMC(0), BEFORE(1000));
	snippet_run(pebs_code, CTL_OS);
	sti_nop_cli();
	ok(!trace.n && rdmsr(MSR_PMC(0)) == BEFORE(998) && irq_count[PMI_VECTOR] == before,
	   "pebs: without TraceEn no record, no PMI; the counter is reloaded");
	lapic_set_lvtpc(LAPIC_LVT_MASKED);
}

static void test_fixed(void)
{
	perfmon_reset();
	wrmsr(MSR_RELOAD_FIXED_CTR(0), FAR_AWAY);
	wrmsr(MSR_PEBS_ENABLE, GLOBAL_FIXED(0) | ENABLE_TRACE);
	wrmsr(MSR_FIXED_CTR_CTRL, FIXED_CTRL(0, FIXED_OS));
	wrmsr(MSR_FIXED_CTR(0), fixed_mask);
	snip_arg[1] = GLOBAL_FIXED(0);
	snippet_run(pebs_code, CTL_TRACEEN | CTL_OS);
	is(trace_count(P_BEP), 1, "pebs: one record of a fixed counter");
	ok(trace_find(P_BIP, BASIC_COUNTERS) &&
	   trace_find(P_BIP, BASIC_COUNTERS)->val == GLOBAL_FIXED(0),
	   "pebs: the record tells the fixed counter");
	ok(rdmsr(MSR_FIXED_CTR(0)) - FAR_AWAY < 100, "pebs: RELOAD_FIXED_CTR0 reloads it");
}

/* What is due with the instruction before an interrupt comes before the interrupt's packets. */
static void test_interrupt(void)
{
	const struct pkt *first = NULL;

	gate_set(USER_VECTOR, pebs_irq_handler, 0);
	for (u32 n = 1; n < 10 && !(first && first->val == (u64)pebs_irq_place); n++) {
		count_on(EVENT_INSTRUCTIONS | EVNTSEL_OS, n, ENABLE_TRACE, 0);
		lapic_self_ipi(USER_VECTOR);
		snippet_run(pebs_irq, CTL_TRACE_OS);
		lapic_eoi();
		first = trace_find(P_BEP, 0) ? trace_find(P_FUP, 0) : NULL;
	}
	gate_default(USER_VECTOR);
	EXPECT_TRACE("pebs: a record, then the interrupt behind it",
		     E_PGE(pebs_irq_on), E_BASIC(pebs_irq_place, GLOBAL_PMC(0)),
		     E_END(pebs_irq_place), E_FUP(pebs_irq_place), E_TIP(pebs_irq_handler),
		     E_FUP(pebs_irq_off), E_PGD_NOIP);
}

/* Records in memory; returns where the next would be. */
static u64 store(u64 cfg, u64 maximum)
{
	struct debug_store *ds = DEBUG_STORE;

	memset(ds, 0, sizeof(*ds));
	memset((void *)BUFFER, OUTPUT_POISON, PAGE);
	ds->base = ds->index = BUFFER;
	ds->maximum = BUFFER + maximum;
	ds->threshold = ds->maximum;
	ds->reset[0] = FAR_AWAY;
	wrmsr(MSR_DS_AREA, (u64)ds);
	count_on(EVENT_BRANCHES_TAKEN | EVNTSEL_OS | EVNTSEL_ADAPTIVE, 1, 0, cfg);
	snip_ctl_on = 0;
	snip_ctl_off = 0;
	pebs_code();
	wrmsr(MSR_DS_AREA, 0);
	return ds->index - BUFFER;
}

static void test_memory(void)
{
	const u64 *word = (const u64 *)BUFFER;
	u64 all = CFG_MEMORY | CFG_GPR | CFG_XMM | CFG_LBR | CFG_LBRS(2);

	is(store(0, PAGE), 4 * 8, "pebs: in memory, the basics have four words");
	ok(word[0] == (u64)32 << 48 && word[1] == (u64)pebs_first && word[2] == GLOBAL_PMC(0),
	   "pebs: in memory: size, IP, counters");
	is(rdmsr(MSR_PMC(0)), FAR_AWAY + 2, "pebs: in memory: the counter is reloaded from there");
	wrmsr(MSR_DEBUGCTL, DEBUGCTL_LBR);
	is(store(all, PAGE), 64 * 8, "pebs: in memory, all groups");
	wrmsr(MSR_DEBUGCTL, 0);
	is(word[0], (u64)512 << 48 | all, "pebs: in memory: the size and the groups");
	ok(!(word[4] | word[5] | word[6] | word[7]) && word[9] == (u64)pebs_second &&
	   word[13] == pattern(3) && word[28] == pattern(15) && word[58] == (u64)pebs_first &&
	   word[59] == (u64)pebs_second,
	   "pebs: in memory: memory access, registers, XMM, last branches in this order");
	is(store(CFG_GPR, 4 * 8), 0, "pebs: in memory: no room, no record");
	is(rdmsr(MSR_PMC(0)), counter_mask, "pebs: in memory: the counter waits for room");
	count_off();
}

void test_pebs(void)
{
	bool adaptive = cmdline_num("adaptive", 0), traced = cmdline_num("traced", 0);

	if (perfmon_init() < 2 || rdmsr(MSR_MISC_ENABLE) & MISC_NO_PEBS) {
		ok(!adaptive, "pebs: there is none");
		return;
	}
	test_registers(adaptive, traced);
	if (adaptive)
		test_config();
	if (traced) {
		test_reload_registers();
		test_order();
		test_context();
		test_gpr();
		test_code32();
		test_groups();
		test_last_branches();
		test_reload();
		test_fixed();
		test_interrupt();
		count_off();
	}
	if (adaptive)
		test_memory();
}
