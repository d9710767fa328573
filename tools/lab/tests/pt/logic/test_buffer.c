// SPDX-License-Identifier: GPL-2.0-only
/*
 * Areas as hardware is told of them: tables and single ranges, which of them for
 * which capabilities, at which addresses; and memory that there is not.
 */
#include <string.h>

#include <asm/msr.h>

#include "check.h"
#include "core.h"
#include "hw.h"
#include "machine.h"
#include "memory.h"
#include "output.h"
#include "pt.h"

#define LOW	(1UL << 30)
/* All of memory is below 2^52, and at that. */
#define HIGH	((1UL << 52) - MEMORY_SIZE)
#define MANY	1100

static struct trace trace;
static u8 orders[4096];

static void boot(enum pt_capabilities missing, enum pt_capabilities also, u64 memory)
{
	struct pt_caps caps = caps_all();

	if (missing != PT_NR_CAPS)
		caps_clear(&caps, missing);
	if (also != PT_NR_CAPS)
		caps_clear(&caps, also);
	EXPECT(!machine_boot(&caps, memory));
	EXPECT(!trace_init(&trace, CONFIG_PLAIN));
}

static struct pt_buffer *map(unsigned int nr, unsigned int order, bool overwrite)
{
	memset(orders, order, sizeof(orders));
	return trace_map(&trace, orders, nr, overwrite, 0) ? trace.rb.aux.priv : NULL;
}

/* The address that is expected in entry or link, from the very bits */
static u64 entry_of(const struct pt_buffer *buf, unsigned int region)
{
	return buf->tables[region / 511][region % 511];
}

static void check_tables(const struct pt_buffer *buf, unsigned int nr, unsigned int order)
{
	unsigned int tables = (nr + 510) / 511;
	u64 at, next;

	EXPECT(buf->nr_tables == tables);
	for (unsigned int i = 0; i < nr && !is_blamed(); i++) {
		at = virt_to_phys(trace.rb.aux.pages[i << order]);
		EXPECT(entry_of(buf, i) == (at | order << 6));
		EXPECT(at >> 40);
	}
	for (unsigned int i = 0; i < tables && !is_blamed(); i++) {
		next = virt_to_phys(buf->tables[(i + 1) % tables]);
		unsigned int used = i == tables - 1 ? nr - 511 * i : 511;

		EXPECT(buf->tables[i][used] == (next | 1));
		while (++used < 512)
			EXPECT(!buf->tables[i][used]);
	}
}

static void test_tables(void)
{
	static const struct { unsigned int nr, order; u64 memory; } areas[] = {
		{ 1, 0, HIGH }, { 2, 0, HIGH }, { 1, 10, HIGH }, { 511, 0, HIGH },
		{ 512, 0, HIGH }, { 1022, 3, 1UL << 40 }, { 1024, 0, 1UL << 51 },
		{ MANY, 1, HIGH },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(areas); i++) {
		boot(PT_NR_CAPS, PT_NR_CAPS, areas[i].memory);
		EXPECT(map(areas[i].nr, areas[i].order, false));
		check_tables(trace.rb.aux.priv, areas[i].nr, areas[i].order);
		trace_unmap(&trace);
		trace_destroy(&trace);
		verdict("buffer: %u regions of order %u at %lx", areas[i].nr, areas[i].order,
			areas[i].memory);
	}
}

/* Positions go to registers, and come back. */
static void test_registers(void)
{
	struct pt_buffer *buf;
	u64 base, ptrs;

	boot(PT_NR_CAPS, PT_NR_CAPS, HIGH);
	buf = map(MANY, 0, true);
	for (unsigned int i = 0; i < MANY; i++) {
		buf->region = i;
		buf->offset = i;
		base = pt_output_base(buf);
		ptrs = pt_output_ptrs(buf);
		EXPECT(base == virt_to_phys(buf->tables[i / 511]));
		EXPECT(ptrs == ((u64)i << 32 | i % 511 << 7 | 127));
		buf->region = 0;
		pt_locate(buf, base, ptrs);
		EXPECT(buf->region == i && buf->offset == i);
	}
	/* At a link, it is where that leads. */
	pt_locate(buf, virt_to_phys(buf->tables[0]), 511 << 7 | 127);
	EXPECT(buf->region == 511);
	pt_locate(buf, virt_to_phys(buf->tables[2]), (MANY - 1022) << 7 | 127);
	EXPECT(buf->region == 0);
	trace_unmap(&trace);
	trace_destroy(&trace);
	verdict("buffer: positions in registers, of several tables");
}

struct choice {
	enum pt_capabilities missing, also;
	bool overwrite;
	u8 nr, order;
	enum { REFUSED, TABLES, ONE_REGION, RANGE } want;
};

#define NONE	PT_NR_CAPS
#define MULTI	PT_CAP_topa_multiple_entries
#define SINGLE	PT_CAP_single_range_output

static const struct choice choices[] = {
	{ NONE, NONE, false, 1, 0, TABLES },	{ NONE, NONE, false, 4, 2, TABLES },
	{ NONE, NONE, true, 1, 0, RANGE },	{ NONE, NONE, true, 1, 1, TABLES },
	{ NONE, NONE, true, 2, 0, TABLES },
	{ SINGLE, NONE, true, 1, 0, TABLES },	{ SINGLE, NONE, false, 1, 0, TABLES },
	{ MULTI, NONE, false, 1, 0, ONE_REGION }, { MULTI, NONE, false, 4, 1, ONE_REGION },
	{ MULTI, NONE, true, 1, 0, RANGE },	{ MULTI, NONE, true, 1, 3, ONE_REGION },
	{ MULTI, NONE, true, 2, 0, REFUSED },
	{ MULTI, SINGLE, true, 1, 0, ONE_REGION }, { MULTI, SINGLE, true, 2, 0, REFUSED },
	{ MULTI, SINGLE, false, 2, 0, ONE_REGION },
};

static void check_choice(const struct choice *choice)
{
	struct pt_buffer *buf;

	boot(choice->missing, choice->also, HIGH);
	buf = map(choice->nr, choice->order, choice->overwrite);
	EXPECT(!buf == (choice->want == REFUSED));
	if (!buf)
		return;
	EXPECT(!buf->tables == (choice->want == RANGE));
	EXPECT((buf->per_table == 1) == (choice->want == ONE_REGION));
	EXPECT((buf->per_table == 511) == (choice->want == TABLES));

	EXPECT(!trace_in(&trace));
	EXPECT(!(hw_this()->ctl & RTIT_CTL_TOPA) == (choice->want == RANGE));
	if (choice->want == RANGE) {
		EXPECT(hw_this()->base == virt_to_phys(trace.rb.aux.pages[0]));
		EXPECT(hw_this()->ptrs == trace.rb.aux.size - 1);
	}
	/* It works, and it goes round. */
	hw_output(choice->overwrite ? 3 * trace.rb.aux.size + 5 : 100);
	EXPECT(trace.rb.aux.position == (choice->overwrite ? 3 * trace.rb.aux.size + 5 : 100));
	trace_out(&trace);
	EXPECT(trace.rb.aux.head == (choice->overwrite ? 5 : 100));
	EXPECT(!(trace.rb.aux.flags & (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL)));
	trace_unmap(&trace);
}

static void test_choices(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(choices); i++) {
		check_choice(&choices[i]);
		trace_destroy(&trace);
		if (is_blamed())
			diag("choice %u", i);
	}
	EXPECT(!memory_in_use());
	verdict("buffer: tables or a single range, for each set of capabilities");
}

/* 8 GiB in regions of 4 MiB: the end of the area, the wrap, and watermarks beyond 32 bits */
static void test_huge(bool overwrite)
{
	struct perf_aux *aux = &trace.rb.aux;
	u64 written = 0, size;

	boot(PT_NR_CAPS, PT_NR_CAPS, HIGH);
	EXPECT(map(2048, 10, overwrite));
	size = aux->size;
	EXPECT(size == 1UL << 33 && !trace_in(&trace));
	while (written < 2 * size && !is_blamed()) {
		written += hw_output(0x3ffffff1);
		trace_out(&trace);
		EXPECT(aux->head == (overwrite ? written & (size - 1) : written));
		aux->tail = aux->head;
		EXPECT(!trace_in(&trace));
	}
	EXPECT(aux->position == written);
	trace_out(&trace);
	trace_unmap(&trace);
	trace_destroy(&trace);
	verdict("buffer: an area of 8 GiB%s", overwrite ? ", newest data win" : "");
}

/* The reader reads nothing: all is written, and seen as all. */
static void test_whole(unsigned int nr)
{
	struct perf_aux *aux = &trace.rb.aux;

	boot(PT_NR_CAPS, PT_NR_CAPS, LOW);
	EXPECT(map(nr, 0, false));
	for (int lap = 0; lap < 3; lap++) {
		EXPECT(!trace_in(&trace));
		EXPECT(hw_output(10 * aux->size) == aux->size);
		trace_out(&trace);
		EXPECT(aux->size_told == aux->size && aux->flags == PERF_AUX_FLAG_TRUNCATED);
		EXPECT(trace_in(&trace));
		trace_read(&trace, aux->size);
	}
	trace_unmap(&trace);
	trace_destroy(&trace);
	verdict("buffer: an area of %u regions, all of it written", nr);
}

static void test_no_memory(void)
{
	unsigned int nth = 0, before;
	bool good;

	boot(PT_NR_CAPS, PT_NR_CAPS, LOW);
	before = memory_in_use();
	do {
		memory_fail(++nth);
		good = map(1024, 0, false);
		EXPECT(good || memory_in_use() == before);
	} while (!good && nth < 20);
	memory_fail(0);
	EXPECT(good && nth == 7);
	trace_unmap(&trace);
	EXPECT(memory_in_use() == before);
	trace_destroy(&trace);
	EXPECT(!memory_in_use());
	verdict("buffer: each allocation fails, none is leaked");
}

/* Near to the CPU of the event */
static void test_nodes(void)
{
	for (int cpu = -1; cpu <= 1; cpu++) {
		boot(PT_NR_CAPS, PT_NR_CAPS, LOW);
		trace.event.cpu = cpu;
		trace_destroy(&trace);
		EXPECT(!pt_pmu.pmu.event_init(&trace.event) && memory_node == cpu);
		EXPECT(map(2, 0, false) && memory_node == cpu);
		trace_unmap(&trace);
		trace_destroy(&trace);
	}
	verdict("buffer: the node of an event's CPU");
}

static void test_sampled(void)
{
	boot(PT_NR_CAPS, PT_NR_CAPS, LOW);
	trace.event.attr.aux_sample_size = 4096;
	EXPECT(!map(2, 0, false));
	EXPECT(map(2, 0, true));
	trace_unmap(&trace);
	trace_destroy(&trace);
	verdict("buffer: samples are of areas in which newest data win");
}

void test_buffer(void)
{
	test_tables();
	test_registers();
	test_choices();
	test_huge(false);
	test_huge(true);
	test_whole(1);
	test_whole(2);
	test_whole(1024);
	test_no_memory();
	test_nodes();
	test_sampled();
}
