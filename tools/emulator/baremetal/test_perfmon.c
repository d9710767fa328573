// SPDX-License-Identifier: GPL-2.0-only
/* The basics of the performance counters: counting, filters, overflow, faults. */
#include "perfmon.h"

#define RDPMC_FIXED		BIT(30)

#define PMI_VECTOR		0x55
#define USER_VECTOR		0x71
#define TIMER_VECTOR		0x73
/* Sleep, and what is counted awake until a PMI. */
#define HALT_TICKS		500000
#define HALT_TRIES		3
#define AWAKE_TSC		20000000ul
/* The timer's interrupt is handled unseen. */
#define AWAKE_MINIMUM		(AWAKE_TSC / 8 * 7)
#define USER_INSTRUCTIONS	5
#define MSR_PERF_GLOBAL_SET	0x391
#define ROUNDS			10000
#define INSNS_PER_ROUND		2
/* Instructions around the loop, between the two WRMSR: a few, the same every time. */
#define MAX_AROUND		8

/* A register of the local APIC that keeps what is written to it */
#define LAPIC_TIMER_COUNT	0xfee00380ul

snippet_fn perf_loop, user_int;
extern const u8 user_int_handler[];

u32 counters, fixed;
u64 counter_mask, fixed_mask;
static u32 version;

u32 perfmon_init(void)
{
	struct cpuid l = cpuid(0xa, 0);

	version = l.a & 0xff;
	counters = l.a >> 8 & 0xff;
	counter_mask = GENMASK((l.a >> 16 & 0xff) - 1, 0);
	fixed = l.d & 0x1f;
	fixed_mask = GENMASK((l.d >> 5 & 0xff) - 1, 0);
	return version;
}

void perfmon_reset(void)
{
	wrmsr(MSR_PERF_GLOBAL_CTRL, 0);
	wrmsr(MSR_FIXED_CTR_CTRL, 0);
	for (u32 n = 0; n < counters; n++) {
		wrmsr(MSR_EVNTSEL(n), 0);
		wrmsr(MSR_PMC(n), 0);
	}
	for (u32 n = 0; n < fixed; n++)
		wrmsr(MSR_FIXED_CTR(n), 0);
	wrmsr(MSR_PERF_GLOBAL_RESET, rdmsr(MSR_PERF_GLOBAL_STATUS));
}

/* The loop with GLOBAL_CTRL = @global around it. */
static void loop(u64 global, u64 rounds)
{
	snip_arg[0] = MSR_PERF_GLOBAL_CTRL;
	snip_arg[1] = global;
	snip_arg[2] = 0;
	snip_arg[3] = rounds;
	perf_loop();
}

static u64 count(u32 msr, u64 global, u64 rounds)
{
	wrmsr(msr, 0);
	loop(global, rounds);
	return rdmsr(msr);
}

/* @per_round of each round, and the same for the same run. */
static void check_exact(u32 msr, u64 global, u64 per_round, const char *name)
{
	u64 a = count(msr, global, ROUNDS), b = count(msr, global, ROUNDS);
	u64 c = count(msr, global, 2 * ROUNDS);

	is(b, a, "perfmon: %s: the same loop counts the same", name);
	is(c - a, per_round * ROUNDS, "perfmon: %s: %u more rounds count exactly that", name, ROUNDS);
	ok(a >= per_round * ROUNDS && a - per_round * ROUNDS <= MAX_AROUND,
	   "perfmon: %s: little more than the loop (%lu)", name, a);
}

static void test_counting(void)
{
	perfmon_reset();
	wrmsr(MSR_FIXED_CTR_CTRL, FIXED_CTRL(0, FIXED_OS));
	check_exact(MSR_FIXED_CTR(0), GLOBAL_FIXED(0), INSNS_PER_ROUND, "fixed counter 0, instructions");

	wrmsr(MSR_EVNTSEL(0), EVENT_INSTRUCTIONS | EVNTSEL_OS | EVNTSEL_EN);
	check_exact(MSR_PMC(0), GLOBAL_PMC(0), INSNS_PER_ROUND, "PMC0, instructions");

	wrmsr(MSR_EVNTSEL(1), EVENT_BRANCHES | EVNTSEL_OS | EVNTSEL_EN);
	check_exact(MSR_PMC(1), GLOBAL_PMC(1), 1, "PMC1, branches");

	wrmsr(MSR_EVNTSEL(0), EVENT_CYCLES | EVNTSEL_OS | EVNTSEL_EN);
	ok(count(MSR_PMC(0), GLOBAL_PMC(0), ROUNDS) > 0, "perfmon: PMC0 counts cycles");
	wrmsr(MSR_FIXED_CTR_CTRL, FIXED_CTRL(1, FIXED_OS) | FIXED_CTRL(2, FIXED_OS));
	ok(count(MSR_FIXED_CTR(1), GLOBAL_FIXED(1), ROUNDS) > 0, "perfmon: fixed counter 1 counts cycles");
	ok(count(MSR_FIXED_CTR(2), GLOBAL_FIXED(2), ROUNDS) > 0,
	   "perfmon: fixed counter 2 counts reference cycles");
}

static void test_enables(void)
{
	perfmon_reset();
	wrmsr(MSR_FIXED_CTR_CTRL, FIXED_CTRL(0, FIXED_USR));
	is(count(MSR_FIXED_CTR(0), GLOBAL_FIXED(0), ROUNDS), 0,
	   "perfmon: fixed, User alone: nothing at CPL 0");
	wrmsr(MSR_FIXED_CTR_CTRL, FIXED_CTRL(0, FIXED_OS));
	is(count(MSR_FIXED_CTR(0), 0, ROUNDS), 0, "perfmon: fixed, GLOBAL_CTRL clear: nothing");
	wrmsr(MSR_EVNTSEL(0), EVENT_INSTRUCTIONS | EVNTSEL_USR | EVNTSEL_EN);
	is(count(MSR_PMC(0), GLOBAL_PMC(0), ROUNDS), 0, "perfmon: PMC0, USR alone: nothing at CPL 0");
	wrmsr(MSR_EVNTSEL(0), EVENT_INSTRUCTIONS | EVNTSEL_OS);
	is(count(MSR_PMC(0), GLOBAL_PMC(0), ROUNDS), 0, "perfmon: PMC0, EN clear: nothing");
	wrmsr(MSR_EVNTSEL(0), EVENT_INSTRUCTIONS | EVNTSEL_OS | EVNTSEL_EN);
	is(count(MSR_PMC(0), GLOBAL_PMC(1), ROUNDS), 0,
	   "perfmon: PMC0, its GLOBAL_CTRL bit clear: nothing");
}

/* Ring 3 alone: user_int has five instructions there, INT itself may count or not. */
static void test_ring3(void)
{
	u64 n;

	perfmon_reset();
	gate_set(USER_VECTOR, user_int_handler, 3);
	wrmsr(MSR_FIXED_CTR_CTRL, FIXED_CTRL(0, FIXED_USR));
	wrmsr(MSR_PERF_GLOBAL_CTRL, GLOBAL_FIXED(0));
	/* Not traced: OS and User are clear. */
	snip_ctl_on = 0;
	snip_ctl_off = 0;
	user_int();
	wrmsr(MSR_PERF_GLOBAL_CTRL, 0);
	gate_default(USER_VECTOR);
	n = rdmsr(MSR_FIXED_CTR(0));
	ok(n == USER_INSTRUCTIONS || n == USER_INSTRUCTIONS - 1,
	   "perfmon: fixed, User alone: the instructions of ring 3 (%lu)", n);
	perfmon_reset();
}

/* Version 4 can set what it can reset. */
static void test_status_set(void)
{
	const u64 bits = GLOBAL_PMC(0) | GLOBAL_FIXED(0) | (has(CAP_TOPA) ? GLOBAL_TOPA_PMI : 0);

	if (version < 4)
		return;
	perfmon_reset();
	wrmsr(MSR_PERF_GLOBAL_SET, bits);
	is(rdmsr(MSR_PERF_GLOBAL_STATUS) & bits, bits, "perfmon: GLOBAL_STATUS_SET sets");
	wrmsr(MSR_PERF_GLOBAL_RESET, bits);
	is(rdmsr(MSR_PERF_GLOBAL_STATUS) & bits, 0, "perfmon: GLOBAL_STATUS_RESET clears");
}

static void test_rdpmc(void)
{
	u64 v = 0;

	perfmon_reset();
	wrmsr(MSR_PMC(0), 0x12345678);
	is(rdpmc_safe(0, &v), 0, "perfmon: RDPMC 0 works");
	is(v, 0x12345678, "perfmon: RDPMC 0 is PMC0");
	wrmsr(MSR_FIXED_CTR(0), 0x23456789);
	is(rdpmc_safe(RDPMC_FIXED, &v), 0, "perfmon: RDPMC of a fixed counter works");
	is(v, 0x23456789, "perfmon: RDPMC of fixed counter 0");
	is(rdpmc_safe(counters, &v), TRAPPED(VECTOR_GP), "perfmon: RDPMC beyond the counters faults");
	is(rdpmc_safe(RDPMC_FIXED | fixed, &v), TRAPPED(VECTOR_GP),
	   "perfmon: RDPMC beyond the fixed counters faults");
}

static void check_overflow(u32 msr, u64 start, u64 global, const char *name)
{
	u32 before = irq_count[PMI_VECTOR];

	lapic_set_lvtpc(PMI_VECTOR);
	wrmsr(msr, start);
	loop(global, ROUNDS / 4);
	sti_nop_cli();
	is(irq_count[PMI_VECTOR], before, "perfmon: %s: no PMI before the overflow", name);
	loop(global, ROUNDS);
	sti_nop_cli();
	is(irq_count[PMI_VECTOR], before + 1, "perfmon: %s: one PMI by the overflow", name);
	is(rdmsr(MSR_PERF_GLOBAL_STATUS) & global, global, "perfmon: %s: GLOBAL_STATUS has its bit", name);
	ok(lapic_get_lvtpc() & LAPIC_LVT_MASKED, "perfmon: %s: delivery masks LVTPC", name);
	ok(rdmsr(msr) < 4 * ROUNDS, "perfmon: %s: the counter goes on from zero", name);
	wrmsr(MSR_PERF_GLOBAL_RESET, global);
	is(rdmsr(MSR_PERF_GLOBAL_STATUS) & global, 0, "perfmon: %s: the reset clears it", name);
}

static void test_overflow_pmi(void)
{
	perfmon_reset();
	wrmsr(MSR_FIXED_CTR_CTRL, FIXED_CTRL(0, FIXED_OS | FIXED_PMI));
	check_overflow(MSR_FIXED_CTR(0), fixed_mask + 1 - ROUNDS, GLOBAL_FIXED(0), "fixed counter 0");
	perfmon_reset();
	wrmsr(MSR_EVNTSEL(0), EVENT_INSTRUCTIONS | EVNTSEL_OS | EVNTSEL_EN | EVNTSEL_INT);
	check_overflow(MSR_PMC(0), (u32)-ROUNDS, GLOBAL_PMC(0), "PMC0");

	perfmon_reset();
	lapic_set_lvtpc(PMI_VECTOR);
	wrmsr(MSR_EVNTSEL(0), EVENT_INSTRUCTIONS | EVNTSEL_OS | EVNTSEL_EN);
	wrmsr(MSR_PMC(0), (u32)-ROUNDS);
	u32 before = irq_count[PMI_VECTOR];

	loop(GLOBAL_PMC(0), ROUNDS);
	sti_nop_cli();
	ok(irq_count[PMI_VECTOR] == before && (rdmsr(MSR_PERF_GLOBAL_STATUS) & GLOBAL_PMC(0)),
	   "perfmon: PMC0 without INT: status without a PMI");
	lapic_set_lvtpc(LAPIC_LVT_MASKED);
}

/* HLT, then awake until the counter overflows; how long awake, in TSC ticks, 0: no overflow. */
static u64 halt_once(void)
{
	u32 before = irq_count[PMI_VECTOR];
	u64 start, asleep, awake, end;

	perfmon_reset();
	lapic_set_lvtpc(PMI_VECTOR);
	wrmsr(MSR_FIXED_CTR_CTRL, FIXED_CTRL(2, FIXED_OS | FIXED_PMI));
	wrmsr(MSR_FIXED_CTR(2), fixed_mask + 1 - AWAKE_TSC);
	lapic_timer(TIMER_VECTOR, HALT_TICKS);
	start = rdtsc();
	wrmsr(MSR_PERF_GLOBAL_CTRL, GLOBAL_FIXED(2));
	asleep = rdtsc();
	asm volatile("sti; hlt");
	awake = rdtsc();
	/* No register of PerfMon is touched meanwhile: that would bring it up to date. */
	do
		end = rdtsc();
	while (irq_count[PMI_VECTOR] == before && end - awake < 20 * AWAKE_TSC);
	asm volatile("cli");
	lapic_timer(0, 0);
	lapic_set_lvtpc(LAPIC_LVT_MASKED);
	return irq_count[PMI_VECTOR] == before ? 0 : asleep - start + end - awake;
}

/* The reference clock stands in HLT, and goes on at once thereafter. */
static void test_halt(void)
{
	u64 awake = 0;

	/* A busy host may take the processor away between RDTSC and HLT: then once more. */
	for (u32 try = 0; try < HALT_TRIES && awake < AWAKE_MINIMUM; try++)
		awake = halt_once();
	if (!ok(awake >= AWAKE_MINIMUM, "perfmon: reference cycles stand in HLT, then go on"))
		diag("the PMI came after %lu TSC ticks awake (0: not at all)", awake);
}

/* One record of PMC0 to @index; true: the processor has written it. */
static bool pebs_to(u64 index)
{
	struct debug_store *ds = DEBUG_STORE;

	memset(ds, 0, sizeof(*ds));
	ds->base = index;
	ds->index = index;
	ds->maximum = index + 4096;
	ds->threshold = index + 4096;
	perfmon_reset();
	wrmsr(MSR_DS_AREA, (u64)ds);
	wrmsr(MSR_PEBS_ENABLE, GLOBAL_PMC(0));
	wrmsr(MSR_PMC(0), (u32)-100);
	wrmsr(MSR_EVNTSEL(0), EVENT_INSTRUCTIONS | EVNTSEL_OS | EVNTSEL_EN);
	loop(GLOBAL_PMC(0), 100);
	wrmsr(MSR_PEBS_ENABLE, 0);
	wrmsr(MSR_DS_AREA, 0);
	perfmon_reset();
	return ds->index != index;
}

/* A device is neither a DS area nor room for a record: it would be written to. */
static void test_pebs_memory(void)
{
	volatile u32 *count = (volatile u32 *)LAPIC_TIMER_COUNT;
	u32 before = *count;

	ok(pebs_to((u64)(DEBUG_STORE + 1)), "perfmon: PEBS: a record is written to memory");
	ok(!pebs_to(LAPIC_TIMER_COUNT), "perfmon: PEBS: no record is written to a device");
	is(*count, before, "perfmon: PEBS: the device is not touched");
}

static void test_values(void)
{
	perfmon_reset();
	wrmsr(MSR_PMC(0), 0x80000000);
	is(rdmsr(MSR_PMC(0)), 0xffffffff80000000 & counter_mask,
	   "perfmon: a write to a PMC is sign-extended from bit 31");
	wrmsr(MSR_FIXED_CTR(0), fixed_mask);
	is(rdmsr(MSR_FIXED_CTR(0)), fixed_mask, "perfmon: a fixed counter takes its full width");
	is(wrmsr_safe(MSR_FIXED_CTR(0), fixed_mask + 1), TRAPPED(VECTOR_GP),
	   "perfmon: a fixed counter beyond its width faults");
	is(wrmsr_safe(MSR_PERF_GLOBAL_STATUS, 0), TRAPPED(VECTOR_GP),
	   "perfmon: WRMSR GLOBAL_STATUS faults");
	is(wrmsr_safe(MSR_PERF_GLOBAL_CTRL, BIT(31)), TRAPPED(VECTOR_GP),
	   "perfmon: GLOBAL_CTRL of an absent counter faults");
	is(wrmsr_safe(MSR_PERF_GLOBAL_CTRL, GLOBAL_FIXED(16)), TRAPPED(VECTOR_GP),
	   "perfmon: GLOBAL_CTRL of an absent fixed counter faults");
	is(wrmsr_safe(MSR_FIXED_CTR_CTRL, BIT(63)), TRAPPED(VECTOR_GP),
	   "perfmon: a reserved bit of FIXED_CTR_CTRL faults");
	is(wrmsr_safe(MSR_EVNTSEL(0), BIT(40)), TRAPPED(VECTOR_GP),
	   "perfmon: a reserved bit of PERFEVTSEL0 faults");
	is(wrmsr_safe(MSR_PERF_GLOBAL_RESET, BIT(40)), TRAPPED(VECTOR_GP),
	   "perfmon: a reserved bit of GLOBAL_STATUS_RESET faults");
	perfmon_reset();
}

void test_perfmon(void)
{
	if (perfmon_init() < 2) {
		ok(!cmdline_num("pmu", 1), "perfmon: there is a version 2");
		return;
	}
	test_counting();
	test_enables();
	test_ring3();
	test_status_set();
	test_rdpmc();
	test_overflow_pmi();
	test_halt();
	if (cpuid(1, 0).d & CPUID_FEATURE_EDX_DS && !(rdmsr(MSR_MISC_ENABLE) & MISC_NO_PEBS))
		test_pebs_memory();
	test_values();
}
