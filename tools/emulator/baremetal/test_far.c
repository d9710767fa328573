// SPDX-License-Identifier: GPL-2.0-only
/* Far transfers within ring 0: FUP only where the source is not in the binary. */
#include "pt.h"

#define INT_VECTOR	0x70
#define IRQ_VECTOR	0x72

snippet_fn far_int1,
	far_int, far_int3, far_ud2, far_pf, far_pf_target, far_rep_fault, far_single_step,
	far_irq, far_nmi, far_jmp, far_call, far_call_gate, far_cr3, far_cr3_order,
	far_non_canonical, far_wrmsr_fault;
extern const u8 far_int1_on[], far_int1_off[], far_int1_insn[], far_int1_back[],
	far_wrmsr_fault_on[], far_wrmsr_fault_off[], far_wrmsr_fault_insn[],
	far_wrmsr_fault_back[],
	far_int_on[], far_int_off[], far_int_insn[], far_int_back[], far_iret[],
	far_int3_on[], far_int3_off[], far_int3_insn[], far_int3_back[],
	far_ud2_on[], far_ud2_off[], far_ud2_insn[], far_ud2_back[], far_skip2_handler[],
	far_pf_on[], far_pf_off[], far_pf_insn[], far_pf_back[], far_pf_handler[],
	far_pf_target_on[], far_pf_target_off[], far_pf_target_back[], far_pf_target_handler[],
	far_rep_fault_on[], far_rep_fault_off[], far_rep_insn[], far_rep_handler[],
	far_single_step_on[], far_single_step_off[], far_single_step_back[],
	far_single_step_handler[], far_irq_on[], far_irq_off[], far_irq_back[], far_irq_handler[],
	far_nmi_on[], far_nmi_off[], far_nmi_first[], far_nmi_last[],
	far_jmp_on[], far_jmp_off[], far_jmp_target[],
	far_call_on[], far_call_off[], far_call_back[], far_call_target[],
	far_call_gate_on[], far_call_gate_off[], far_call_gate_back[],
	far_cr3_on[], far_cr3_off[], far_cr3_order_on[], far_cr3_order_off[],
	far_non_canonical_on[], far_non_canonical_off[], far_non_canonical_back[],
	far_non_canonical_handler[], pml4_other[];

static void run_with_gate(int vector, const u8 *handler, snippet_fn *fn)
{
	gate_set(vector, handler, 0);
	snippet_run(fn, CTL_TRACE_OS);
	gate_default(vector);
}

/* An event at @at in the sequence @snippet, whose handler comes back to _back. */
#define EVENT(what, vector, handler, snippet, at) \
	{ what, vector, handler, snippet, snippet##_on, at, snippet##_back, snippet##_off }

static const struct {
	const char *what;
	int vector;
	const u8 *handler;
	snippet_fn *fn;
	const u8 *on, *at, *back, *off;
} events[] = {
	EVENT("far: INT n: FUP of the instruction, TIP; IRET: TIP",
	      INT_VECTOR, far_iret, far_int, far_int_insn),
	EVENT("far: INT3: FUP of the instruction, TIP",
	      VECTOR_BP, far_iret, far_int3, far_int3_insn),
	EVENT("far: INT1: FUP of the instruction, TIP",
	      VECTOR_DB, far_iret, far_int1, far_int1_insn),
	EVENT("far: fault (#UD): FUP of the instruction, TIP",
	      VECTOR_UD, far_skip2_handler, far_ud2, far_ud2_insn),
	EVENT("far: page fault: FUP of the instruction, TIP",
	      VECTOR_PF, far_pf_handler, far_pf, far_pf_insn),
	EVENT("far: trap (single step): FUP of the next instruction",
	      VECTOR_DB, far_single_step_handler, far_single_step, far_single_step_back),
	EVENT("far: interrupt: FUP of the next instruction, TIP",
	      IRQ_VECTOR, far_irq_handler, far_irq, far_irq_back),
};

static void test_events(void)
{
	snip_arg[0] = IRQ_VECTOR;	/* what far_irq asks for */
	for (u32 i = 0; i < ARRAY_SIZE(events); i++) {
		run_with_gate(events[i].vector, events[i].handler, events[i].fn);
		EXPECT_TRACE(events[i].what, E_PGE(events[i].on), E_FUP(events[i].at),
			     E_TIP(events[i].handler), E_TIP(events[i].back),
			     E_FUP(events[i].off), E_PGD_NOIP);
	}
}

static void test_exceptions(void)
{
	run_with_gate(VECTOR_GP, far_pf_handler, far_wrmsr_fault);
	EXPECT_TRACE("far: a refused WRMSR to CTL faults, and tracing goes on",
		     E_PGE(far_wrmsr_fault_on), E_FUP(far_wrmsr_fault_insn), E_TIP(far_pf_handler),
		     E_TIP(far_wrmsr_fault_back), E_TNT("T"), E_FUP(far_wrmsr_fault_off),
		     E_PGD_NOIP);

	run_with_gate(VECTOR_PF, far_pf_target_handler, far_pf_target);
	EXPECT_TRACE("far: page fault at the target of a jump: TIP and FUP of the target",
		     E_PGE(far_pf_target_on), E_TIP(UNMAPPED), E_FUP(UNMAPPED),
		     E_TIP(far_pf_target_handler), E_TIP(far_pf_target_back),
		     E_FUP(far_pf_target_off), E_PGD_NOIP);

	run_with_gate(VECTOR_PF, far_rep_handler, far_rep_fault);
	is(snip_arg[0], 16, "far: REP STOSB faults after half of its rounds");
	EXPECT_TRACE("far: fault in the middle of REP: FUP of the string instruction",
		     E_PGE(far_rep_fault_on), E_FUP(far_rep_insn), E_TIP(far_rep_handler),
		     E_TIP(far_rep_insn), E_FUP(far_rep_fault_off), E_PGD_NOIP);
}

/* The one FUP whose payload cannot be compressed by sign extension. */
static void test_non_canonical(void)
{
	const struct pkt *p;

	*(u8 *)(CANON_EDGE_PHYS + 0x1fffff) = 0x90;	/* nop */
	run_with_gate(VECTOR_GP, far_non_canonical_handler, far_non_canonical);
	EXPECT_TRACE("far: running into the canonical hole: FUP with the fault's IP",
		     E_PGE(far_non_canonical_on), E_TIP(CANON_EDGE - 1), E_FUP(CANON_EDGE),
		     E_TIP(far_non_canonical_handler), E_TIP(far_non_canonical_back),
		     E_FUP(far_non_canonical_off), E_PGD_NOIP);
	p = trace_find(P_FUP, trace_count(P_FUP) - 2);
	ok(p && (p->ip_bytes == IPBYTES_64 || p->ip_bytes == IPBYTES_48),
	   "far: a non-canonical IP is not sent sign-extended");
}

static void test_nmi(void)
{
	const struct pkt *fup;

	run_with_gate(VECTOR_NMI, far_iret, far_nmi);
	fup = trace.pkt;
	while (fup < trace.pkt + trace.n && (fup->type != P_FUP || fup->in_psb))
		fup++;
	fup = fup < trace.pkt + trace.n ? fup : NULL;
	ok(fup && fup->val >= (u64)far_nmi_first && fup->val <= (u64)far_nmi_last,
	   "far: NMI: FUP behind the instruction that asked for it");
	EXPECT_TRACE("far: NMI: FUP, TIP, and TIP of IRET back to the same place",
		     E_PGE(far_nmi_on), E_FUP(fup ? fup->val : 0), E_TIP(far_iret),
		     E_TIP(fup ? fup->val : 0), E_FUP(far_nmi_off), E_PGD_NOIP);
}

static void test_branches(void)
{
	snippet_run(far_jmp, CTL_TRACE_OS);
	EXPECT_TRACE("far: JMP m16:64: TIP alone", E_PGE(far_jmp_on), E_TIP(far_jmp_target),
		     E_FUP(far_jmp_off), E_PGD_NOIP);

	snippet_run(far_call, CTL_TRACE_OS);
	EXPECT_TRACE("far: CALL and RET: TIPs, never compressed",
		     E_PGE(far_call_on), E_TIP(far_call_target), E_TIP(far_call_back),
		     E_FUP(far_call_off), E_PGD_NOIP);

	call_gate_set(far_call_target);
	snippet_run(far_call_gate, CTL_TRACE_OS);
	EXPECT_TRACE("far: CALL through a gate: TIP",
		     E_PGE(far_call_gate_on), E_TIP(far_call_target), E_TIP(far_call_gate_back),
		     E_FUP(far_call_gate_off), E_PGD_NOIP);
}

static void test_cr3(void)
{
	u64 cr3 = read_cr3();

	snippet_run(far_cr3, CTL_TRACE_OS);
	EXPECT_TRACE("far: MOV CR3: PIP with the new value, the same value too",
		     E_PGE(far_cr3_on), E_PIP((u64)pml4_other), E_PIP(cr3), E_PIP(cr3),
		     E_FUP(far_cr3_off), E_PGD_NOIP);

	snippet_run(far_cr3_order, CTL_TRACE_OS);
	EXPECT_TRACE("far: MOV CR3: TNT before PIP keeps its place",
		     E_PGE(far_cr3_order_on), E_TNT("T"), E_PIP(cr3), E_TNT("N"), E_PIP(cr3),
		     E_FUP(far_cr3_order_off), E_PGD_NOIP);
}

void test_far(void)
{
	test_events();
	test_exceptions();
	test_non_canonical();
	test_nmi();
	test_branches();
	test_cr3();
	pt_reset();
}
