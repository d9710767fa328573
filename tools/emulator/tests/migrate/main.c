// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guest of migrate.test: traces a long pattern of branches, counts and
 * records them by the other models as well, and tells how far it is, so that
 * it can be saved and restored meanwhile. Nothing that it does or prints
 * depends on time.
 *
 * Command line: rounds=N, marks=N (how often it tells), scenario=topa|single|filter|pmi|bts|pebs
 */
#include "pattern.h"
#include "perfmon.h"

#define MSR_DS_AREA		0x600
#define MSR_LBR_TOS		0x1c9
#define MSR_LBR_FROM(n)		(0x680 + (n))
#define MSR_LBR_TO(n)		(0x6c0 + (n))
#define LBR_DEPTH		32
#define DEBUGCTL_LBR		BIT(0)
#define DEBUGCTL_TR		BIT(6)
#define DEBUGCTL_BTS		BIT(7)
#define EVENT_BRANCH_MISSES	0x00c5
#define PEBS_OUTPUT_PT		BIT(61)
#define PEBS_CFG_GP		BIT(1)
#define PEBS_PERIOD		1009
/* The ring of branch records */
#define RING			(ARENA + 0x100000)
#define RING_RECORDS		30000
#define RECORD_WORDS		3

#define STORE			(ARENA + 0x2000)
#define TABLE_A			ARENA
#define TABLE_B			(ARENA + 0x1000)
#define TRACE_BASE		(ARENA + 0x4000000)
/* log2 of the size of the single output range */
#define SINGLE_BITS		25

/* Sizes of the regions, as ToPA encodes them: what is saved is in any of them. */
static const u8 regions_a[] = { 0, 0, 1, 2, 3, 3, 4, 5, 6 };
static const u8 regions_b[] = { 7, 0, 8, 8, 9, 10, 11, 11, 12 };

/* With PMIs, regions of one size, so that one is full before each mark. */
#define PMI_REGIONS	128
#define PMI_REGION_SIZE	4

static u64 at = TRACE_BASE;

static u64 output_topa_pmi(void)
{
	u64 *entry = (u64 *)TABLE_A;

	for (u32 i = 0; i < PMI_REGIONS; i++) {
		*entry++ = at | FIELD_PREP(TOPA_SIZE, PMI_REGION_SIZE) | TOPA_INT;
		at += TOPA_SIZE_BYTES(PMI_REGION_SIZE);
	}
	*entry = TABLE_A | TOPA_END;
	wrmsr(MSR_RTIT_OUTPUT_BASE, TABLE_A);
	wrmsr(MSR_RTIT_OUTPUT_MASK, 0);
	return CTL_TOPA;
}

static void fill_table(u64 table, const u8 *sizes, u32 n, u64 next)
{
	u64 *entry = (u64 *)table;

	for (u32 i = 0; i < n; i++) {
		u64 size = TOPA_SIZE_BYTES(sizes[i]);

		/* A region is aligned to its size; the trace has gaps there. */
		at = (at + size - 1) & ~(size - 1);
		*entry++ = at | FIELD_PREP(TOPA_SIZE, sizes[i]);
		at += size;
	}
	*entry = next | TOPA_END;
}

static u64 output_topa(void)
{
	fill_table(TABLE_A, regions_a, ARRAY_SIZE(regions_a), TABLE_B);
	fill_table(TABLE_B, regions_b, ARRAY_SIZE(regions_b), TABLE_A);
	wrmsr(MSR_RTIT_OUTPUT_BASE, TABLE_A);
	wrmsr(MSR_RTIT_OUTPUT_MASK, 0);
	return CTL_TOPA;
}

static u64 output_single(void)
{
	at = TRACE_BASE + BIT(SINGLE_BITS);
	wrmsr(MSR_RTIT_OUTPUT_BASE, TRACE_BASE);
	wrmsr(MSR_RTIT_OUTPUT_MASK, BIT(SINGLE_BITS) - 1);
	return 0;
}

static u64 filter(void)
{
	wrmsr(MSR_RTIT_ADDR_A(0), (u64)__start_ranged);
	wrmsr(MSR_RTIT_ADDR_B(0), (u64)__stop_ranged - 1);
	return FIELD_PREP(CTL_ADDR_CFG(0), ADDR_CFG_FILTER);
}

static bool scenario(const char *name)
{
	const char *given = cmdline_get("scenario");

	return given && !strncmp(given, name, strlen(name));
}

static u64 control(void)
{
	u64 ctl = CTL_TRACE_OS;

	/* Without a gap in a record of PEBS, as there is between regions */
	if (scenario("single") || scenario("pebs"))
		ctl |= output_single();
	else
		ctl |= scenario("pmi") ? output_topa_pmi() : output_topa();
	if (scenario("filter"))
		ctl |= filter();
	if (has(CAP_PTWRITE))
		ctl |= CTL_PTWEN | CTL_FUPONPTW;
	if (has(CAP_EVENT))
		ctl |= CTL_EVENTEN;
	return ctl;
}

/* A ring that goes round many times */
static void branches_start(void)
{
	struct debug_store *store = (struct debug_store *)STORE;
	u64 end = RING + RING_RECORDS * RECORD_WORDS * sizeof(u64);

	store->branches[0] = RING;
	store->branches[1] = RING;
	store->branches[2] = end;
	store->branches[3] = end + RECORD_WORDS * sizeof(u64);
	wrmsr(MSR_DS_AREA, STORE);
}

/* Records of branches, in the trace */
static void pebs_start(void)
{
	u64 first = -PEBS_PERIOD & (BIT(48) - 1);

	wrmsr(MSR_PEBS_DATA_CFG, PEBS_CFG_GP);
	wrmsr(MSR_RELOAD_PMC(0), first);
	/* Of what is written there, 32 bits are taken, and extended by their sign. */
	wrmsr(MSR_PMC(0), (u32)first);
	wrmsr(MSR_EVNTSEL(0), EVENT_BRANCHES | EVNTSEL_OS | EVNTSEL_EN | EVNTSEL_ADAPTIVE);
	wrmsr(MSR_PEBS_ENABLE, PEBS_OUTPUT_PT | BIT(0));
}

static void counters_start(void)
{
	u64 debugctl = DEBUGCTL_LBR;

	wrmsr(MSR_EVNTSEL(0), EVENT_BRANCHES | EVNTSEL_OS | EVNTSEL_EN);
	wrmsr(MSR_EVNTSEL(1), EVENT_BRANCH_MISSES | EVNTSEL_OS | EVNTSEL_EN);
	wrmsr(MSR_FIXED_CTR_CTRL, FIXED_CTRL(0, FIXED_OS));
	if (scenario("pebs"))
		pebs_start();
	if (scenario("bts")) {
		branches_start();
		debugctl |= DEBUGCTL_TR | DEBUGCTL_BTS;
	}
	wrmsr(MSR_DEBUGCTL, debugctl);
	wrmsr(MSR_PERF_GLOBAL_CTRL, GLOBAL_FIXED(0) | GLOBAL_PMC(0) | GLOBAL_PMC(1));
}

static void counters_stop(void)
{
	wrmsr(MSR_PERF_GLOBAL_CTRL, 0);
	wrmsr(MSR_DEBUGCTL, 0);
}

static void report_others(void)
{
	u64 sum = rdmsr(MSR_LBR_TOS);

	for (u32 n = 0; n < LBR_DEPTH; n++)
		sum = (sum * 31 + rdmsr(MSR_LBR_FROM(n))) * 31 + rdmsr(MSR_LBR_TO(n));
	print("instructions: %lu\n", rdmsr(MSR_FIXED_CTR(0)));
	print("branches: %lu\n", rdmsr(MSR_PMC(0)));
	print("branch misses: %lu\n", rdmsr(MSR_PMC(1)));
	print("last branch records: 0x%lx\n", sum);

	sum = ((struct debug_store *)STORE)->branches[1];
	for (u32 n = 0; n < RING_RECORDS * RECORD_WORDS; n++)
		sum = sum * 31 + ((u64 *)RING)[n];
	print("branch records in memory: 0x%lx\n", sum);
}

static u64 work(u64 rounds, u64 marks, u64 ctl)
{
	u64 sum = 0, mark = 0;

	for (u64 i = 0; i < rounds; i++) {
		if (i >= mark * rounds / marks) {
			print("mark %lu\n", mark++);
			if (i && scenario("pmi"))
				pmi_wait(ctl);
		}
		sum = sum * 31 + pattern_round();
	}
	return sum;
}

void __attribute__((noreturn)) main(const void *start_info)
{
	u64 ctl, sum;

	console_init();
	cmdline_init(start_info);
	cpu_init();
	if (!pt_init())
		bail_out("the processor has no Intel PT");
	pt_reset();
	pattern_init(has(CAP_PTWRITE));
	ctl = control();

	/* A wait for an interrupt depends on time. */
	if (scenario("pmi"))
		pmi_init();
	else
		counters_start();
	wrmsr(MSR_RTIT_CTL, ctl);
	sum = work(cmdline_num("rounds", 1000), cmdline_num("marks", 1), ctl);
	wrmsr(MSR_RTIT_CTL, ctl & ~CTL_TRACEEN);
	counters_stop();

	print("result of the work: 0x%lx\n", sum);
	print("status: 0x%lx\n", rdmsr(MSR_RTIT_STATUS));
	print("position: 0x%lx 0x%lx\n", rdmsr(MSR_RTIT_OUTPUT_BASE), rdmsr(MSR_RTIT_OUTPUT_MASK));
	report_others();
	print("output: 0x%lx 0x%lx\n", (u64)TRACE_BASE, at);
	print("end\n");
	for (;;)
		asm volatile("cli; hlt");
}
