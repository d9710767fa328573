// SPDX-License-Identifier: GPL-2.0-only
/* ToPA entries with INT: GLOBAL_STATUS, and the interrupt through LVTPC. */
#include "region.h"

#define TABLE0		(WINDOW + 0x10000)
#define REGION(n)	(WINDOW + 0x40000 + (n) * 0x10000)
#define PMI_VECTOR	0x51
#define ROUNDS_ONE	1200	/* fills one 4 KiB region, not two */
#define ROUNDS_NONE	500
#define TSC_GHZ_TIMES_2	5	/* 2.5 GHz */

static void setup(u64 int_flags)
{
	window_init();
	wrmsr(MSR_PERF_GLOBAL_RESET, GLOBAL_TOPA_PMI);
	TOPA_TABLE(TABLE0, REGION(0) | int_flags, TABLE0 | TOPA_END);
	window_allow(REGION(0), TOPA_SIZE_BYTES(0));
	pt_output_at(TABLE0, 0);
}

static bool pmi_status(void)
{
	return rdmsr(MSR_PERF_GLOBAL_STATUS) & GLOBAL_TOPA_PMI;
}

/* The model can hold the PMI back: "pmidelay=NS". */
static u64 delay_tsc(void)
{
	return cmdline_num("pmidelay", 0) * TSC_GHZ_TIMES_2 / 2;
}

static void run(u64 rounds)
{
	u64 end;

	bulk_run(rounds, CTL_TRACE_OS | CTL_TOPA);
	end = rdtsc() + 2 * delay_tsc();
	do {
		sti_nop_cli();
	} while (rdtsc() < end);
}

static void test_vector(void)
{
	u32 before = irq_count[PMI_VECTOR];

	lapic_set_lvtpc(PMI_VECTOR);
	setup(TOPA_INT);
	run(ROUNDS_NONE);
	ok(!pmi_status() && irq_count[PMI_VECTOR] == before,
	   "pmi: none before the region is full");
	run(ROUNDS_ONE - ROUNDS_NONE);
	is(irq_count[PMI_VECTOR], before + 1, "pmi: delivered on the vector of LVTPC");
	ok(pmi_status(), "pmi: GLOBAL_STATUS.TraceToPAPMI is set");
	ok(!(rdmsr(MSR_RTIT_STATUS) & STATUS_PENDTOPAPMI),
	   "pmi: without InjectPsbPmiOnEnable no STATUS.PendToPAPMI");
	ok(lapic_get_lvtpc() & LAPIC_LVT_MASKED, "pmi: delivery masks LVTPC");

	wrmsr(MSR_PERF_GLOBAL_RESET, 0);
	ok(pmi_status(), "pmi: a reset of no bit leaves TraceToPAPMI");
	wrmsr(MSR_PERF_GLOBAL_RESET, GLOBAL_TOPA_PMI);
	ok(!pmi_status(), "pmi: GLOBAL_STATUS_RESET clears TraceToPAPMI");
	is(wrmsr_safe(MSR_PERF_GLOBAL_STATUS, 0), TRAPPED(VECTOR_GP),
	   "pmi: GLOBAL_STATUS is read-only");
}

/* With InjectPsbPmiOnEnable the processor tells that a PMI is to be handled. */
static void test_pending(void)
{
	setup(TOPA_INT);
	bulk_run(ROUNDS_ONE, CTL_TRACE_OS | CTL_TOPA | CTL_INJECTPSBPMI);
	ok(rdmsr(MSR_RTIT_STATUS) & STATUS_PENDTOPAPMI, "pmi: STATUS.PendToPAPMI");
	wrmsr(MSR_PERF_GLOBAL_RESET, GLOBAL_TOPA_PMI);
}

static void test_masked(void)
{
	u32 before = irq_count[PMI_VECTOR];

	lapic_set_lvtpc(LAPIC_LVT_MASKED | PMI_VECTOR);
	setup(TOPA_INT);
	run(ROUNDS_ONE);
	ok(pmi_status() && irq_count[PMI_VECTOR] == before,
	   "pmi: a masked LVTPC: status without an interrupt");
	setup(0);
	lapic_set_lvtpc(PMI_VECTOR);
	run(ROUNDS_ONE);
	ok(!pmi_status() && irq_count[PMI_VECTOR] == before,
	   "pmi: an entry without INT: neither status nor interrupt");
}

static void test_nmi(void)
{
	u32 before = irq_count[VECTOR_NMI];

	lapic_set_lvtpc(LAPIC_LVT_NMI);
	setup(TOPA_INT);
	run(ROUNDS_ONE);
	is(irq_count[VECTOR_NMI], before + 1, "pmi: delivered as NMI");
	ok(pmi_status(), "pmi: as NMI: GLOBAL_STATUS.TraceToPAPMI");
	lapic_set_lvtpc(LAPIC_LVT_NMI);
	wrmsr(MSR_PERF_GLOBAL_RESET, GLOBAL_TOPA_PMI);
	run(ROUNDS_ONE);
	is(irq_count[VECTOR_NMI], before + 2, "pmi: again after LVTPC is unmasked");
}

static void test_delay(void)
{
	u32 before = irq_count[PMI_VECTOR];
	u64 end;

	lapic_set_lvtpc(PMI_VECTOR);
	setup(TOPA_INT);
	bulk_run(ROUNDS_ONE, CTL_TRACE_OS | CTL_TOPA);
	end = rdtsc() + delay_tsc() / 2;
	do {
		sti_nop_cli();
	} while (rdtsc() < end && irq_count[PMI_VECTOR] == before);
	is(irq_count[PMI_VECTOR], before, "pmi: delayed: none before half of the delay");
	end = rdtsc() + 4 * delay_tsc();
	do {
		sti_nop_cli();
	} while (rdtsc() < end && irq_count[PMI_VECTOR] == before);
	is(irq_count[PMI_VECTOR], before + 1, "pmi: delayed: it comes later");
}

static void test_int_with_stop(void)
{
	u32 before = irq_count[PMI_VECTOR];

	lapic_set_lvtpc(PMI_VECTOR);
	setup(TOPA_INT | TOPA_STOP);
	run(ROUNDS_ONE);
	is(irq_count[PMI_VECTOR], before + 1, "pmi: INT with STOP: delivered");
	is(rdmsr(MSR_RTIT_STATUS) & STATUS_STOPPED, STATUS_STOPPED, "pmi: INT with STOP: stopped");
	ok(window_untouched(), "pmi: INT with STOP: nothing is written beyond");
}

static void test_second_entry(void)
{
	u32 before = irq_count[PMI_VECTOR];

	lapic_set_lvtpc(PMI_VECTOR);
	setup(0);
	topa_write(TABLE0, 1, REGION(1) | TOPA_INT);
	topa_write(TABLE0, 2, REGION(2));
	topa_write(TABLE0, 3, TABLE0 | TOPA_END);
	for (u32 n = 1; n <= 2; n++)
		window_allow(REGION(n), TOPA_SIZE_BYTES(0));
	run(ROUNDS_ONE);
	is(irq_count[PMI_VECTOR], before, "pmi: not from the first of three entries");
	run(ROUNDS_ONE);
	is(irq_count[PMI_VECTOR], before + 1, "pmi: from the second of three entries");
	ok(window_untouched(), "pmi: three entries: nothing else is written");
}

void test_pmi(void)
{
	if (!has(CAP_TOPA))
		return;
	test_vector();
	if (has(CAP_PSBPMI))
		test_pending();
	test_masked();
	test_nmi();
	test_int_with_stop();
	if (has(CAP_MULTI))
		test_second_entry();
	if (delay_tsc())
		test_delay();
	lapic_set_lvtpc(LAPIC_LVT_MASKED);
	wrmsr(MSR_PERF_GLOBAL_RESET, GLOBAL_TOPA_PMI);
	pt_reset();
}
