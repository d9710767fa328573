// SPDX-License-Identifier: GPL-2.0-only
/* Capabilities, output set-up, running a traced sequence. */
#include "pt.h"

#define CPUID7_EBX_INTEL_PT	BIT(25)
#define CPUID_MAX_RANGES	4

struct pt_caps caps;
u64 snip_ctl_on, snip_ctl_off, snip_arg[8];

bool pt_init(void)
{
	struct cpuid l;

	if (cpuid(0, 0).a < 0x14 || !(cpuid(7, 0).b & CPUID7_EBX_INTEL_PT))
		return false;
	l = cpuid(0x14, 0);
	caps.bits = l.b | (u64)l.c << 32;
	if (l.a) {
		l = cpuid(0x14, 1);
		caps.ranges = has(CAP_IPFILTER) ? l.a & GENMASK(2, 0) : 0;
		caps.mtc_periods = l.a >> 16;
		caps.cyc_thresholds = l.b & 0xffff;
		caps.psb_freqs = l.b >> 16;
	}
	return true;
}

void pt_reset(void)
{
	wrmsr(MSR_RTIT_CTL, 0);
	wrmsr(MSR_RTIT_STATUS, 0);
	for (u32 i = 0; i < caps.ranges; i++) {
		wrmsr(MSR_RTIT_ADDR_A(i), 0);
		wrmsr(MSR_RTIT_ADDR_B(i), 0);
	}
	if (has(CAP_CR3FILTER))
		wrmsr(MSR_RTIT_CR3_MATCH, 0);
}

u64 pt_range_set(u32 n, const u8 *in, const u8 *end, u64 config)
{
	wrmsr(MSR_RTIT_ADDR_A(n), (u64)in);
	wrmsr(MSR_RTIT_ADDR_B(n), (u64)end - 1);	/* the limit is inclusive */
	return FIELD_PREP(CTL_ADDR_CFG(n), config);
}

u64 pt_output_ctl(void)
{
	return has(CAP_TOPA) ? CTL_TOPA : 0;
}

/* log2(OUTPUT_SIZE / 4 KiB), as ToPA wants it. */
static u64 output_topa_size(void)
{
	return __builtin_ctzl(OUTPUT_SIZE) - __builtin_ctzl(TOPA_SIZE_BYTES(0));
}

void pt_output_at(u64 base, u64 mask)
{
	wrmsr(MSR_RTIT_OUTPUT_BASE, base);
	wrmsr(MSR_RTIT_OUTPUT_MASK, mask);
}

void pt_output_setup(void)
{
	pt_reset();
	memset(OUTPUT_BUFFER, OUTPUT_POISON, OUTPUT_SIZE);
	if (has(CAP_TOPA)) {
		OUTPUT_TABLE[0] = (u64)OUTPUT_BUFFER |
			FIELD_PREP(TOPA_SIZE, output_topa_size());
		OUTPUT_TABLE[1] = (u64)OUTPUT_TABLE | TOPA_END;
		pt_output_at((u64)OUTPUT_TABLE, 0);
	} else {
		pt_output_at((u64)OUTPUT_BUFFER, OUTPUT_SIZE - 1);
	}
}

u64 pt_output_bytes(void)
{
	return FIELD_GET(MASK_OUTPUT_OFFSET, rdmsr(MSR_RTIT_OUTPUT_MASK));
}

bool pt_output_wrapped(void)
{
	const u8 *end = (const u8 *)OUTPUT_BUFFER + OUTPUT_SIZE;

	/* A byte of a packet may be the poison. */
	for (u32 i = 1; i <= WRAP_SAMPLE; i++)
		if (end[-(int)i] != OUTPUT_POISON)
			return true;
	return false;
}

bool snippet_run_prepared(snippet_fn *fn, u64 ctl)
{
	snip_ctl_on = ctl | pt_output_ctl();
	snip_ctl_off = snip_ctl_on & ~CTL_TRACEEN;
	fn();
	return trace_collect();
}

bool snippet_run(snippet_fn *fn, u64 ctl)
{
	pt_output_setup();
	return snippet_run_prepared(fn, ctl);
}
