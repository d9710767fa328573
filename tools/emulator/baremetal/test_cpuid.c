// SPDX-License-Identifier: GPL-2.0-only
/* CPUID: the capabilities that the command line names are those shown, and no others. */
#include "pt.h"

#define TSC_RATIO_DENOMINATOR	2
#define TSC_RATIO_NUMERATOR	200
#define CRYSTAL_HZ		25000000
#define DEFAULT_RANGES		4

/* The order is that of the bits; the default is the model's. */
static const struct {
	const char *name;
	u64 cap;
	bool on;
} properties[] = {
	{ "cr3filter", CAP_CR3FILTER, true },
	{ "psbcyc", CAP_PSBCYC, true },
	{ "ipfilter", CAP_IPFILTER, true },
	{ "mtc", CAP_MTC, true },
	{ "ptwrite", CAP_PTWRITE, true },
	{ "powerev", CAP_POWEREV, true },
	{ "psbpmi", CAP_PSBPMI, false },
	{ "event", CAP_EVENT, true },
	{ "notnt", CAP_NOTNT, true },
	{ "topa", CAP_TOPA, true },
	{ "multi", CAP_MULTI, true },
	{ "single", CAP_SINGLE, true },
	{ "fabric", CAP_FABRIC, false },
	{ "lip", CAP_LIP, false },
};

/* What another property decides as well. */
static bool possible(u64 cap)
{
	if (cap == CAP_IPFILTER)	/* it is to have "one or more" ranges */
		return cmdline_num("ranges", DEFAULT_RANGES);
	if (cap == CAP_MULTI)		/* it is about ToPA tables */
		return cmdline_num("topa", true);
	return true;
}

static void test_leaf14(void)
{
	struct cpuid l = cpuid(0x14, 0);
	u64 known = 0;

	for (u32 i = 0; i < ARRAY_SIZE(properties); i++) {
		bool want = cmdline_num(properties[i].name, properties[i].on) &&
			    possible(properties[i].cap);

		is(!!has(properties[i].cap), want, "cpuid: 14H.0 shows %s = %d",
		   properties[i].name, want);
		known |= properties[i].cap;
	}
	is(caps.bits & ~known, 0, "cpuid: 14H.0 has no other bit set");
	is(l.d, 0, "cpuid: 14H.0 EDX is reserved");
	ok(l.a >= 1, "cpuid: 14H has sub-leaf 1");
	is(cpuid(0x14, l.a + 1).a, 0, "cpuid: 14H has nothing above its last sub-leaf");
}

static void test_leaf14_1(void)
{
	struct cpuid l = cpuid(0x14, 1);
	u32 ranges = has(CAP_IPFILTER) ? cmdline_num("ranges", DEFAULT_RANGES) : 0;

	is(l.a & GENMASK(2, 0), ranges, "cpuid: 14H.1 shows %u address ranges", ranges);
	is(l.a & GENMASK(15, 3), 0, "cpuid: 14H.1 EAX[15:3] is reserved");
	is(l.c | l.d, 0, "cpuid: 14H.1 ECX and EDX are reserved");
	is(!!caps.mtc_periods, !!has(CAP_MTC), "cpuid: 14H.1 shows MTC periods as 14H.0 shows MTC");
	is(!!caps.cyc_thresholds, !!has(CAP_PSBCYC),
	   "cpuid: 14H.1 shows CYC thresholds as 14H.0 shows CYC");
	is(!!caps.psb_freqs, !!has(CAP_PSBCYC),
	   "cpuid: 14H.1 shows PSB periods as 14H.0 shows configurable PSB");
	if (has(CAP_MTC))
		ok(caps.mtc_periods & 1, "cpuid: MTC period 0 is supported");
	if (has(CAP_PSBCYC))
		ok(caps.cyc_thresholds & caps.psb_freqs & 1,
		   "cpuid: CYC threshold 0 and PSB period 0 are supported");
}

static void test_leaf15(void)
{
	struct cpuid l = cpuid(0x15, 0);

	is(l.a, TSC_RATIO_DENOMINATOR, "cpuid: 15H EAX, denominator of TSC to crystal");
	is(l.b, TSC_RATIO_NUMERATOR, "cpuid: 15H EBX, numerator");
	is(l.c, CRYSTAL_HZ, "cpuid: 15H ECX, crystal in Hz");
}

static void test_leaf0a(void)
{
	struct cpuid l = cpuid(0xa, 0);
	u32 version = l.a & 0xff, counters = l.a >> 8 & 0xff, width = l.a >> 16 & 0xff;

	ok(version >= 2, "cpuid: 0AH shows PerfMon version 2 or later (%u)", version);
	ok(counters >= 2 && width >= 40, "cpuid: 0AH shows %u general counters of %u bits",
	   counters, width);
	ok((l.d & 0x1f) >= 3 && (l.d >> 5 & 0xff) >= 40,
	   "cpuid: 0AH shows %u fixed counters of %u bits", l.d & 0x1f, l.d >> 5 & 0xff);
	ok((l.a >> 24) >= 7, "cpuid: 0AH enumerates the seven architectural events");
}

/*
 * "assume=1": the subjects run whatever CPUID says; on a machine without
 * Intel PT that shows that each of them can fail.
 */
static void assume_defaults(void)
{
	for (u32 i = 0; i < ARRAY_SIZE(properties); i++)
		if (properties[i].on)
			caps.bits |= properties[i].cap;
	caps.ranges = DEFAULT_RANGES;
	caps.mtc_periods = caps.cyc_thresholds = caps.psb_freqs = 1;
}

void test_cpuid(bool have_pt)
{
	bool want = cmdline_num("pt", 1);

	if (cmdline_num("assume", 0)) {
		assume_defaults();
		return;
	}
	is(have_pt, want, "cpuid: 7.EBX[25] shows Intel PT = %d", want);
	if (want && !have_pt)
		bail_out("no Intel PT in CPUID");
	if (!have_pt) {
		/* Above the highest leaf a processor shows the data of that leaf. */
		if (cpuid(0, 0).a >= 0x14)
			is(cpuid(0x14, 0).b | cpuid(0x14, 0).c, 0,
			   "cpuid: 14H is empty without Intel PT");
		return;
	}
	test_leaf14();
	test_leaf14_1();
	test_leaf15();
	test_leaf0a();
}
