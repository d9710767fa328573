// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output that a hostile guest asks for: tables and regions outside of RAM, in
 * MMIO, in themselves, chains without an end. The machine survives, and memory
 * that the MSRs do not name stays as it was.
 */
#include "region.h"

#define TABLE0		(WINDOW + 0x10000)
#define TABLE1		(WINDOW + 0x12000)
#define REGION0		(WINDOW + 0x40000)
#define LAPIC_PAGE	0xfee00000ul
/* No register there: writes to it change no interrupt. */
#define LAPIC_UNUSED	0x400
#define PCI_HOLE	0xd0000000ul
#define FIRMWARE	0xfffff000ul
#define ABOVE_RAM	0x300000000ul
#define IPI_VECTOR	0x60
#define ROUNDS		3000

/* The machine still runs, takes interrupts, traces. */
static void alive(const char *name)
{
	u32 before = irq_count[IPI_VECTOR];

	ok(window_untouched(), "hostile: %s: other memory is untouched", name);
	lapic_self_ipi(IPI_VECTOR);
	sti_nop_cli();
	is(irq_count[IPI_VECTOR], before + 1, "hostile: %s: interrupts still arrive", name);

	pt_output_setup();
	bulk_run(10, CTL_TRACE_OS | pt_output_ctl());
	ok(trace_collect() && trace_count(P_TIP) == 10, "hostile: %s: tracing still works", name);
}

static void run_topa(u64 base, u64 mask, u64 rounds, const char *name)
{
	int r;

	pt_output_at(base, mask);
	bulk_run(rounds, CTL_TRACE_OS | CTL_TOPA);
	r = rdmsr(MSR_RTIT_STATUS) & STATUS_ERROR ? 1 : 0;
	diag("%s: STATUS.Error = %d", name, r);
	alive(name);
}

static u64 highest_page(void)
{
	return GENMASK(max_phys_addr_bits() - 1, 12);
}

/* With no table but what is at @base. */
static void run_table(u64 base, u64 mask, const char *name)
{
	window_init();
	run_topa(base, mask, ROUNDS, name);
}

static void test_table_places(void)
{
	run_table(ABOVE_RAM, 0, "a table above RAM");
	run_table(PCI_HOLE, 0, "a table in the PCI hole");
	run_table(LAPIC_PAGE, 0, "a table in the LAPIC page");
	run_table(FIRMWARE, 0, "a table in the firmware");
	run_table(0xa0000, 0, "a table in the VGA window");
	run_table(highest_page(), 0, "a table in the last physical page");
	run_table(highest_page(), MASK_TABLE_OFFSET,
		  "an index that leaves the physical address space");
	/* Entries far behind the table, in poisoned and in absent memory. */
	window_init();
	topa_write(TABLE0, 0, REGION0);
	run_topa(TABLE0, TABLE_INDEX(0x10000), ROUNDS, "an index far beyond the table");
	run_table(TABLE0, MASK_TABLE_OFFSET, "the highest index");
}

static void test_chains(void)
{
	window_init();
	topa_write(TABLE0, 0, TABLE0 | TOPA_END);
	run_topa(TABLE0, 0, ROUNDS, "an END that leads to itself");

	window_init();
	topa_write(TABLE0, 0, TABLE1 | TOPA_END);
	topa_write(TABLE1, 0, TABLE0 | TOPA_END);
	run_topa(TABLE0, 0, ROUNDS, "two ENDs that lead to each other");

	/* The chain begins behind a good region: it is walked when that is full. */
	window_init();
	TOPA_TABLE(TABLE0, REGION0, TABLE1 | TOPA_END);
	topa_write(TABLE1, 0, TABLE1 | TOPA_END);
	window_allow(REGION0, TOPA_SIZE_BYTES(0));
	run_topa(TABLE0, 0, ROUNDS, "an endless chain behind a region");
}

/* The region is the page of its own table: output becomes table entries. */
static void test_table_in_region(void)
{
	window_init();
	TOPA_TABLE(TABLE0, TABLE0, TABLE0 | TOPA_END);
	window_allow(TABLE0, TOPA_SIZE_BYTES(0));
	/* Less than a region: the overwritten entries are not needed again. */
	run_topa(TABLE0, 0, 500, "a region that is its own table");
}

static void run_region(u64 base, u64 mask, u64 rounds, const char *name)
{
	window_init();
	TOPA_TABLE(TABLE0, base, TABLE0 | TOPA_END);
	run_topa(TABLE0, mask, rounds, name);
}

static void test_region_places(void)
{
	run_region(ABOVE_RAM, 0, ROUNDS, "a region above RAM");
	run_region(PCI_HOLE, 0, ROUNDS, "a region in the PCI hole");
	run_region(FIRMWARE, 0, ROUNDS, "a region in the firmware");
	run_region(highest_page(), 0, ROUNDS, "a region in the last physical page");
	run_region(LAPIC_PAGE, (u64)LAPIC_UNUSED << 32, 10, "a region in the LAPIC page");
}

static void test_single_places(void)
{
	static const u64 places[] = { ABOVE_RAM, PCI_HOLE, FIRMWARE };

	for (u32 i = 0; i < ARRAY_SIZE(places); i++) {
		window_init();
		pt_output_at(places[i], 0xfff);
		bulk_run(ROUNDS, CTL_TRACE_OS);
		alive("a single range outside of RAM");
	}
	window_init();
	pt_output_at(highest_page() & ~GENMASK(31, 0), 0xffffff80ul << 32 | 0xffffffff);
	bulk_run(ROUNDS, CTL_TRACE_OS);
	alive("the largest single range, at its end");
}

void test_hostile(void)
{
	if (has(CAP_TOPA)) {
		test_table_places();
		test_chains();
		test_table_in_region();
		test_region_places();
	}
	if (has(CAP_SINGLE))
		test_single_places();
	pt_reset();
}
