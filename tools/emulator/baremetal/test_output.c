// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the bytes go: ToPA tables, their chaining, wrap-around and STOP, the
 * single range, and the position that is left in the MSRs.
 */
#include "region.h"

#define TABLE(n)	(WINDOW + 0x10000 + (n) * 0x2000)
#define CTL_BULK	(CTL_TRACE_OS)

static u64 psb_period(void)
{
	return has(CAP_PSBCYC) ? FIELD_PREP(CTL_PSBFREQ, 31 - __builtin_clz(caps.psb_freqs)) : 0;
}

/* @regions in turn hold the reference, @bytes long. */
static bool regions_hold(const struct region *r, u32 n, u64 bytes)
{
	const u8 *ref = REFERENCE;

	if (!bytes)
		return false;
	for (u32 i = 0; i < n; i++) {
		u64 here = bytes < r[i].size ? bytes : r[i].size;

		if (memcmp((void *)r[i].base, ref, here)) {
			diag("region %u at 0x%lx differs from the reference", i, r[i].base);
			return false;
		}
		if (!all_poison(r[i].base + here, r[i].size - here)) {
			diag("region %u is written beyond the end of the trace", i);
			return false;
		}
		ref += here;
		bytes -= here;
	}
	return bytes == 0;
}

static void position_is(u64 base, u64 index, u64 offset, const char *name)
{
	is(rdmsr(MSR_RTIT_OUTPUT_BASE), base, "output: %s: OUTPUT_BASE", name);
	is(rdmsr(MSR_RTIT_OUTPUT_MASK), offset << 32 | TABLE_INDEX(index) | MASK_LOWER,
	   "output: %s: table index and offset", name);
}

static void status_is(u64 want, const char *name)
{
	is(rdmsr(MSR_RTIT_STATUS) & (STATUS_ERROR | STATUS_STOPPED), want,
	   "output: %s: STATUS", name);
}

static void test_topa_chain(void)
{
	static const struct region r[] = {
		{ WINDOW + 0x40000, 0x1000 }, { WINDOW + 0x50000, 0x2000 },
		{ WINDOW + 0x60000, 0x4000 }, { WINDOW + 0x44000, 0x1000 },
		{ WINDOW + 0x80000, 0x8000 }, { WINDOW + 0x100000, 0x100000 },
	};
	const u64 before_last = 0x10000;
	u64 ctl = CTL_BULK | CTL_TOPA | psb_period();
	u64 bytes = bulk_reference(20000, ctl);

	window_init();
	TOPA_TABLE(TABLE(0), topa_entry(r[0].base, 0, 0), topa_entry(r[1].base, 1, 0),
		   TABLE(1) | TOPA_END);
	TOPA_TABLE(TABLE(1), topa_entry(r[2].base, 2, 0), topa_entry(r[3].base, 0, 0),
		   topa_entry(r[4].base, 3, 0), TABLE(2) | TOPA_END);
	topa_write(TABLE(2), 0, topa_entry(r[5].base, 8, TOPA_STOP));
	for (u32 i = 0; i < ARRAY_SIZE(r); i++)
		window_allow(r[i].base, r[i].size);
	pt_output_at(TABLE(0), 0);
	bulk_run(20000, ctl);

	ok(bytes > before_last + 0x1000, "output: the reference is long enough (%lu bytes)", bytes);
	ok(regions_hold(r, ARRAY_SIZE(r), bytes), "output: three tables: content");
	position_is(TABLE(2), 0, bytes - before_last, "three tables");
	status_is(0, "three tables");
	ok(window_untouched(), "output: three tables: nothing else is written");
}

static void test_topa_wrap(void)
{
	const struct region r[] = { { WINDOW + 0x40000, 0x1000 }, { WINDOW + 0x42000, 0x1000 } };
	u64 ctl = CTL_BULK | CTL_TOPA | psb_period();
	u64 bytes = bulk_reference(6000, ctl), size = 0x2000;
	bool same = true;

	window_init();
	TOPA_TABLE(TABLE(0), topa_entry(r[0].base, 0, 0), topa_entry(r[1].base, 0, 0),
		   TABLE(0) | TOPA_END);
	window_allow(r[0].base, r[0].size);
	window_allow(r[1].base, r[1].size);
	pt_output_at(TABLE(0), 0);
	bulk_run(6000, ctl);

	for (u64 i = bytes > size ? bytes - size : 0; i < bytes; i++) {
		u64 at = i % size;

		same &= ((u8 *)r[at >= 0x1000].base)[at % 0x1000] == REFERENCE[i];
	}
	ok(bytes > 2 * size && same, "output: wrap-around: the newest bytes are there");
	position_is(TABLE(0), bytes % size / 0x1000, bytes % 0x1000, "wrap-around");
	status_is(0, "wrap-around");
	ok(window_untouched(), "output: wrap-around: nothing else is written");
}

/* One entry, then END back to it: what every ToPA implementation can do. */
static void test_topa_one_entry(void)
{
	const struct region r = { WINDOW + 0x40000, 0x4000 };
	u64 ctl = CTL_BULK | CTL_TOPA | psb_period();
	u64 bytes = bulk_reference(6000, ctl);
	bool same = true;

	window_init();
	TOPA_TABLE(TABLE(0), topa_entry(r.base, 2, 0), TABLE(0) | TOPA_END);
	window_allow(r.base, r.size);
	pt_output_at(TABLE(0), 0);
	bulk_run(6000, ctl);
	for (u64 i = bytes - r.size; i < bytes; i++)
		same &= ((u8 *)r.base)[i % r.size] == REFERENCE[i];
	ok(bytes > r.size && same, "output: one entry: the newest bytes are there");
	position_is(TABLE(0), 0, bytes % r.size, "one entry");
	status_is(0, "one entry");
	ok(window_untouched(), "output: one entry: nothing else is written");
}

static void test_topa_stop(void)
{
	const struct region r[] = { { WINDOW + 0x40000, 0x1000 }, { WINDOW + 0x42000, 0x2000 } };
	u64 ctl = CTL_BULK | CTL_TOPA | psb_period();
	u64 bytes = bulk_reference(5000, ctl);

	window_init();
	TOPA_TABLE(TABLE(0), topa_entry(r[0].base, 0, 0), topa_entry(r[1].base, 1, TOPA_STOP),
		   topa_entry(WINDOW + 0x48000, 0, 0), TABLE(0) | TOPA_END);
	window_allow(r[0].base, r[0].size);
	window_allow(r[1].base, r[1].size);
	pt_output_at(TABLE(0), 0);
	bulk_run(5000, ctl);

	ok(bytes > 0x3000 && regions_hold(r, 2, 0x3000), "output: STOP: both regions are full");
	status_is(STATUS_STOPPED, "STOP");
	position_is(TABLE(0), 1, 0x2000, "STOP");
	ok(window_untouched(), "output: STOP: nothing is written beyond");

	/* Still stopped, the offset equal to the size: no error, no output. */
	bulk_run(100, ctl);
	status_is(STATUS_STOPPED, "STOP, enabled again");
	position_is(TABLE(0), 1, 0x2000, "STOP, enabled again");
	ok(window_untouched(), "output: STOP, enabled again: nothing is written");
}

static void test_topa_middle(void)
{
	const struct region r = { WINDOW + 0x42000 + 100, 0x2000 - 100 };
	u64 ctl = CTL_BULK | CTL_TOPA | psb_period();
	u64 first = bulk_reference(300, ctl);

	window_init();
	TOPA_TABLE(TABLE(0), topa_entry(WINDOW + 0x40000, 0, 0),
		   topa_entry(WINDOW + 0x42000, 1, 0), TABLE(0) | TOPA_END);
	window_allow(r.base, first);
	pt_output_at(TABLE(0), 100ul << 32 | TABLE_INDEX(1));
	bulk_run(300, ctl);
	ok(regions_hold(&r, 1, first), "output: start in the middle: content");
	position_is(TABLE(0), 1, 100 + first, "start in the middle");
	ok(window_untouched(), "output: start in the middle: nothing else is written");

	/* Again from there: the same bytes once more, right behind. */
	wrmsr(MSR_RTIT_STATUS, 0);
	window_allow(r.base + first, first);
	bulk_run(300, ctl);
	ok(first && !memcmp((void *)(r.base + first), REFERENCE, first),
	   "output: resumed: content follows without a gap");
	position_is(TABLE(0), 1, 100 + 2 * first, "resumed");
	ok(window_untouched(), "output: resumed: nothing else is written");
}

/* Every size of a region: tracing begins just below its end and goes on in the next. */
static void test_topa_sizes(void)
{
	const u64 before_end = 48, big = ARENA + 0x4000000;	/* aligned to all sizes */
	u64 ctl = CTL_BULK | CTL_TOPA | psb_period();
	u64 bytes = bulk_reference(100, ctl);

	for (u32 code = 0; code <= 15; code++) {
		u64 size = TOPA_SIZE_BYTES(code);
		const struct region r[] = {
			{ big + size - before_end, before_end }, { WINDOW + 0x40000, 0x1000 },
		};

		window_init();
		memset((void *)(big + size - before_end), OUTPUT_POISON, 2 * before_end);
		TOPA_TABLE(TABLE(0), topa_entry(big, code, 0), topa_entry(r[1].base, 0, 0),
			   TABLE(0) | TOPA_END);
		window_allow(r[1].base, r[1].size);
		pt_output_at(TABLE(0), (size - before_end) << 32);
		bulk_run(100, ctl);
		ok(regions_hold(r, 2, bytes) && window_untouched() &&
		   (code == 15 || all_poison(big + size, before_end)),
		   "output: a region of %lu KiB and the next one", size / 1024);
		is(rdmsr(MSR_RTIT_OUTPUT_MASK),
		   (bytes - before_end) << 32 | TABLE_INDEX(1) | MASK_LOWER,
		   "output: a region of %lu KiB: position in the next one", size / 1024);
	}
}

/* The largest mask: the offset is the whole address. */
static void test_single_largest(void)
{
	u64 ctl = CTL_BULK | psb_period(), at = WINDOW + 0x12345;
	u64 bytes = bulk_reference(100, ctl);

	window_init();
	window_allow(at, bytes);
	pt_output_at(0, at << 32 | GENMASK(31, 0));
	bulk_run(100, ctl);
	ok(bytes && !memcmp((void *)at, REFERENCE, bytes), "output: single range of 4 GiB: content");
	is(rdmsr(MSR_RTIT_OUTPUT_MASK), (at + bytes) << 32 | GENMASK(31, 0),
	   "output: single range of 4 GiB: offset");
	ok(window_untouched(), "output: single range of 4 GiB: nothing else is written");
}

static void test_single_range(u64 size, u64 rounds, u64 start)
{
	const u64 base = WINDOW + 0x200000;
	u64 ctl = CTL_BULK | psb_period();
	u64 bytes = bulk_reference(rounds, ctl);
	bool same = true;

	window_init();
	window_allow(base, size);
	pt_output_at(base, start << 32 | (size - 1));
	bulk_run(rounds, ctl);
	for (u64 i = bytes > size ? bytes - size : 0; i < bytes; i++)
		same &= ((u8 *)base)[(start + i) % size] == REFERENCE[i];
	ok(bytes && same, "output: single range of %lu from %lu: content", size, start);
	is(rdmsr(MSR_RTIT_OUTPUT_MASK), ((start + bytes) % size) << 32 | (size - 1),
	   "output: single range of %lu from %lu: offset", size, start);
	is(rdmsr(MSR_RTIT_OUTPUT_BASE), base, "output: single range: OUTPUT_BASE");
	status_is(0, "single range");
	ok(window_untouched(), "output: single range of %lu: nothing else is written", size);
}

void test_output(void)
{
	if (has(CAP_TOPA)) {
		test_topa_one_entry();
		if (has(CAP_MULTI)) {
			test_topa_chain();
			test_topa_wrap();
			test_topa_stop();
			test_topa_middle();
			test_topa_sizes();
		}
	}
	if (has(CAP_SINGLE)) {
		test_single_range(0x80, 100, 0);
		test_single_range(0x1000, 3000, 0);
		test_single_range(0x1000, 100, 0xff0);
		test_single_range(0x100000, 1000, 0x1234);
		test_single_largest();
	}
	pt_reset();
}
