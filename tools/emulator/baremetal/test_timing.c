// SPDX-License-Identifier: GPL-2.0-only
/* TSC, TMA, MTC, CYC, CBR: values, enables, thresholds. */
#include "pt.h"

#define TSC_BITS		GENMASK(55, 0)
#define OUTSIDE_TRIES		20
#define SPIN_TSC		2000000	/* about a millisecond */

snippet_fn near_empty, timing_spin, timing_blocks, timing_order,
	timing_outside;
extern const u8 timing_blocks_on[];

static u64 tsc_to_ctc(u64 tsc)
{
	struct cpuid l = cpuid(0x15, 0);

	return tsc * l.a / l.b;
}

/* TSC ticks of one crystal tick, rounded up. */
static u64 tsc_per_ctc(void)
{
	struct cpuid l = cpuid(0x15, 0);

	return (l.b + l.a - 1) / l.a;
}

static u64 tma_fast_counter(const struct pkt *p)
{
	return (u64)p->flag << 8 | p->aux;
}

static void test_tsc(void)
{
	const struct pkt *tsc, *tma;
	u64 before, after, ctc;

	before = rdtsc();
	snippet_run(near_empty, CTL_TRACE_OS | CTL_TSCEN | (has(CAP_MTC) ? CTL_MTCEN : 0));
	after = rdtsc();
	tsc = trace_find(P_TSC, 0);
	if (!ok(tsc && tsc->val >= (before & TSC_BITS) && tsc->val <= (after & TSC_BITS),
		"timing: TSC is the time stamp counter"))
		diag("0x%lx is not within 0x%lx .. 0x%lx", tsc ? tsc->val : 0, before, after);
	if (!has(CAP_MTC) || !tsc)
		return;
	tma = trace_find(P_TMA, 0);
	ctc = tsc_to_ctc(tsc->val) & 0xffff;
	if (!ok(tma && ((tma->val - ctc + 1) & 0xffff) <= 2, "timing: TMA has the CTC of the TSC"))
		diag("expected 0x%lx, got 0x%lx", ctc, tma ? tma->val : 0);
	ok(tma && tma_fast_counter(tma) <= tsc_per_ctc(),
	   "timing: TMA: the fast counter counts within one CTC tick");
}

/* MTC at each change of CTC bit n: the payloads are successive, and as many as the time asks. */
static void test_mtc(u32 freq)
{
	bool exact = cmdline_num("icount", 0);
	u64 ctc, end, gaps = 0;
	u32 n, previous = 0;

	snip_arg[0] = SPIN_TSC;
	snippet_run(timing_spin, CTL_TRACE_OS | CTL_TSCEN | CTL_MTCEN | FIELD_PREP(CTL_MTCFREQ, freq));
	end = exact ? snip_arg[2] : rdtsc();
	ctc = tsc_to_ctc(end & TSC_BITS) - tsc_to_ctc(snip_arg[1] & TSC_BITS);
	n = trace_count(P_MTC);
	for (u32 i = 0; i < n; i++) {
		u8 payload = trace_find(P_MTC, i)->val;

		if (i)
			gaps += (u8)(payload - previous) != 1;
		previous = payload;
	}
	if (!ok((gaps == 0 || !exact) && n > 0, "timing: MTCFreq %u: payloads are successive", freq))
		diag("%u MTC, %lu gaps", n, gaps);
	/* A host that takes the processor away may cost MTCs, never add any. */
	ok(n <= (ctc >> freq) + 2 && (!exact || n + 2 >= (ctc >> freq)),
	   "timing: MTCFreq %u: %u MTC in %lu crystal ticks", freq, n, ctc);
	/* The last MTC is not behind the end of the run, nor before its middle. */
	if (n && exact) {
		u8 last = tsc_to_ctc(end & TSC_BITS) >> freq;

		ok((u8)(last - previous) <= 4 || (u8)(previous - last) <= 2,
		   "timing: MTCFreq %u: the last payload is the CTC at the end", freq);
	}
}

/*
 * SDM 33.4.2.12 and 33.2.6.3: MTC depends on TriggerEn alone, and so does the
 * PSB that is due because of them. They come in their time, not at the end.
 */
static void test_mtc_outside(void)
{
	u64 written = 0;

	/* A busy host's clock runs on while nobody has time to write. */
	for (u32 try = 0; try < OUTSIDE_TRIES && written <= 1000; try++) {
		snip_arg[0] = 10 * SPIN_TSC;
		snippet_run(timing_outside,
			    CTL_TRACE_USER | CTL_MTCEN | FIELD_PREP(CTL_MTCFREQ, 3));
		written = FIELD_GET(MASK_OUTPUT_OFFSET, snip_arg[2]);
	}
	ok(trace_count(P_MTC) > 1000, "timing: MTC does not depend on ContextEn (%u)",
	   trace_count(P_MTC));
	ok(written > 1000,
	   "timing: MTC out of context is written while time passes");
	ok(trace_count(P_PSB) > 1 && !trace_count(P_FUP),
	   "timing: MTC out of context brings PSB+ without FUP (%u)", trace_count(P_PSB));
}

static void test_mtc_all(void)
{
	for (u32 freq = 3; freq <= 12; freq += 3)
		if (caps.mtc_periods & BIT(freq))
			test_mtc(freq);
	snip_arg[0] = SPIN_TSC;
	snippet_run(timing_spin, CTL_TRACE_OS | CTL_TSCEN);
	is(trace_count(P_MTC), 0, "timing: no MTC without MTCEn");
	if (caps.mtc_periods & BIT(3))
		test_mtc_outside();
}

static void test_cyc(u32 threshold)
{
	u64 minimum = threshold ? 1ul << (threshold - 1) : 0;
	/* On a slow host's clock each block may take more cycles than any threshold. */
	bool exact = cmdline_num("icount", 0);
	u32 tips = 0, with_cyc = 0, below = 0, cycs;
	u64 sum = 0;

	snip_arg[0] = 100;
	snippet_run(timing_blocks, CTL_TRACE_OS | CTL_CYCEN | FIELD_PREP(CTL_CYCTHRESH, threshold));
	cycs = trace_count(P_CYC);
	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];

		if (p->type == P_CYC) {
			sum += p->val;
			below += p->val < minimum;
		}
		if (p->type != P_TIP)
			continue;
		tips++;
		/* Just before it is a TNT, whose CYC may have been too short a time ago. */
		with_cyc += i && (p[-1].type == P_CYC ||
				  (minimum > 1 && p[-1].type == P_TNT && i > 1 &&
				   p[-2].type == P_CYC));
	}
	is(tips, 99, "timing: CycThresh %u: the branches are there", threshold);
	if (!ok(cycs > 0 && below == 0, "timing: CycThresh %u: no CYC below %lu", threshold, minimum))
		diag("%u of %u CYC are below", below, cycs);
	if (minimum <= 32)
		ok(with_cyc >= tips - 1, "timing: CycThresh %u: a CYC with each of %u TIPs (%u)",
		   threshold, tips, with_cyc);
	else if (exact)
		ok(with_cyc < tips, "timing: CycThresh %u: fewer CYC (%u) than TIPs (%u)",
		   threshold, with_cyc, tips);
	if (exact)
		ok(sum >= 64 * 50, "timing: CycThresh %u: CYC sums up to the cycles run", threshold);
}

/*
 * SDM 33.3.6.2, example 33-1: the CYC before a TNT has the time of the first
 * branch in it, and the TIP that sends it out has a CYC of its own.
 */
static void test_cyc_of_tnt(void)
{
	const struct pkt *tip;
	bool right = false;

	snippet_run(timing_order, CTL_TRACE_OS | CTL_CYCEN);
	tip = trace_find(P_TIP, 1);
	if (tip)
		right = tip[-1].type == P_CYC && tip[-2].type == P_TNT && tip[-3].type == P_CYC;
	if (!ok(right, "timing: CYC, TNT, CYC, TIP"))
		trace_dump();
	if (!right || !cmdline_num("icount", 0))
		return;
	ok(tip[-3].val >= 64 && tip[-1].val >= 64,
	   "timing: 64 instructions before the TNT's branch, 64 before the TIP's");
}

/* SDM 33.3.6.1: the cycle counter begins again with a CYC, not with a TSC. */
static void test_cyc_sum(u32 threshold)
{
	u64 first = 0, sum = 0, wrong = 0, minimum = 1ul << (threshold - 1);
	u32 n = 0;

	snip_arg[0] = 4000;
	snippet_run(timing_blocks, CTL_TRACE_OS | CTL_CYCEN | CTL_TSCEN |
		    FIELD_PREP(CTL_CYCTHRESH, threshold));
	for (u32 i = 0; i < trace.n; i++) {
		const struct pkt *p = &trace.pkt[i];

		if (p->type == P_CYC)
			sum += p->val;
		if (p->type != P_TSC)
			continue;
		if (!n++)
			first = p->val - sum;
		else
			wrong += p->val - first - sum > 2 * minimum;
	}
	ok(n > 4 && !wrong, "timing: CycThresh %u: CYC adds up to TSC (%lu of %u differ)",
	   threshold, wrong, n);
}

static void test_cyc_all(void)
{
	static const u8 thresholds[] = { 0, 1, 5, 9 };

	for (u32 i = 0; i < ARRAY_SIZE(thresholds); i++)
		if (caps.cyc_thresholds & BIT(thresholds[i]))
			test_cyc(thresholds[i]);
	test_cyc_of_tnt();
	if (caps.cyc_thresholds & BIT(9))
		test_cyc_sum(9);
	snip_arg[0] = 100;
	snippet_run(timing_blocks, CTL_TRACE_OS);
	is(trace_count(P_CYC), 0, "timing: no CYC without CYCEn");
}

void test_timing(void)
{
	const struct pkt *cbr;

	test_tsc();
	if (has(CAP_MTC))
		test_mtc_all();
	if (has(CAP_PSBCYC))
		test_cyc_all();
	snippet_run(near_empty, CTL_TRACE_OS);
	cbr = trace_find(P_CBR, 0);
	ok(cbr && cbr->val > 0, "timing: CBR has a ratio");
	pt_reset();
}
