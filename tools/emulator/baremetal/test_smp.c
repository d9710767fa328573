// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two processors trace at the same time, each with its own registers and
 * buffer ("smp=2" on the command line); an SMI ("smi=1").
 */
#include "pt.h"

#define AP_APIC_ID	1
#define BUFFER(cpu)	((u8 *)(ARENA + 0x2000000ul + (cpu) * 0x400000ul))
#define TABLE(cpu)	((u64 *)(ARENA + 0x1800000ul + (cpu) * 0x2000ul))
#define BUFFER_CODE	8	/* 1 MiB */
#define DS_AREA		ARENA
#define DEBUGCTL_TR	BIT(6)
#define DEBUGCTL_BTS	BIT(7)
#define ROUNDS		100000
/* CFE types */
#define CFE_SMI		3
#define CFE_RSM		4
#define CFE_SIPI	5
#define CFE_INIT	6
#define WAIT_TSC	25000000000ul	/* ten seconds */

snippet_fn smi_apm;
extern const u8 smi_apm_on[], smi_apm_off[], smi_apm_insn[], smi_apm_back[],
	ap_spin_insn[], ap_start32[];
void smp_loop(u64 rounds, u64 ctl);
void ap_spin(u64 ctl, volatile u32 *flag);

static volatile u32 ap_up, go, done;
/* What the second processor does when it starts. */
static volatile enum {
	AP_TRACE_LOOP, AP_TRACE_SPIN, AP_TRACE_END, AP_BRANCHES, AP_BRANCHES_END,
} ap_task;
static volatile u64 ap_status, ap_position, ap_ctl_before, ap_event_ctl, ap_ds_area, ap_debugctl;

/* Without rdmsr(): its trap_fixup is for one processor. */
static u64 raw_rdmsr(u32 msr)
{
	u32 lo, hi;

	asm volatile("rdmsr" : "=a" (lo), "=d" (hi) : "c" (msr));
	return (u64)hi << 32 | lo;
}

static void raw_wrmsr(u32 msr, u64 val)
{
	asm volatile("wrmsr" :: "c" (msr), "a" ((u32)val), "d" ((u32)(val >> 32)) : "memory");
}

static void setup(u32 cpu)
{
	TABLE(cpu)[0] = (u64)BUFFER(cpu) | FIELD_PREP(TOPA_SIZE, BUFFER_CODE);
	TABLE(cpu)[1] = (u64)TABLE(cpu) | TOPA_END;
	raw_wrmsr(MSR_RTIT_CTL, 0);
	raw_wrmsr(MSR_RTIT_STATUS, 0);
	raw_wrmsr(MSR_RTIT_OUTPUT_BASE, (u64)TABLE(cpu));
	raw_wrmsr(MSR_RTIT_OUTPUT_MASK, 0);
}

static void trace_loop(void)
{
	smp_loop(ROUNDS, CTL_TRACE_OS | CTL_TOPA);
}

static void __attribute__((noreturn)) ap_halt(void)
{
	for (;;)
		asm volatile("cli; hlt");
}

/* Branch records until INIT comes, and what that leaves of them. */
static void __attribute__((noreturn)) ap_branches(bool end)
{
	if (end) {
		ap_ds_area = raw_rdmsr(MSR_DS_AREA);
		ap_debugctl = raw_rdmsr(MSR_DEBUGCTL);
	} else {
		raw_wrmsr(MSR_DS_AREA, DS_AREA);
		raw_wrmsr(MSR_DEBUGCTL, DEBUGCTL_TR | DEBUGCTL_BTS);
	}
	ap_up = 1;
	ap_halt();
}

static void ap_main(void)
{
	if (ap_task >= AP_BRANCHES)
		ap_branches(ap_task == AP_BRANCHES_END);
	if (ap_task == AP_TRACE_SPIN) {
		setup(1);
		ap_spin(CTL_TRACE_OS | CTL_TOPA | ap_event_ctl, &ap_up);
	}
	if (ap_task == AP_TRACE_END) {
		raw_wrmsr(MSR_RTIT_CTL, 0);
		ap_position = raw_rdmsr(MSR_RTIT_OUTPUT_MASK);
		ap_up = 1;
		ap_halt();
	}
	ap_up = 1;
	while (!go)
		;
	ap_ctl_before = raw_rdmsr(MSR_RTIT_CTL);
	setup(1);
	while (go < 2)
		;
	trace_loop();
	ap_position = raw_rdmsr(MSR_RTIT_OUTPUT_MASK);
	ap_status = raw_rdmsr(MSR_RTIT_STATUS);
	done = 1;
	ap_halt();
}

/* The IP at which a start-up interrupt begins: offset 0 of its segment. */
static u64 start_ip(void)
{
	return has(CAP_LIP) ? SMP_TRAMPOLINE : 0;
}

static bool wait_for(volatile u32 *flag)
{
	u64 end = rdtsc() + WAIT_TSC;

	while (!*flag && rdtsc() < end)
		;
	return *flag;
}

static bool start_second(void)
{
	ap_up = 0;
	smp_start(AP_APIC_ID, ap_main);
	return wait_for(&ap_up);
}

static bool same(const u8 *a, const u8 *b, u64 n)
{
	for (u64 i = 0; i < n; i++) {
		if (a[i] == b[i])
			continue;
		diag("they differ at byte %lu: 0x%x, 0x%x", i, a[i], b[i]);
		return false;
	}
	return true;
}

static void test_two(void)
{
	u64 alone, offset, ap_offset;

	pt_reset();
	setup(0);
	trace_loop();
	alone = FIELD_GET(MASK_OUTPUT_OFFSET, rdmsr(MSR_RTIT_OUTPUT_MASK));
	memcpy(BUFFER(2), BUFFER(0), alone);
	memset(BUFFER(0), 0, TOPA_SIZE_BYTES(BUFFER_CODE));

	/* TraceEn is set here while the second reads its own CTL. */
	setup(0);
	wrmsr(MSR_RTIT_CTL, CTL_TRACEEN | CTL_TOPA | CTL_TSCEN);
	go = 1;
	for (u64 end = rdtsc() + WAIT_TSC / 1000; rdtsc() < end;)
		;
	wrmsr(MSR_RTIT_CTL, 0);
	setup(0);
	go = 2;
	trace_loop();
	offset = FIELD_GET(MASK_OUTPUT_OFFSET, rdmsr(MSR_RTIT_OUTPUT_MASK));
	if (!ok(wait_for(&done), "smp: the second processor comes to its end"))
		return;
	ap_offset = FIELD_GET(MASK_OUTPUT_OFFSET, ap_position);
	is(ap_ctl_before, 0, "smp: CTL of the second is its own");
	is(ap_status & (STATUS_ERROR | STATUS_STOPPED), 0, "smp: the second has no error");
	is(offset, alone, "smp: the first writes as much as alone");
	is(ap_offset, alone, "smp: the second writes as much");
	ok(alone && same(BUFFER(0), BUFFER(2), alone), "smp: the first's trace is that of one alone");
	ok(alone && same(BUFFER(1), BUFFER(2), alone), "smp: the second's trace is the same");
}

/* These packets come one behind another in the trace, which goes on. */
static void contains(const struct expect *e, u32 n, const char *name)
{
	for (u32 start = 0; start < trace.n; start++) {
		const struct pkt *p = &trace.pkt[start];
		u32 got = 0;

		while (got < n && p && p->type == e[got].type && p->val == e[got].val &&
		       p->aux == e[got].aux) {
			got++;
			p = trace_next(p);
		}
		if (got == n) {
			ok(true, "%s", name);
			return;
		}
	}
	ok(false, "%s", name);
	trace_dump();
}

/* The second processor does the task @until INIT, and @after the start-up interrupt the other. */
static bool across_init(int until, int after, const char *what)
{
	ap_task = until;
	if (!ok(start_second(), "smp: INIT: the second processor %s", what))
		return false;
	ap_task = after;
	return ok(start_second(), "smp: INIT: it starts again");
}

static void trace_init(u64 event_ctl)
{
	ap_event_ctl = event_ctl;
	if (across_init(AP_TRACE_SPIN, AP_TRACE_END, "traces"))
		trace_parse(BUFFER(1), FIELD_GET(MASK_OUTPUT_OFFSET, ap_position));
}

static void test_init(void)
{
	const struct expect flow[] = {
		E_FUP(ap_spin_insn), E_PIP(0), E_MODE(EXEC_16), E_TIP(start_ip()),
		E_MODE(EXEC_32), E_TIP(ap_start32),
	};
	const struct expect events[] = {
		E_CFE(CFE_INIT, 0, 0), E_FUP(ap_spin_insn), E_PIP(0),
		E_CFE(CFE_SIPI, SMP_TRAMPOLINE >> 12, 0), E_MODE(EXEC_16), E_TIP(start_ip()),
	};

	trace_init(0);
	contains(flow, ARRAY_SIZE(flow),
		 "smp: INIT: FUP, PIP; start-up interrupt: MODE.Exec, TIP; then its code");
	if (!has(CAP_EVENT))
		return;
	trace_init(CTL_EVENTEN);
	contains(events, ARRAY_SIZE(events), "smp: INIT, start-up interrupt: a CFE each");
}

/* INIT clears DS_AREA: the branches thereafter would go to what address 0 points to. */
static void test_init_branches(void)
{
	memset((void *)DS_AREA, 0, 4096);
	if (!across_init(AP_BRANCHES, AP_BRANCHES_END, "stores its branches"))
		return;
	is(ap_ds_area, 0, "smp: INIT clears DS_AREA");
	is(ap_debugctl & (DEBUGCTL_TR | DEBUGCTL_BTS), 0, "smp: INIT ends the storing of branches");
}

static void test_smi(void)
{
	if (has(CAP_EVENT)) {
		snippet_run(smi_apm, CTL_TRACE_OS | CTL_EVENTEN);
		EXPECT_TRACE("smi: event trace: a CFE of the SMI, and one of RSM",
			     E_PGE(smi_apm_on), E_CFE(CFE_SMI, 0, 0), E_FUP(smi_apm_back),
			     E_PGD_NOIP, E_CFE(CFE_RSM, 0, 0), E_PGE(smi_apm_back),
			     E_TNT("T"), E_FUP(smi_apm_off), E_PGD_NOIP);
	}
	snippet_run(smi_apm, CTL_TRACE_OS);
	EXPECT_TRACE("smi: TraceEn is cleared by the SMI and restored by RSM",
		     E_PGE(smi_apm_on), E_FUP(smi_apm_back), E_PGD_NOIP, E_PGE(smi_apm_back),
		     E_TNT("T"), E_FUP(smi_apm_off), E_PGD_NOIP);
}

void test_smp(void)
{
	if (cmdline_num("smi", 0))
		test_smi();
	if (cmdline_num("smp", 1) > 1 && has(CAP_TOPA)) {
		if (ok(start_second(), "smp: the second processor starts"))
			test_two();
		test_init();
		test_init_branches();
	}
	pt_reset();
}
