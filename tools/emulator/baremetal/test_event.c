// SPDX-License-Identifier: GPL-2.0-only
/* Event trace: CFE and EVD, and the interrupt flag in MODE.Exec. */
#include "pt.h"

#define INT_VECTOR	0x70
#define IRQ_VECTOR	0x72
#define CFE_INTR	1
#define CFE_IRET	2
#define EVD_CR2		0

snippet_fn far_int, far_ud2, far_pf, far_irq, far_nmi, event_flag,
	user_pf;
extern const u8 far_int_on[], far_int_off[], far_int_insn[], far_int_back[], far_iret[],
	far_ud2_on[], far_ud2_off[], far_ud2_insn[], far_ud2_back[], far_skip2_handler[],
	far_pf_on[], far_pf_off[], far_pf_insn[], far_pf_back[], far_pf_handler[],
	far_irq_on[], far_irq_off[], far_irq_back[], far_irq_handler[],
	event_flag_on[], event_flag_off[],
	user_pf_on[], user_pf_off[], user_pf_insn[], user_pf_handler[];

static void run(int vector, const u8 *handler, snippet_fn *fn, u64 ctl)
{
	gate_set(vector, handler, 0);
	snippet_run(fn, ctl | CTL_EVENTEN);
	gate_default(vector);
}

/*
 * The IP bit says whether a FUP follows. For IRET either is right: then the
 * bit and its FUP are taken away, so that the rest can be compared.
 */
static bool normalize_cfe(void)
{
	for (u32 i = 0; i < trace.n; i++) {
		struct pkt *p = &trace.pkt[i], *next = trace_next(p);

		if (p->type != P_CFE || !p->flag)
			continue;
		if (!next || next->type != P_FUP)
			return false;
		if (p->aux == CFE_IRET) {
			p->flag = 0;
			next->type = P_PAD;
		}
	}
	return true;
}

static void test_types(void)
{
	run(INT_VECTOR, far_iret, far_int, CTL_TRACE_OS);
	ok(normalize_cfe(), "event: INT n: the IP bit of CFE tells of a FUP");
	EXPECT_TRACE("event: INT n and IRET",
		     E_PGE(far_int_on), E_CFE(CFE_INTR, INT_VECTOR, 0), E_FUP(far_int_insn),
		     E_TIP(far_iret), E_CFE(CFE_IRET, 0, 0), E_TIP(far_int_back),
		     E_FUP(far_int_off), E_PGD_NOIP);

	run(VECTOR_UD, far_skip2_handler, far_ud2, CTL_TRACE_OS);
	ok(normalize_cfe(), "event: fault: the IP bit of CFE tells of a FUP");
	EXPECT_TRACE("event: a fault",
		     E_PGE(far_ud2_on), E_CFE(CFE_INTR, VECTOR_UD, 0), E_FUP(far_ud2_insn),
		     E_TIP(far_skip2_handler), E_CFE(CFE_IRET, 0, 0), E_TIP(far_ud2_back),
		     E_FUP(far_ud2_off), E_PGD_NOIP);

	run(VECTOR_PF, far_pf_handler, far_pf, CTL_TRACE_OS);
	ok(normalize_cfe(), "event: page fault: the IP bit of CFE tells of a FUP");
	EXPECT_TRACE("event: a page fault: EVD with its address comes first",
		     E_PGE(far_pf_on), E_EVD(EVD_CR2, UNMAPPED), E_CFE(CFE_INTR, VECTOR_PF, 0),
		     E_FUP(far_pf_insn), E_TIP(far_pf_handler), E_CFE(CFE_IRET, 0, 0),
		     E_TIP(far_pf_back), E_FUP(far_pf_off), E_PGD_NOIP);

	run(VECTOR_NMI, far_iret, far_nmi, CTL_TRACE_OS);
	ok(trace_find(P_CFE, 0) && trace_find(P_CFE, 0)->val == VECTOR_NMI &&
	   trace_find(P_CFE, 0)->aux == CFE_INTR, "event: NMI has vector 2");
}

/* What belongs to code that is not traced does not show (SDM 33.2.5.1). */
static void test_filtered_fault(void)
{
	gate_set(VECTOR_PF, user_pf_handler, DPL_USER);
	snippet_run(user_pf, CTL_TRACE_OS | CTL_USER | CTL_EVENTEN);
	ok(trace_find(P_EVD, 0) && trace_find(P_EVD, 0)->val == UNMAPPED,
	   "event: a page fault of user code: EVD with its address");
	snippet_run(user_pf, CTL_TRACE_OS | CTL_EVENTEN);
	is(trace_count(P_EVD), 0, "event: OS alone: a page fault of user code: no address");
	ok(trace_find(P_PGE, 1) && trace_find(P_PGE, 1)->val == (u64)user_pf_handler,
	   "event: OS alone: a page fault of user code: the handler is traced");
	gate_default(VECTOR_PF);
}

/* Where the interrupt flag changes, a MODE.Exec shows it. */
static bool flags_are(const char *want)
{
	u32 n = trace_count(P_MODE_EXEC), i = 0;

	/* Those before the first change repeat IF = 0. */
	while (i < n && !(trace_find(P_MODE_EXEC, i)->val & EXEC_IF))
		i++;
	for (; i < n && *want; i++, want++)
		if (!!(trace_find(P_MODE_EXEC, i)->val & EXEC_IF) != *want - '0')
			return false;
	return i == n && !*want;
}

static void test_interrupt_flag(void)
{
	run(INT_VECTOR, far_iret, event_flag, CTL_TRACE_OS);
	if (!ok(flags_are("101010"), "event: STI, CLI, POPF: MODE.Exec where IF changes"))
		trace_dump();

	snip_arg[0] = IRQ_VECTOR;
	run(IRQ_VECTOR, far_irq_handler, far_irq, CTL_TRACE_OS);
	if (!ok(flags_are("1010"), "event: interrupt and IRET: MODE.Exec where IF changes"))
		trace_dump();
	is(trace_find(P_CFE, 0) ? trace_find(P_CFE, 0)->val : 0, IRQ_VECTOR,
	   "event: interrupt: CFE has the vector");

	snippet_run(event_flag, CTL_TRACE_OS);
	EXPECT_TRACE("event: without EventEn IF changes nothing",
		     E_PGE(event_flag_on), E_FUP(event_flag_off), E_PGD_NOIP);
}

static void test_enables(void)
{
	gate_set(INT_VECTOR, far_iret, 0);
	snippet_run(far_int, CTL_TRACE_OS);
	ok(!trace_count(P_CFE) && !trace_count(P_EVD), "event: no CFE without EventEn");
	gate_default(INT_VECTOR);

	run(INT_VECTOR, far_iret, far_int, CTL_TRACEEN | CTL_OS);
	ok(normalize_cfe() && trace_count(P_CFE) == 2 && trace_count(P_TIP) == 0,
	   "event: BranchEn = 0: CFE without TIP");
	run(INT_VECTOR, far_iret, far_int, CTL_TRACE_USER);
	ok(!trace_count(P_FUP), "event: out of context: no IP is shown");
}

void test_event(void)
{
	if (!has(CAP_EVENT))
		return;
	test_types();
	test_filtered_fault();
	test_interrupt_flag();
	test_enables();
	pt_reset();
}
