// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operational errors (SDM "ToPA Errors", "Single-Range Output Errors"): each
 * sets STATUS.Error, and no byte is written beyond the last good region.
 */
#include "region.h"

#define TABLE0		(WINDOW + 0x10000)
#define TABLE1		(WINDOW + 0x12000)
#define REGION0		(WINDOW + 0x40000)
#define REGION1		(WINDOW + 0x50000)
#define ROUNDS		4000
#define REGION_SIZE	0x1000

/* Tables and MSRs are set; @good bytes at REGION0 may be written before the error. */
static void error_point(u64 ctl, u64 good, const char *name)
{
	u64 status;

	if (good)
		window_allow(REGION0, good);
	bulk_run(ROUNDS, ctl | CTL_TRACE_OS);
	status = rdmsr(MSR_RTIT_STATUS);
	is(status & (STATUS_ERROR | STATUS_STOPPED | STATUS_TRIGGEREN), STATUS_ERROR,
	   "error: %s sets STATUS.Error", name);
	ok(window_untouched(), "error: %s: nothing is written", name);

	/* With the error still set, enabling again traces nothing. */
	bulk_run(10, ctl | CTL_TRACE_OS);
	ok(window_untouched(), "error: %s: still nothing after enabling again", name);
}

static void topa_case(u64 entry0, u64 entry1, u64 good, const char *name)
{
	window_init();
	TOPA_TABLE(TABLE0, entry0, entry1, TABLE0 | TOPA_END);
	pt_output_at(TABLE0, 0);
	error_point(CTL_TOPA, good, name);
}

#define LOOP_TO_TABLE0	(TABLE0 | TOPA_END)

static void test_entry_bits(void)
{
	static const u8 reserved[] = { 1, 3, 5, 10, 11 };
	u32 width = max_phys_addr_bits();

	for (u32 i = 0; i < ARRAY_SIZE(reserved); i++) {
		topa_case(REGION0 | BIT(reserved[i]), LOOP_TO_TABLE0, 0, "a reserved bit in entry 0");
		topa_case(REGION0, LOOP_TO_TABLE0 | BIT(reserved[i]), REGION_SIZE,
			  "a reserved bit in an END entry");
	}
	topa_case(REGION0 | BIT(width), LOOP_TO_TABLE0, 0, "an address beyond MAXPHYADDR");
	topa_case(REGION0 | BIT(63), LOOP_TO_TABLE0, 0, "bit 63 of an entry");
	topa_case(REGION0, LOOP_TO_TABLE0 | BIT(width), REGION_SIZE,
		  "an END address beyond MAXPHYADDR");
	topa_case(topa_entry(REGION0 + 0x1000, 1, 0), LOOP_TO_TABLE0, 0,
		  "8 KiB at an odd 4 KiB");
	topa_case(topa_entry(WINDOW + 0x100000, 15, 0), LOOP_TO_TABLE0, 0,
		  "128 MiB not aligned to its size");
}

static void test_entry_flags(void)
{
	topa_case(LOOP_TO_TABLE0, LOOP_TO_TABLE0, 0, "END in entry 0");
	topa_case(REGION0, LOOP_TO_TABLE0 | TOPA_STOP, REGION_SIZE, "STOP with END");
	topa_case(REGION0, LOOP_TO_TABLE0 | TOPA_INT, REGION_SIZE, "INT with END");
	if (!has(CAP_MULTI)) {
		topa_case(REGION0, REGION1, REGION_SIZE, "a second output entry");
		topa_case(REGION0, TABLE1 | TOPA_END, REGION_SIZE,
			  "an END that leads to another table");
	}
}

static void test_positions(void)
{
	window_init();
	TOPA_TABLE(TABLE0, REGION0, LOOP_TO_TABLE0);
	pt_output_at(TABLE0, (u64)REGION_SIZE << 32);
	error_point(CTL_TOPA, 0, "an offset equal to the size");
	wrmsr(MSR_RTIT_STATUS, 0);
	wrmsr(MSR_RTIT_OUTPUT_MASK, 0xfffff000ul << 32);
	error_point(CTL_TOPA, 0, "an offset far beyond the size");

	window_init();
	TOPA_TABLE(TABLE0 + 0x80, REGION0, LOOP_TO_TABLE0);
	TOPA_TABLE(TABLE0, REGION0, LOOP_TO_TABLE0);
	pt_output_at(TABLE0 + 0x80, 0);
	error_point(CTL_TOPA, 0, "a table that is not 4 KiB aligned");
}

static void single_case(u64 base, u64 mask, u64 offset, const char *name)
{
	window_init();
	pt_output_at(base, offset << 32 | mask);
	error_point(0, 0, name);
}

static void test_single(void)
{
	single_case(WINDOW, 0x2fff, 0, "a mask with a hole");
	single_case(WINDOW, 0x8000007f, 0, "a mask with a far bit");
	single_case(WINDOW + 0x800, 0xfff, 0, "a base that overlaps the mask");
	single_case(WINDOW, 0xfff, 0x1000, "an offset beyond the mask");
	single_case(WINDOW, 0xfff, 0xffffffff, "an offset far beyond the mask");
}

/* Error cleared and the cause fixed: tracing works again. */
static void test_recovery(void)
{
	u64 bytes;

	window_init();
	TOPA_TABLE(TABLE0, REGION0 | BIT(1), LOOP_TO_TABLE0);
	pt_output_at(TABLE0, 0);
	bulk_run(10, CTL_TRACE_OS | CTL_TOPA);
	*(u64 *)TABLE0 = REGION0;
	window_allow(REGION0, REGION_SIZE);
	wrmsr(MSR_RTIT_STATUS, 0);
	wrmsr(MSR_RTIT_OUTPUT_MASK, 0);
	bulk_run(10, CTL_TRACE_OS | CTL_TOPA);
	bytes = pt_output_bytes();
	is(rdmsr(MSR_RTIT_STATUS) & STATUS_ERROR, 0, "error: none after the cause is fixed");
	ok(bytes > 40 && trace_parse((u8 *)REGION0, bytes) && trace_count(P_TIP) == 10,
	   "error: tracing works after the cause is fixed");
	ok(window_untouched(), "error: after the cause is fixed, nothing else is written");
}

void test_output_errors(void)
{
	if (has(CAP_TOPA)) {
		test_entry_bits();
		test_entry_flags();
		test_positions();
		test_recovery();
	}
	if (has(CAP_SINGLE))
		test_single();
	pt_reset();
}
