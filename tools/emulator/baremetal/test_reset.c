// SPDX-License-Identifier: GPL-2.0-only
/*
 * The MSRs after power-on ("dirty=1": not zero) and after a warm reset
 * ("reset=1"), by SDM 33.2.8.1: a processor with IP filtering keeps them but for
 * TraceEn, another clears them. Firmware can set TraceEn after that ("lefton=1").
 */
#include "pt.h"

#define RESET_MAGIC	0x7465736572544950ul
#define ADDRESS(n)	(0x111000ul * ((n) + 1))
#define CR3_VALUE	0x654321000ul

/* Memory survives a reset; this is behind what the other tests use. */
static struct {
	u64 magic;
	u64 base;
} *const record = (void *)(ARENA + ARENA_SIZE - 4096);

static u64 reset_ctl(void)
{
	u64 ctl = CTL_TRACE_OS | CTL_TSCEN | pt_output_ctl();

	for (u32 n = 0; n < caps.ranges; n++)
		ctl |= FIELD_PREP(CTL_ADDR_CFG(n), ADDR_CFG_FILTER);
	return ctl;
}

static void __attribute__((noreturn)) triple_fault(void)
{
	const struct { u8 bytes[10]; } no_gates = { { 0 } };

	asm volatile("lidt %0; ud2" :: "m" (no_gates));
	__builtin_unreachable();
}

void reset_once(void)
{
	if (record->magic == RESET_MAGIC)
		return;
	record->magic = RESET_MAGIC;
	pt_output_setup();
	record->base = rdmsr(MSR_RTIT_OUTPUT_BASE);
	for (u32 n = 0; n < caps.ranges; n++) {
		wrmsr(MSR_RTIT_ADDR_A(n), ADDRESS(2 * n));
		wrmsr(MSR_RTIT_ADDR_B(n), ADDRESS(2 * n + 1));
	}
	if (has(CAP_CR3FILTER))
		wrmsr(MSR_RTIT_CR3_MATCH, CR3_VALUE);
	wrmsr(MSR_RTIT_CTL, reset_ctl());
	triple_fault();
}

static void test_kept(void)
{
	is(rdmsr(MSR_RTIT_CTL), reset_ctl() & ~CTL_TRACEEN, "reset: CTL stays but for TraceEn");
	is(rdmsr(MSR_RTIT_OUTPUT_BASE), record->base, "reset: OUTPUT_BASE stays");
	if (has(CAP_CR3FILTER))
		is(rdmsr(MSR_RTIT_CR3_MATCH), CR3_VALUE, "reset: CR3_MATCH stays");
	for (u32 n = 0; n < caps.ranges; n++) {
		is(rdmsr(MSR_RTIT_ADDR_A(n)), ADDRESS(2 * n), "reset: ADDR%u_A stays", n);
		is(rdmsr(MSR_RTIT_ADDR_B(n)), ADDRESS(2 * n + 1), "reset: ADDR%u_B stays", n);
	}
}

static void test_clear(const char *when)
{
	is(rdmsr(MSR_RTIT_CTL), 0, "reset: %s: CTL is 0", when);
	is(rdmsr(MSR_RTIT_STATUS), 0, "reset: %s: STATUS is 0", when);
	is(rdmsr(MSR_RTIT_OUTPUT_BASE), 0, "reset: %s: OUTPUT_BASE is 0", when);
	is(rdmsr(MSR_RTIT_OUTPUT_MASK), MASK_LOWER, "reset: %s: OUTPUT_MASK_PTRS is 7FH", when);
	if (has(CAP_CR3FILTER))
		is(rdmsr(MSR_RTIT_CR3_MATCH), 0, "reset: %s: CR3_MATCH is 0", when);
}

/* What firmware could have left: tracing is off, and little else is as one would like. */
static void test_dirty(void)
{
	u64 ctl = rdmsr(MSR_RTIT_CTL), status = rdmsr(MSR_RTIT_STATUS);

	ok(ctl && !(ctl & CTL_TRACEEN), "reset: power-on: CTL has bits, but not TraceEn (0x%lx)",
	   ctl);
	ok(status & STATUS_STOPPED && status & STATUS_ERROR, "reset: power-on: Stopped and Error");
	is(wrmsr_safe(MSR_RTIT_STATUS, 0), 0, "reset: power-on: STATUS can be cleared");
	is(wrmsr_safe(MSR_RTIT_CTL, 0), 0, "reset: power-on: CTL can be cleared");
}

/* A trace that has come to STOP, to a table that is where nothing else is. */
static void test_left_on(void)
{
	is(rdmsr(MSR_RTIT_CTL), CTL_TRACE_OS | CTL_TOPA, "reset: left on: CTL");
	is(rdmsr(MSR_RTIT_STATUS) & (STATUS_ERROR | STATUS_STOPPED | STATUS_TRIGGEREN),
	   STATUS_STOPPED, "reset: left on: STATUS");
	is(rdmsr(MSR_RTIT_OUTPUT_BASE), 0x12345000, "reset: left on: OUTPUT_BASE");
	is(wrmsr_safe(MSR_RTIT_OUTPUT_BASE, 0), TRAPPED(VECTOR_GP),
	   "reset: left on: OUTPUT_BASE cannot be written");
	is(wrmsr_safe(MSR_RTIT_CTL, 0), 0, "reset: left on: it can be stopped");
	is(wrmsr_safe(MSR_RTIT_STATUS, 0), 0, "reset: left on: and STATUS be cleared");
}

/* CPUID tells of Intel PT, but each access to its registers faults. */
static void test_hidden(void)
{
	static const u32 MSRS[] = {
		MSR_RTIT_CTL, MSR_RTIT_STATUS, MSR_RTIT_OUTPUT_BASE, MSR_RTIT_OUTPUT_MASK,
		MSR_RTIT_CR3_MATCH, MSR_RTIT_ADDR_A(0), MSR_RTIT_ADDR_B(0),
	};
	u64 val;

	for (unsigned int i = 0; i < ARRAY_SIZE(MSRS); i++) {
		is(rdmsr_safe(MSRS[i], &val), TRAPPED(VECTOR_GP), "reset: hidden: read %x",
		   MSRS[i]);
		is(wrmsr_safe(MSRS[i], 0), TRAPPED(VECTOR_GP), "reset: hidden: write %x",
		   MSRS[i]);
	}
}

void test_reset(void)
{
	if (cmdline_num("hidden", 0)) {
		test_hidden();
		return;
	}
	if (cmdline_num("reset", 0)) {
		if (caps.ranges)
			test_kept();
		else
			test_clear("warm");
	} else if (cmdline_num("lefton", 0)) {
		test_left_on();
	} else if (cmdline_num("dirty", 0)) {
		test_dirty();
	} else {
		test_clear("power-on");
	}
	pt_reset();
}
