// SPDX-License-Identifier: GPL-2.0-only
/* PSB+: when it comes, what it holds, how often. */
#include "region.h"

snippet_fn near_empty;
extern const u8 near_empty_on[], near_empty_off[], snip_bulk_on[], snip_bulk_off[];

#define ROUNDS		16000
#define FIRST_PERIOD	2048	/* PSBFreq 0 */
/* PSB waits for a packet boundary, and PSB+ itself is not counted by all. */
#define PERIOD_SLACK	256

/* Number of @type within the first PSB+. */
static u32 in_first_psb(int type)
{
	u32 n = 0;
	bool inside = false;

	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];

		if (p->type == P_PSBEND && inside)
			return n + (type == P_PSBEND);
		n += inside && p->type == type;
		inside |= p->type == P_PSB;
	}
	return 0;
}

/* Inside PSB+ only what the SDM lists. */
static bool psb_content_legal(void)
{
	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];

		if (!p->in_psb)
			continue;
		switch (p->type) {
		case P_PAD: case P_TSC: case P_TMA: case P_PIP: case P_VMCS: case P_CBR:
		case P_MODE_TSX: case P_MODE_EXEC: case P_FUP: case P_CYC: case P_MTC:
		case P_PSBEND:
			continue;
		}
		pkt_print(p);
		return false;
	}
	return true;
}

static void check_content(u64 ctl, const char *name)
{
	bool context = ctl & CTL_OS;
	u32 tsc = !!(ctl & CTL_TSCEN), tma = (ctl & CTL_TSCEN) && (ctl & CTL_MTCEN);
	const struct pkt *pip;
	bool good;

	snippet_run(near_empty, ctl);
	good = ok(in_first_psb(P_PSBEND) == 1 && psb_content_legal(),
		  "psb: %s: PSB+ is well formed", name);
	good &= is(in_first_psb(P_TSC), tsc, "psb: %s: TSC with TSCEn", name);
	good &= is(in_first_psb(P_TMA), tma, "psb: %s: TMA with TSCEn and MTCEn", name);
	good &= is(in_first_psb(P_CBR), 1, "psb: %s: CBR", name);
	good &= is(in_first_psb(P_PIP), context, "psb: %s: PIP with ContextEn and OS", name);
	pip = trace_find(P_PIP, 0);
	if (context)
		good &= ok(pip && pip->val == read_cr3() && !pip->flag,
			   "psb: %s: PIP has CR3, not NR", name);
	good &= ok(in_first_psb(P_FUP) == in_first_psb(P_MODE_EXEC) && in_first_psb(P_FUP) <= context,
		   "psb: %s: MODE.Exec and FUP only if PacketEn", name);
	if (!good)
		trace_dump();
}

static void test_content(void)
{
	check_content(CTL_TRACE_OS, "OS");
	check_content(CTL_TRACE_USER, "User, at CPL 0");
	check_content(CTL_TRACE_OS | CTL_TSCEN, "TSCEn");
	if (has(CAP_MTC)) {
		check_content(CTL_TRACE_OS | CTL_MTCEN, "MTCEn");
		check_content(CTL_TRACE_OS | CTL_TSCEN | CTL_MTCEN, "TSCEn, MTCEn");
	}
}

/* TraceEn 0 -> 1: a PSB if PacketByteCnt is 0, or if there is no such counter. */
static void test_on_enable(void)
{
	u64 count;

	snippet_run(near_empty, CTL_TRACE_OS);
	is(trace_count(P_PSB), 1, "psb: PSB on enabling with PacketByteCnt = 0");
	ok(trace.n && trace.pkt[0].type == P_PSB, "psb: PSB is the first packet");
	if (!has(CAP_PSBCYC)) {
		snippet_run(near_empty, CTL_TRACE_OS);
		is(trace_count(P_PSB), 1, "psb: always PSB without configurable PSB");
		return;
	}
	count = FIELD_GET(STATUS_BYTECNT, rdmsr(MSR_RTIT_STATUS));
	ok(count > 0 && count <= trace.bytes, "psb: PacketByteCnt counts the bytes of the trace");

	pt_output_setup();
	wrmsr(MSR_RTIT_STATUS, FIELD_PREP(STATUS_BYTECNT, 100));
	snippet_run_prepared(near_empty, CTL_TRACE_OS | CTL_TSCEN);
	is(trace_count(P_PSB), 0, "psb: none on enabling with PacketByteCnt > 0");
	is(trace_count(P_TSC), 1, "psb: without PSB: TSC");
	ok(trace_count(P_CBR) >= 1, "psb: without PSB: CBR");
	is(trace_count(P_MODE_EXEC), 1, "psb: without PSB: MODE.Exec");
	EXPECT_TRACE("psb: without PSB: TIP.PGE follows", E_MODE(EXEC_64), E_PGE(near_empty_on),
		     E_FUP(near_empty_off), E_PGD_NOIP);
}

static void test_period(u32 freq)
{
	u64 period = FIRST_PERIOD << freq;
	u32 gaps = 0, bad = 0;
	u64 last = 0;
	bool ips = true;

	pt_output_setup();
	bulk_run(ROUNDS, CTL_TRACE_OS | pt_output_ctl() | FIELD_PREP(CTL_PSBFREQ, freq));
	trace_parse(OUTPUT_BUFFER, pt_output_bytes());
	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];
		u64 gap = p->offset - last;

		if (p->type == P_FUP && p->in_psb && i > 16)
			ips &= p->val >= (u64)snip_bulk_on && p->val < (u64)snip_bulk_off;
		if (p->type != P_PSB)
			continue;
		if (p->offset) {
			gaps++;
			bad += gap < period - PERIOD_SLACK || gap > period + period / 2 + PERIOD_SLACK;
		}
		last = p->offset;
	}
	if (!ok(trace.n && (gaps || trace.bytes < 2 * period) && !bad,
		"psb: PSBFreq %u: about every %lu bytes", freq, period))
		diag("%u gaps, %u of them wrong, last PSB at %lu", gaps, bad, last);
	ok(ips && psb_content_legal(), "psb: PSBFreq %u: FUP of PSB+ is where the code is", freq);
}

/* In mid-trace PacketEn is set: MODE.Exec and FUP are in PSB+, and last IP starts again. */
static void test_mid_trace(void)
{
	u32 psbs, fups = 0, modes = 0, wrong = 0;

	pt_output_setup();
	bulk_run(1500, CTL_TRACE_OS | pt_output_ctl());
	trace_parse(OUTPUT_BUFFER, pt_output_bytes());
	psbs = trace_count(P_PSB);
	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];

		fups += p->in_psb && p->type == P_FUP;
		modes += p->in_psb && p->type == P_MODE_EXEC;
		if (p->type == P_TIP)
			wrong += p->val < (u64)snip_bulk_on || p->val >= (u64)snip_bulk_off;
	}
	ok(psbs > 1 && fups >= psbs - 1 && modes >= psbs - 1,
	   "psb: in mid-trace with MODE.Exec and FUP (%u PSB, %u FUP, %u MODE)", psbs, fups, modes);
	is(wrong, 0, "psb: IPs after PSB are right");
}

#define PMI_VECTOR	0x52

/* PacketByteCnt so near to the period that the packets of enabling reach it */
#define NEARLY_DUE	2040

static void run_pending(u64 status, u64 ctl)
{
	pt_output_setup();
	wrmsr(MSR_PERF_GLOBAL_RESET, GLOBAL_TOPA_PMI);
	lapic_set_lvtpc(PMI_VECTOR);
	/* Without the counter at zero no PSB is due. */
	if (has(CAP_PSBCYC) && !(status & STATUS_BYTECNT))
		status |= FIELD_PREP(STATUS_BYTECNT, 100);
	wrmsr(MSR_RTIT_STATUS, status);
	snippet_run_prepared(near_empty, CTL_TRACE_OS | ctl);
	sti_nop_cli();
	lapic_set_lvtpc(LAPIC_LVT_MASKED);
}

/* PSB and PMI preservation: what STATUS has pending comes when tracing is enabled. */
static void test_preservation(void)
{
	u32 before = irq_count[PMI_VECTOR];

	run_pending(STATUS_PENDPSB, CTL_INJECTPSBPMI);
	is(trace_count(P_PSB), 1, "psb: PendPSB with InjectPsbPmiOnEnable: PSB");
	is(rdmsr(MSR_RTIT_STATUS) & STATUS_PENDPSB, 0, "psb: PendPSB is then clear");
	run_pending(STATUS_PENDPSB, 0);
	is(trace_count(P_PSB), 0, "psb: PendPSB without InjectPsbPmiOnEnable: none");
	is(irq_count[PMI_VECTOR], before, "psb: PendPSB is no PMI");

	run_pending(STATUS_PENDTOPAPMI, 0);
	is(irq_count[PMI_VECTOR], before, "psb: PendToPAPMI without InjectPsbPmiOnEnable: none");
	run_pending(STATUS_PENDTOPAPMI, CTL_INJECTPSBPMI);
	is(irq_count[PMI_VECTOR], before + 1, "psb: PendToPAPMI with InjectPsbPmiOnEnable: PMI");
	ok(rdmsr(MSR_PERF_GLOBAL_STATUS) & GLOBAL_TOPA_PMI, "psb: the injected PMI has its status");
	ok(rdmsr(MSR_RTIT_STATUS) & STATUS_PENDTOPAPMI,
	   "psb: PendToPAPMI stays until software has handled the PMI");
	is(trace_count(P_PSB), 0, "psb: PendToPAPMI gives no PSB");
	wrmsr(MSR_PERF_GLOBAL_RESET, GLOBAL_TOPA_PMI);
}

/* The processor itself tells by PendPSB what tracing left pending. */
static void test_left_pending(void)
{
	u64 status;

	run_pending(FIELD_PREP(STATUS_BYTECNT, NEARLY_DUE), 0);
	is(trace_count(P_PSB), 1, "psb: without InjectPsbPmiOnEnable what is due comes before");
	ok(!(rdmsr(MSR_RTIT_STATUS) & STATUS_PENDPSB), "psb: and nothing is pending");
	run_pending(FIELD_PREP(STATUS_BYTECNT, NEARLY_DUE), CTL_INJECTPSBPMI);
	status = rdmsr(MSR_RTIT_STATUS);
	is(trace_count(P_PSB), 0, "psb: due when TraceEn is cleared: none any more");
	ok(status & STATUS_PENDPSB, "psb: due when TraceEn is cleared: PendPSB");
	run_pending(status & (STATUS_PENDPSB | STATUS_BYTECNT), CTL_INJECTPSBPMI);
	is(trace_count(P_PSB), 1, "psb: PendPSB of the processor: a PSB with the next TraceEn");
	ok(!(rdmsr(MSR_RTIT_STATUS) & STATUS_PENDPSB), "psb: PendPSB of the processor: then clear");
}

void test_psb(void)
{
	test_on_enable();
	test_content();
	if (has(CAP_PSBCYC)) {
		for (u32 freq = 0; freq < 5; freq++)
			if (caps.psb_freqs & BIT(freq))
				test_period(freq);
		test_mid_trace();
	}
	if (has(CAP_PSBPMI))
		test_preservation();
	if (has(CAP_PSBPMI) && has(CAP_PSBCYC))
		test_left_pending();
	pt_reset();
}
