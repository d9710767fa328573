// SPDX-License-Identifier: GPL-2.0-only
/*
 * The configuration MSRs: which values they take and which fault, capability
 * by capability (SDM "Trace Configuration MSRs").
 */
#include "pt.h"

#define RESULT_GP		TRAPPED(VECTOR_GP)
/* The lowest address above the low half, for linear addresses of so many bits. */
#define NON_CANONICAL(bits)	BIT((bits) - 1)

/* One test point: a write that faults and leaves the MSR alone, or takes. */
static void write_point(u32 msr, u64 val, u64 readback, bool fault, const char *what)
{
	u64 before = 0, after = 0;
	int r;

	rdmsr_safe(msr, &before);
	r = wrmsr_safe(msr, val);
	rdmsr_safe(msr, &after);
	if (!ok(r == (fault ? RESULT_GP : 0) && after == (fault ? before : readback),
		"msr: 0x%x = 0x%lx %s: %s", msr, val, fault ? "faults" : "is taken", what))
		diag("result %d, before 0x%lx, after 0x%lx", r, before, after);
}

static void takes(u32 msr, u64 val, const char *what)
{
	write_point(msr, val, val, false, what);
}

static void faults(u32 msr, u64 val, const char *what)
{
	write_point(msr, val, 0, true, what);
}

static void expect_write(u32 msr, u64 val, bool allowed, const char *what)
{
	write_point(msr, val, val, !allowed, what);
}

static void absent(u32 msr, const char *what)
{
	u64 v;

	is(rdmsr_safe(msr, &v), RESULT_GP, "msr: RDMSR 0x%x faults: %s", msr, what);
	is(wrmsr_safe(msr, 0), RESULT_GP, "msr: WRMSR 0x%x faults: %s", msr, what);
}

/* Bits of IA32_RTIT_CTL of one meaning each; cap 0: always there. */
static const struct {
	u64 bit, cap;
	const char *name;
} ctl_bits[] = {
	{ CTL_CYCEN, CAP_PSBCYC, "CYCEn" },
	{ CTL_OS, 0, "OS" },
	{ CTL_USER, 0, "User" },
	{ CTL_PWREVTEN, CAP_POWEREV, "PwrEvtEn" },
	{ CTL_FUPONPTW, CAP_PTWRITE, "FUPonPTW" },
	{ CTL_FABRICEN, CAP_FABRIC, "FabricEn" },
	{ CTL_CR3FILTER, CAP_CR3FILTER, "CR3Filter" },
	{ CTL_TOPA, CAP_TOPA, "ToPA" },
	{ CTL_MTCEN, CAP_MTC, "MTCEn" },
	{ CTL_TSCEN, 0, "TSCEn" },
	{ CTL_DISRETC, 0, "DisRETC" },
	{ CTL_PTWEN, CAP_PTWRITE, "PTWEn" },
	{ CTL_BRANCHEN, 0, "BranchEn" },
	{ CTL_EVENTEN, CAP_EVENT, "EventEn" },
	{ CTL_DISTNT, CAP_NOTNT, "DisTNT" },
	{ CTL_INJECTPSBPMI, CAP_PSBPMI, "InjectPsbPmiOnEnable" },
};

static u64 ctl_field_bits(void)
{
	u64 mask = CTL_TRACEEN | CTL_MTCFREQ | CTL_CYCTHRESH | CTL_PSBFREQ;

	for (u32 n = 0; n < 4; n++)
		mask |= CTL_ADDR_CFG(n);
	return mask;
}

static void test_ctl_bits(void)
{
	u64 known = ctl_field_bits();

	for (u32 i = 0; i < ARRAY_SIZE(ctl_bits); i++) {
		bool there = !ctl_bits[i].cap || has(ctl_bits[i].cap);

		known |= ctl_bits[i].bit;
		wrmsr(MSR_RTIT_CTL, 0);
		expect_write(MSR_RTIT_CTL, ctl_bits[i].bit, there, ctl_bits[i].name);
	}
	for (u32 n = 0; n < 64; n++) {
		wrmsr(MSR_RTIT_CTL, 0);
		if (!(known & BIT(n)))
			faults(MSR_RTIT_CTL, BIT(n), "CTL, reserved bit");
	}
	wrmsr(MSR_RTIT_CTL, 0);
}

static void test_ctl_field(u64 mask, u64 cap, u32 bitmap, const char *name)
{
	for (u32 v = 1; v < 16; v++) {
		wrmsr(MSR_RTIT_CTL, 0);
		expect_write(MSR_RTIT_CTL, FIELD_PREP(mask, v), has(cap) && (bitmap & BIT(v)), name);
	}
	wrmsr(MSR_RTIT_CTL, 0);
}

static void test_ctl_ranges(void)
{
	for (u32 n = 0; n < 4; n++) {
		for (u32 v = 1; v < 16; v++) {
			wrmsr(MSR_RTIT_CTL, 0);
			expect_write(MSR_RTIT_CTL, FIELD_PREP(CTL_ADDR_CFG(n), v),
				     n < caps.ranges && v <= ADDR_CFG_STOP, "ADDRn_CFG");
		}
	}
	wrmsr(MSR_RTIT_CTL, 0);
}

/* Without OS and User nothing is traced, but TraceEn is set all the same. */
static void test_ctl_enabled(void)
{
	u64 on = CTL_TRACEEN | pt_output_ctl();

	pt_output_setup();
	takes(MSR_RTIT_CTL, on, "TraceEn");
	takes(MSR_RTIT_CTL, on, "the same value while TraceEn = 1");
	for (u32 i = 0; i < ARRAY_SIZE(ctl_bits); i++)
		if (!ctl_bits[i].cap || has(ctl_bits[i].cap))
			faults(MSR_RTIT_CTL, on ^ ctl_bits[i].bit,
			       "changed while TraceEn = 1");
	takes(MSR_RTIT_CTL, on & ~CTL_TRACEEN, "clearing TraceEn");

	wrmsr(MSR_RTIT_CTL, on);
	takes(MSR_RTIT_CTL, CTL_OS | CTL_TSCEN, "clearing TraceEn and a change with it");
	wrmsr(MSR_RTIT_CTL, 0);
}

static void test_ctl_output_scheme(void)
{
	pt_output_setup();
	expect_write(MSR_RTIT_CTL, CTL_TRACEEN, has(CAP_SINGLE), "TraceEn without ToPA");
	pt_output_setup();
	expect_write(MSR_RTIT_CTL, CTL_TRACEEN | CTL_TOPA, has(CAP_TOPA), "TraceEn with ToPA");
	wrmsr(MSR_RTIT_CTL, 0);
}

static void test_status(void)
{
	const u64 read_only = STATUS_CONTEXTEN | STATUS_TRIGGEREN |
		(has(CAP_IPFILTER) ? STATUS_FILTEREN : 0);
	const u64 pending = STATUS_PENDPSB | STATUS_PENDTOPAPMI;
	u64 before;

	wrmsr(MSR_RTIT_STATUS, 0);
	before = rdmsr(MSR_RTIT_STATUS);
	write_point(MSR_RTIT_STATUS, read_only, before, false,
		    "FilterEn, ContextEn, TriggerEn are read-only");
	takes(MSR_RTIT_STATUS, STATUS_ERROR, "Error");
	takes(MSR_RTIT_STATUS, STATUS_STOPPED, "Stopped");
	takes(MSR_RTIT_STATUS, 0, "Error and Stopped can be cleared");
	for (u32 n = 0; n < 64; n++) {
		u64 bit = BIT(n);

		/* FilterEn without IP filtering: the SDM does not say what a write does. */
		if (bit & (read_only | STATUS_FILTEREN | STATUS_ERROR | STATUS_STOPPED))
			continue;
		wrmsr(MSR_RTIT_STATUS, 0);
		if (bit & STATUS_BYTECNT)
			expect_write(MSR_RTIT_STATUS, bit, has(CAP_PSBCYC), "PacketByteCnt");
		else if (bit & pending)
			expect_write(MSR_RTIT_STATUS, bit, has(CAP_PSBPMI), "PendPSB, PendToPAPMI");
		else
			faults(MSR_RTIT_STATUS, bit, "STATUS, reserved bit");
	}
	wrmsr(MSR_RTIT_STATUS, 0);
}

static u64 status_while(u64 ctl)
{
	u64 v;

	wrmsr(MSR_RTIT_CTL, ctl | CTL_TRACEEN | pt_output_ctl());
	v = rdmsr(MSR_RTIT_STATUS);
	wrmsr(MSR_RTIT_CTL, 0);
	v &= STATUS_TRIGGEREN | STATUS_CONTEXTEN | STATUS_FILTEREN | STATUS_ERROR | STATUS_STOPPED;
	return has(CAP_IPFILTER) ? v : v & ~STATUS_FILTEREN;
}

static void test_status_enables(void)
{
	pt_output_setup();
	is(status_while(CTL_OS | CTL_BRANCHEN),
	   STATUS_TRIGGEREN | STATUS_CONTEXTEN | (has(CAP_IPFILTER) ? STATUS_FILTEREN : 0),
	   "msr: STATUS while tracing CPL 0: TriggerEn, ContextEn, FilterEn");
	is(status_while(CTL_USER | CTL_BRANCHEN) & (STATUS_TRIGGEREN | STATUS_CONTEXTEN),
	   STATUS_TRIGGEREN, "msr: STATUS at CPL 0 while tracing CPL 3: TriggerEn alone");
	wrmsr(MSR_RTIT_STATUS, STATUS_STOPPED);
	is(status_while(CTL_OS) & (STATUS_TRIGGEREN | STATUS_STOPPED), STATUS_STOPPED,
	   "msr: STATUS.Stopped keeps TriggerEn clear");
	wrmsr(MSR_RTIT_STATUS, STATUS_ERROR);
	is(status_while(CTL_OS) & (STATUS_TRIGGEREN | STATUS_ERROR), STATUS_ERROR,
	   "msr: STATUS.Error keeps TriggerEn clear");
	pt_reset();
}

static void test_output_base(void)
{
	u32 width = max_phys_addr_bits();

	takes(MSR_RTIT_OUTPUT_BASE, 0, "zero");
	for (u32 n = 0; n < 7; n++)
		faults(MSR_RTIT_OUTPUT_BASE, BIT(n), "OUTPUT_BASE[6:0] is reserved");
	takes(MSR_RTIT_OUTPUT_BASE, BIT(7), "lowest address bit");
	takes(MSR_RTIT_OUTPUT_BASE, GENMASK(width - 1, 7), "all of the address");
	for (u32 n = width; n < 64; n++)
		faults(MSR_RTIT_OUTPUT_BASE, BIT(n), "beyond MAXPHYADDR");
	wrmsr(MSR_RTIT_OUTPUT_BASE, 0);
}

static void test_output_mask(void)
{
	write_point(MSR_RTIT_OUTPUT_MASK, 0, MASK_LOWER, false, "[6:0] read as ones");
	takes(MSR_RTIT_OUTPUT_MASK, ~0ul, "all ones");
	write_point(MSR_RTIT_OUTPUT_MASK, 0x123456789abcdef0ul, 0x123456789abcdefful, false,
		    "[6:0] forced to ones");
	wrmsr(MSR_RTIT_OUTPUT_MASK, 0);
}

static void test_cr3_match(void)
{
	for (u32 n = 0; n < 5; n++)
		faults(MSR_RTIT_CR3_MATCH, BIT(n), "CR3_MATCH[4:0] is reserved");
	takes(MSR_RTIT_CR3_MATCH, BIT(5), "lowest bit");
	takes(MSR_RTIT_CR3_MATCH, 0x000ffffffffff000ul, "an address");
	takes(MSR_RTIT_CR3_MATCH, 0, "zero");
}

static void test_addr(void)
{
	u64 hole = NON_CANONICAL(max_linear_addr_bits());

	for (u32 n = 0; n < 4; n++) {
		for (u32 msr = MSR_RTIT_ADDR_A(n); msr <= MSR_RTIT_ADDR_B(n); msr++) {
			if (n >= caps.ranges) {
				absent(msr, "address range not enumerated");
				continue;
			}
			takes(msr, hole - 1, "canonical, low");
			takes(msr, -hole, "canonical, high");
			faults(msr, hole, "not canonical");
			faults(msr, hole << 1, "not canonical");
			faults(msr, -hole - 1, "not canonical");
			takes(msr, 0, "zero");
		}
	}
}

/* Every other RTIT MSR faults on WRMSR while TraceEn is set, whatever the value. */
static void test_locked(void)
{
	u32 msrs[4 + 8], n = 0;
	u64 v;

	msrs[n++] = MSR_RTIT_STATUS;
	if (has(CAP_TOPA | CAP_SINGLE)) {
		msrs[n++] = MSR_RTIT_OUTPUT_BASE;
		msrs[n++] = MSR_RTIT_OUTPUT_MASK;
	}
	if (has(CAP_CR3FILTER))
		msrs[n++] = MSR_RTIT_CR3_MATCH;
	for (u32 i = 0; i < caps.ranges; i++) {
		msrs[n++] = MSR_RTIT_ADDR_A(i);
		msrs[n++] = MSR_RTIT_ADDR_B(i);
	}
	pt_output_setup();
	wrmsr(MSR_RTIT_CTL, CTL_TRACEEN | pt_output_ctl());
	for (u32 i = 0; i < n; i++) {
		is(rdmsr_safe(msrs[i], &v), 0, "msr: RDMSR 0x%x works while TraceEn = 1", msrs[i]);
		is(wrmsr_safe(msrs[i], v), RESULT_GP, "msr: WRMSR 0x%x faults while TraceEn = 1",
		   msrs[i]);
	}
	wrmsr(MSR_RTIT_CTL, 0);
}

void test_msr(void)
{
	pt_reset();
	test_ctl_bits();
	test_ctl_field(CTL_MTCFREQ, CAP_MTC, caps.mtc_periods, "MTCFreq");
	test_ctl_field(CTL_CYCTHRESH, CAP_PSBCYC, caps.cyc_thresholds, "CycThresh");
	test_ctl_field(CTL_PSBFREQ, CAP_PSBCYC, caps.psb_freqs, "PSBFreq");
	test_ctl_ranges();
	test_status();
	if (has(CAP_CR3FILTER))
		test_cr3_match();
	else
		absent(MSR_RTIT_CR3_MATCH, "no CR3 filtering");
	test_addr();
	if (!has(CAP_TOPA | CAP_SINGLE)) {
		absent(MSR_RTIT_OUTPUT_BASE, "no output to memory");
		absent(MSR_RTIT_OUTPUT_MASK, "no output to memory");
		return;
	}
	test_output_base();
	test_output_mask();
	test_ctl_enabled();
	test_ctl_output_scheme();
	test_status_enables();
	test_locked();
	pt_reset();
}
