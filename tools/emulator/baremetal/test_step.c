// SPDX-License-Identifier: GPL-2.0-only
/*
 * Steps from branch to branch (SDM, "Single-Stepping on Branches"): with DEBUGCTL.BTF the trap
 * flag traps behind taken branches only, and each debug exception clears BTF. Where DEBUGCTL
 * says so, the same branches go to the debug store. And what interrupts and faults do to
 * breakpoints: the flag RF.
 */
#include "pt.h"
#include "step.h"

#define DEBUGCTL_LBR		BIT(0)
#define DEBUGCTL_BTF		BIT(1)
#define DEBUGCTL_TR		BIT(6)
#define DEBUGCTL_BTS		BIT(7)
#define BTS			(DEBUGCTL_TR | DEBUGCTL_BTS)
/* What a debug exception clears */
#define UNTIL_DB		(DEBUGCTL_LBR | DEBUGCTL_BTF)

#define DR6_REASONS		(GENMASK(3, 0) | GENMASK(15, 13))
#define DR6_B(n)		BIT(n)
#define DR6_BS			BIT(14)
#define DR7_ENABLE(n)		BIT(2 * (n))
#define DR7_WRITES(n)		BIT(16 + 4 * (n))

#define EFLAGS_TF		BIT(8)
#define EFLAGS_RF		BIT(16)

#define IRQ_VECTOR		0x58
#define TIMER_TICKS		100000

#define BTS_AREA		ARENA
#define BTS_BUFFER		(ARENA + 0x10000)
#define BTS_RECORDS		256

struct log {
	u64 ip, debugctl, dr6;
};

struct record {
	u64 from, to, flags;
};

snippet_fn step_kinds, step_iret, step_user, step_user32, step_syscall, step_sysenter, step_fault,
	step_hlt, step_late, step_break, step_data, step_smi, step_irq, step_irq_rf, step_nmi,
	step_ud;
extern const u8 step_handler[], step_handler_iret[], step_kinds_before[], step_kinds_ready[],
	step_0[], step_1[], step_2[], step_3[], step_4[], step_5[], step_6[], step_7[],
	step_8[], step_9[], step_10[], step_11[], step_12[], step_13[], step_14[], step_15[],
	step_16[], step_17[], step_18[], step_19[], step_20[], step_leaf[], step_iret_first[],
	step_iret_second[], step_iret_third[], step_user_target[], step_user_handler[],
	step_user32_leaf[], step_user32_back[], step_user32_jecxz[], step_user32_next[],
	step_user32_far[], step_syscall_entry[], step_syscall_next[], step_syscall_back[],
	step_sysenter_entry[], step_sysenter_back[], step_fault_handler[], step_hlt_insn[],
	step_hlt_after[], step_hlt_target[], step_late_target[], step_break_insn[],
	step_break_int1[], step_data_after[], step_data_target[], step_smi_target[],
	step_irq_insn[], step_irq_rf_insn[], step_irq_handler[], step_nmi_handler[],
	step_ud_insn[], step_ud_handler[];
extern const struct log step_log[STEP_LOG];
extern volatile u32 step_count;
extern volatile u64 step_again;
extern volatile struct { u64 ip, eflags; } step_frame;
extern u8 step_bytes[];

/* What follows what in step_kinds, in order; @from: where the taken branch is, or NULL. */
static const struct step {
	const u8 *from, *ip;
} kinds[] = {
	{ step_0, step_1 }, { NULL, step_2 }, { step_2, step_3 }, { NULL, step_4 },
	{ NULL, step_5 }, { step_5, step_6 }, { step_6, step_leaf }, { step_leaf, step_7 },
	{ step_7, step_8 }, { step_8, step_leaf }, { step_leaf, step_9 }, { NULL, step_10 },
	{ step_10, step_10 }, { NULL, step_11 }, { step_11, step_12 }, { NULL, step_13 },
	{ NULL, step_14 }, { step_14, step_15 }, { step_15, step_16 }, { step_16, step_17 },
	{ NULL, step_18 }, { NULL, step_19 }, { NULL, step_20 },
};
#define KINDS			ARRAY_SIZE(kinds)

static const u8 *targets[KINDS];
static u32 nr_targets;
/* DEBUGCTL at the end of a sequence */
static u64 left;

/* Runs @fn with DEBUGCTL @on, which the handler sets to @again with each step. */
static void run(snippet_fn *fn, u64 on, u64 again)
{
	step_count = 0;
	step_again = again;
	snip_arg[1] = on;
	gate_set(VECTOR_DB, step_handler, 0);
	fn();
	left = rdmsr(MSR_DEBUGCTL);
	wrmsr(MSR_DEBUGCTL, 0);
	gate_default(VECTOR_DB);
}

static void show(void)
{
	for (u32 i = 0; i < step_count && i < STEP_LOG; i++)
		diag("step at 0x%lx, DEBUGCTL 0x%lx, DR6 0x%lx", step_log[i].ip,
		     step_log[i].debugctl, step_log[i].dr6);
}

static bool is_exception(u32 i, const u8 *ip, u64 debugctl, u64 reasons)
{
	return step_log[i].ip == (u64)ip && step_log[i].debugctl == debugctl &&
	       (step_log[i].dr6 & DR6_REASONS) == reasons;
}

/* The steps were at @ips, in order, and their handler found @debugctl. */
static void expect(const u8 *const *ips, u32 n, u64 debugctl, const char *name)
{
	bool right = step_count == n;

	for (u32 i = 0; right && i < n; i++)
		right = is_exception(i, ips[i], debugctl, DR6_BS);
	if (ok(right, "step: %s", name))
		return;
	diag("%u steps, expected %u", step_count, n);
	show();
}

#define EXPECT(debugctl, name, ...) do {				\
	static const u8 *const ips_[] = { __VA_ARGS__ };		\
	expect(ips_, ARRAY_SIZE(ips_), debugctl, name);			\
} while (0)

static void test_kinds(void)
{
	run(step_kinds, DEBUGCTL_BTF, DEBUGCTL_BTF);
	expect(targets, nr_targets, 0, "BTF: behind each taken branch, and nowhere else");
	run(step_kinds, DEBUGCTL_BTF | DEBUGCTL_LBR, DEBUGCTL_BTF | DEBUGCTL_LBR);
	expect(targets, nr_targets, 0, "BTF and LBR: the same, and the step clears both");
	run(step_late, DEBUGCTL_BTF, DEBUGCTL_BTF);
	EXPECT(0, "the WRMSR that sets BTF is no branch, whatever was before", step_late_target);
}

/* All of @kinds; REP may be at the same place several times. */
static bool each_instruction(void)
{
	u32 at = 0;

	for (u32 i = 0; i < KINDS; i++) {
		do {
			if (at >= step_count || !is_exception(at, kinds[i].ip, 0, DR6_BS))
				return false;
			at++;
		} while (kinds[i].ip == step_13 && step_log[at].ip == (u64)step_13);
	}
	return at == step_count;
}

static void test_instructions(void)
{
	run(step_kinds, 0, 0);
	if (!ok(each_instruction(), "step: no BTF: behind each instruction"))
		show();
	run(step_kinds, DEBUGCTL_BTF, 0);
	if (!ok(each_instruction(), "step: BTF that is not set again: then each instruction"))
		show();
}

/* An empty buffer of the debug store that does not interrupt */
static void bts_setup(void)
{
	u64 *area = (u64 *)BTS_AREA;

	memset((void *)BTS_AREA, 0, PAGE);
	memset((void *)BTS_BUFFER, 0, BTS_RECORDS * sizeof(struct record));
	area[0] = area[1] = BTS_BUFFER;
	area[2] = BTS_BUFFER + BTS_RECORDS * sizeof(struct record);
	area[3] = area[2] + sizeof(struct record);
	wrmsr(MSR_DS_AREA, BTS_AREA);
}

static bool is_record(u32 i, const u8 *from, const u8 *to)
{
	const struct record *r = (struct record *)BTS_BUFFER + i;

	return r->from == (u64)from && r->to == (u64)to;
}

/* Each branch, the debug exception behind it, and the IRET of its handler. */
static bool all_recorded(void)
{
	u64 end = ((u64 *)BTS_AREA)[1];
	bool right = is_record(0, step_kinds_before, step_kinds_ready);
	u32 n = 1;

	for (u32 i = 0; i < KINDS; i++) {
		if (!kinds[i].from)
			continue;
		right &= is_record(n, kinds[i].from, kinds[i].ip) &&
			 is_record(n + 1, kinds[i].ip, step_handler) &&
			 is_record(n + 2, step_handler_iret, kinds[i].ip);
		n += 3;
	}
	right &= is_record(n, step_20, step_20 + 2);
	return right && (end - BTS_BUFFER) / sizeof(struct record) > n;
}

static void test_beside_bts(void)
{
	bts_setup();
	run(step_kinds, BTS | DEBUGCTL_BTF, BTS | DEBUGCTL_BTF);
	expect(targets, nr_targets, BTS, "beside BTS: the same; TR and BTS stay");
	ok(all_recorded(), "step: beside BTS: branches, steps and their returns are recorded");
	wrmsr(MSR_DS_AREA, 0);
}

static void test_beside_pt(void)
{
	pt_output_setup();
	wrmsr(MSR_RTIT_CTL, CTL_TRACE_OS | pt_output_ctl());
	run(step_kinds, DEBUGCTL_BTF, DEBUGCTL_BTF);
	wrmsr(MSR_RTIT_CTL, 0);
	expect(targets, nr_targets, 0, "beside a trace: the same");
	pt_reset();
}

static void test_iret(void)
{
	run(step_iret, DEBUGCTL_BTF, DEBUGCTL_BTF);
	EXPECT(0, "IRET is a step if TF was set before it", step_iret_first, step_iret_second,
	       step_iret_third);
}

/* IRET to user code brings TF, and is no step; nor is INT, nor what its handler does. */
static void test_user_code(void)
{
	gate_set(STEP_VECTOR, step_user_handler, DPL_USER);
	run(step_user, DEBUGCTL_BTF, DEBUGCTL_BTF);
	EXPECT(0, "user code, which INT leaves", step_user_target);
	run(step_user32, DEBUGCTL_BTF, DEBUGCTL_BTF);
	EXPECT(0, "32-bit user code", step_user32_leaf, step_user32_back, step_user32_jecxz,
	       step_user32_next, step_user32_far);
	gate_default(STEP_VECTOR);
}

static void test_system_calls(void)
{
	u64 fmask = rdmsr(MSR_FMASK);

	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SCE);
	wrmsr(MSR_STAR, (u64)SYSRET_CS_BASE << 48 | (u64)SYSCALL_CS_BASE << 32);
	wrmsr(MSR_LSTAR, (u64)step_syscall_entry);
	gate_set(STEP_VECTOR, step_user_handler, DPL_USER);
	wrmsr(MSR_FMASK, EFLAGS_TF);
	run(step_syscall, DEBUGCTL_BTF, DEBUGCTL_BTF);
	EXPECT(0, "SYSCALL that clears TF is no step, SYSRET that sets it is", step_syscall_back);
	wrmsr(MSR_FMASK, 0);
	run(step_syscall, DEBUGCTL_BTF, DEBUGCTL_BTF);
	EXPECT(0, "SYSCALL that leaves TF is one", step_syscall_entry, step_syscall_next,
	       step_syscall_back);
	wrmsr(MSR_FMASK, fmask);

	wrmsr(MSR_SYSENTER_CS, SYSENTER_CS);
	wrmsr(MSR_SYSENTER_EIP, (u64)step_sysenter_entry);
	wrmsr(MSR_SYSENTER_ESP, BTS_AREA + PAGE);
	run(step_sysenter, DEBUGCTL_BTF, DEBUGCTL_BTF);
	EXPECT(0, "SYSENTER and SYSEXIT, which leave TF", step_sysenter_entry, step_sysenter_back);
	wrmsr(MSR_SYSENTER_CS, 0);
	gate_default(STEP_VECTOR);
}

/* Neither is a branch, and handlers run without TF. */
static void test_events(void)
{
	u32 before = irq_count[IRQ_VECTOR];

	gate_set(VECTOR_PF, step_fault_handler, 0);
	run(step_fault, DEBUGCTL_BTF, DEBUGCTL_BTF);
	gate_default(VECTOR_PF);
	expect(NULL, 0, 0, "none of a jump that faults, nor in the fault's handler");
	is(left, DEBUGCTL_BTF, "step: the handler of another exception finds BTF set");

	/* A step behind STI ends STI's shadow, and an interrupt may come before HLT. */
	lapic_timer_periodic(IRQ_VECTOR, TIMER_TICKS);
	run(step_hlt, DEBUGCTL_BTF, DEBUGCTL_BTF);
	ok(irq_count[IRQ_VECTOR] != before, "step: HLT ends by an interrupt");
	EXPECT(0, "none of HLT, nor of the interrupt and its return", step_hlt_target);
	run(step_hlt, 0, 0);
	lapic_timer(0, 0);
	ok(step_count >= 2 && step_log[0].ip == (u64)step_hlt_insn &&
	   step_log[1].ip == (u64)step_hlt_after, "step: no BTF: HLT is a step");
}

static void write_dr(u64 dr0, u64 dr1, u64 dr7)
{
	asm volatile("mov %0, %%db0; mov %1, %%db1; mov %2, %%db7"
		     :: "r" (dr0), "r" (dr1), "r" (dr7));
}

/* Any debug exception clears BTF, and LBR. */
static void test_breakpoints(void)
{
	const u64 on = UNTIL_DB | (cmdline_num("bts", 1) ? DEBUGCTL_TR : 0);

	for (u32 i = 0; i < 2; i++) {
		u64 ctl = i ? on : on & ~DEBUGCTL_LBR;

		write_dr((u64)step_break_insn, 0, DR7_ENABLE(0));
		run(step_break, ctl, ctl);
		if (!ok(step_count == 2 &&
			is_exception(0, step_break_insn, on & ~UNTIL_DB, DR6_B(0)) &&
			is_exception(1, step_break_int1, on & ~UNTIL_DB, 0),
			"step: a breakpoint and INT1 clear BTF, %s LBR", i ? "and" : "without"))
			show();
	}
	write_dr(0, (u64)step_bytes, DR7_ENABLE(1) | DR7_WRITES(1));
	run(step_data, DEBUGCTL_BTF, DEBUGCTL_BTF);
	if (!ok(step_count == 2 && is_exception(0, step_data_after, 0, DR6_B(1)) &&
		is_exception(1, step_data_target, 0, DR6_BS),
		"step: a data breakpoint is met where there is no step"))
		show();
	write_dr(0, 0, 0);
}

/* Runs @fn, where an interrupt comes to @insn and a breakpoint is, too. */
static void run_irq(snippet_fn *fn, const u8 *insn)
{
	write_dr((u64)insn, 0, DR7_ENABLE(0));
	gate_set(IRQ_VECTOR, step_irq_handler, 0);
	lapic_self_ipi(IRQ_VECTOR);
	run(fn, 0, 0);
	gate_default(IRQ_VECTOR);
	write_dr(0, 0, 0);
}

/* An event has pushed @ip, or any if that is NULL, and this RF. */
static bool is_frame(const u8 *ip, u64 rf)
{
	bool right = (!ip || step_frame.ip == (u64)ip) && (step_frame.eflags & EFLAGS_RF) == rf;

	if (!right)
		diag("the event has pushed IP 0x%lx, EFLAGS 0x%lx", step_frame.ip,
		     step_frame.eflags);
	return right;
}

/*
 * An interrupt that comes between two instructions pushes RF as it is, and IRET brings it back;
 * a fault pushes 1 (SDM, "Instruction-Breakpoint Exception Condition").
 */
static void test_rf(void)
{
	run_irq(step_irq, step_irq_insn);
	ok(is_frame(step_irq_insn, 0),
	   "step: an interrupt comes before the breakpoint, and pushes RF as 0");
	if (!ok(step_count == 1 && is_exception(0, step_irq_insn, 0, DR6_B(0)),
		"step: the breakpoint is met after the interrupt"))
		show();

	run_irq(step_irq_rf, step_irq_rf_insn);
	ok(is_frame(step_irq_rf_insn, EFLAGS_RF),
	   "step: an interrupt pushes RF as 1 where IRET has set it");
	is(step_count, 0, "step: with RF, the breakpoint is not met after the interrupt either");

	step_frame.eflags = EFLAGS_RF;
	gate_set(VECTOR_NMI, step_nmi_handler, 0);
	run(step_nmi, 0, 0);
	gate_default(VECTOR_NMI);
	ok(is_frame(NULL, 0), "step: an NMI pushes RF as 0");

	gate_set(VECTOR_UD, step_ud_handler, 0);
	run(step_ud, 0, 0);
	gate_default(VECTOR_UD);
	ok(is_frame(step_ud_insn, EFLAGS_RF), "step: a fault pushes RF as 1");
}

static void test_smi(void)
{
	run(step_smi, DEBUGCTL_BTF, DEBUGCTL_BTF);
	EXPECT(0, "SMI: no step of firmware, nor of its return; BTF is kept", step_smi_target);
}

void test_step(void)
{
	if (!cmdline_num("pmu", 1))
		return;
	nr_targets = 0;
	for (u32 i = 0; i < KINDS; i++)
		if (kinds[i].from)
			targets[nr_targets++] = kinds[i].ip;
	test_kinds();
	test_instructions();
	if (cmdline_num("bts", 1))
		test_beside_bts();
	if (has(CAP_TOPA | CAP_SINGLE))
		test_beside_pt();
	test_iret();
	test_user_code();
	test_system_calls();
	test_events();
	test_breakpoints();
	test_rf();
	if (cmdline_num("smi", 0))
		test_smi();
}
