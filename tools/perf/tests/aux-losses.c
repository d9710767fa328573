// SPDX-License-Identifier: GPL-2.0-only
/*
 * Losses of AUX area traces: how perf record counts them in data buffers, and what it says. No PMU
 * with an AUX area is needed: the buffer is one of the test's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include <internal/lib.h>
#include <perf/event.h>

#include "aux-losses.h"
#include "debug.h"
#include "mmap.h"
#include "tests.h"

#define CUT	PERF_AUX_FLAG_TRUNCATED
#define OLD	PERF_AUX_FLAG_OVERWRITE
#define GAP	PERF_AUX_FLAG_PARTIAL
#define HIT	PERF_AUX_FLAG_COLLISION

/* A data buffer of a page, with its first page before it, of which nothing is read */
static struct mmap *new_map(u64 start)
{
	struct mmap *map = zalloc(sizeof(*map));

	if (!map)
		return NULL;

	map->core.base = calloc(2, page_size);
	if (!map->core.base) {
		free(map);
		return NULL;
	}
	map->core.mask = page_size - 1;
	map->core.start = start;
	map->core.end = start;
	map->auxtrace_mmap.len = page_size;
	return map;
}

static void free_map(struct mmap *map)
{
	free(map->core.base);
	free(map);
}

/* Append a record of the type and size, in which a u64 at an offset has a value. */
static void put(struct mmap *map, u32 type, u16 size, size_t offset, u64 value)
{
	struct perf_event_header header = { .type = type, .size = size };
	char record[256], *ring = map->core.base + page_size;
	size_t i;

	/* what is not a flag must not be taken for one */
	memset(record, 0xff, sizeof(record));
	memcpy(record, &header, sizeof(header));
	if (offset)
		memcpy(record + offset, &value, sizeof(value));
	for (i = 0; i < size; i++)
		ring[map->core.end++ & map->core.mask] = record[i];
}

static void put_aux(struct mmap *map, u64 flags)
{
	put(map, PERF_RECORD_AUX, sizeof(struct perf_record_aux) + 24,
	    offsetof(struct perf_record_aux, flags), flags);
}

static void put_lost(struct mmap *map, u64 lost)
{
	put(map, PERF_RECORD_LOST, sizeof(struct perf_record_lost) + 24,
	    offsetof(struct perf_record_lost, lost), lost);
}

static void put_all(struct mmap *map)
{
	put(map, PERF_RECORD_ITRACE_START, 16, 0, 0);
	put_aux(map, 0);
	put_aux(map, CUT);
	put(map, PERF_RECORD_SAMPLE, 200, 0, 0);
	put_aux(map, CUT | GAP);
	put_aux(map, OLD);
	/* no hardware stops in overwrite mode */
	put_aux(map, OLD | CUT);
	put_aux(map, OLD | GAP);
	put_aux(map, HIT | PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW);
	put_lost(map, 1000);
	put_lost(map, 24);
}

/* Whether that much was counted so far; of each kind, in the order of enum aux_loss. */
static int expect(struct mmap *map, unsigned long records,
		  const unsigned long nr[AUX_LOSS_MAX])
{
	const struct aux_losses *losses = &map->losses;
	int kind;

	aux_losses__count(map);
	pr_debug("records %lu, losses", losses->records);
	for (kind = 0; kind < AUX_LOSS_MAX; kind++)
		pr_debug(" %lu", losses->nr[kind]);
	pr_debug("\n");
	return losses->records == records && !memcmp(losses->nr, nr, sizeof(losses->nr)) ?
	       TEST_OK : TEST_FAIL;
}

static const unsigned long none[AUX_LOSS_MAX], all[AUX_LOSS_MAX] = { 2, 2, 1, 1024 };

static int check_place(u64 start, bool overwrite)
{
	struct mmap *map = new_map(start);
	int err;

	TEST_ASSERT_VAL("memory", map);
	map->core.overwrite = overwrite;
	put_all(map);
	err = expect(map, 7, all);
	free_map(map);
	return err;
}

/*
 * All records, where they begin at each place of the buffer: each goes round its end in turn. In
 * overwrite mode the position may be below 0 when they begin, and above it when they end.
 */
static int test__aux_losses_places(struct test_suite *test __maybe_unused,
				   int subtest __maybe_unused)
{
	u64 at;

	for (at = 0; at < (u64)page_size; at += sizeof(u64)) {
		TEST_ASSERT_VAL("records",
				check_place(5 * (u64)page_size + at, false) == TEST_OK);
		TEST_ASSERT_VAL("records in overwrite mode",
				check_place(at - page_size, true) == TEST_OK);
	}

	return TEST_OK;
}

static int on_new_map(int (*check)(struct mmap *map))
{
	struct mmap *map = new_map(0);
	int err;

	TEST_ASSERT_VAL("memory", map);
	err = check(map);
	free_map(map);
	return err;
}

/* perf_mmap__push() reads some records twice; in overwrite mode the positions only fall. */
static int check_again(struct mmap *map)
{
	static const unsigned long more[AUX_LOSS_MAX] = { 3, 2, 1, 1024 };
	static const unsigned long twice[AUX_LOSS_MAX] = { 5, 4, 2, 2048 };
	u64 start = map->core.start;

	put_all(map);
	TEST_ASSERT_VAL("first time", expect(map, 7, all) == TEST_OK);
	TEST_ASSERT_VAL("again", expect(map, 7, all) == TEST_OK);
	put_aux(map, CUT);
	TEST_ASSERT_VAL("one more", expect(map, 8, more) == TEST_OK);
	map->core.start = map->core.end;
	TEST_ASSERT_VAL("nothing", expect(map, 8, more) == TEST_OK);
	map->core.start = start;
	map->core.end -= sizeof(struct perf_record_aux) + 24;
	map->core.overwrite = true;
	TEST_ASSERT_VAL("overwrite mode", expect(map, 15, twice) == TEST_OK);

	return TEST_OK;
}

static int test__aux_losses_again(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	return on_new_map(check_again);
}

/* Without AUX areas nothing is looked at; a header without a size ends it. */
static int check_others(struct mmap *map)
{
	static const unsigned long one[AUX_LOSS_MAX] = { 1 };

	put_all(map);
	map->auxtrace_mmap.len = 0;
	TEST_ASSERT_VAL("no AUX area", expect(map, 0, none) == TEST_OK);
	map->auxtrace_mmap.len = page_size;
	map->core.start = map->core.end;
	put_aux(map, CUT);
	/* behind it, the buffer has not been written yet */
	map->core.end += 64;
	TEST_ASSERT_VAL("no size", expect(map, 1, one) == TEST_OK);

	return TEST_OK;
}

static int test__aux_losses_others(struct test_suite *test __maybe_unused,
				   int subtest __maybe_unused)
{
	return on_new_map(check_others);
}

struct line {
	struct aux_losses sum;
	struct aux_remedies remedies;
	const char *text;
};

#define MISSING	"[ perf record: Trace is missing: "
#define MAYFAIL	"[ perf record: Decoding may fail: "

static const struct line lines[] = {
	{
		{ .records = 7 }, { .aux_size = SZ_4M, .aux_larger = SZ_16M },
		""
	}, {
		{ .records = 20, .nr = { 3 } },
		{ .aux_size = SZ_4M, .aux_larger = SZ_16M, .filter = true, .pause = true,
		  .snapshot = true },
		MISSING
		"3 of 20 AUX records end where the AUX area (4M) was full: use a larger one (-m,16M), trace less (--filter, aux-action) or keep the end only (-S) ]\n"
	}, {
		{ .records = 20, .nr = { 3 } },
		{ .aux_size = SZ_64K, .aux_larger = SZ_128K, .data_size = SZ_16K,
		  .data_given = true, .snapshot = true },
		MISSING
		"3 of 20 AUX records end where the AUX area (64K) was full: use a larger one (-m 16K,128K) or keep the end only (-S) ]\n"
	}, {
		{ .records = 20, .nr = { 3 } }, { .aux_size = SZ_64K, .filter = true },
		MISSING
		"3 of 20 AUX records end where the AUX area (64K) was full: trace less (--filter) ]\n"
	}, {
		{ .records = 20, .nr = { 3 } }, { .aux_size = SZ_64K },
		MISSING
		"3 of 20 AUX records end where the AUX area (64K) was full ]\n"
	}, {
		{ .records = 5, .nr = { 0, 2 } }, { .aux_size = SZ_4M },
		MISSING
		"2 of 5 AUX records have gaps, where the hardware could not trace: do without KVM guests, or look for an error in the kernel's log ]\n"
	}, {
		{ .records = 5, .nr = { 0, 0, 4 } }, { .samples = true },
		MISSING
		"4 of 5 AUX records have samples that collided: use a longer period (-c) ]\n"
	}, {
		{ .records = 5, .nr = { 0, 0, 4 } }, { .aux_larger = SZ_16M, .filter = true },
		MISSING
		"4 of 5 AUX records have a collision at the end of the AUX area: use a larger one (-m,16M) or trace less (--filter) ]\n"
	}, {
		{ .nr = { 0, 0, 0, 9 } },
		{ .aux_size = SZ_4M, .aux_larger = SZ_16M, .data_size = SZ_512K,
		  .data_larger = SZ_2M },
		MAYFAIL
		"9 records are lost, as the data buffer (512K) was full: use a larger one (-m 2M,4M) ]\n"
	}, {
		{ .nr = { 0, 0, 0, 9 } }, { .aux_size = SZ_4M, .data_size = SZ_512K },
		MAYFAIL
		"9 records are lost, as the data buffer (512K) was full: record fewer events ]\n"
	}, {
		{ .records = 5, .nr = { 2, 0, 0, 9 } },
		{ .aux_size = SZ_4M, .aux_larger = SZ_16M, .data_size = SZ_512K,
		  .data_larger = SZ_2M },
		MISSING
		"2 of 5 AUX records end where the AUX area (4M) was full: use a larger one (-m,16M) ]\n"
		MAYFAIL
		"9 records are lost, as the data buffer (512K) was full: use a larger one (-m 2M,16M) ]\n"
	},
};

static bool says(const struct line *line)
{
	char *text = NULL;
	bool equal;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return false;

	aux_losses__fprintf(out, &line->sum, &line->remedies);
	fclose(out);
	equal = !strcmp(text, line->text);
	pr_debug("%s", text);
	if (!equal)
		pr_debug("expected: %s", line->text);
	free(text);
	return equal;
}

static int test__aux_losses_lines(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	bool equal = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		equal &= says(&lines[i]);

	return equal ? TEST_OK : TEST_FAIL;
}

static int test__aux_losses_sizes(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	TEST_ASSERT_VAL("four times", aux_losses__larger(SZ_4M, SZ_1G) == SZ_16M);
	TEST_ASSERT_VAL("just four times", aux_losses__larger(SZ_4M, SZ_16M) == SZ_16M);
	TEST_ASSERT_VAL("twice", aux_losses__larger(SZ_4M, SZ_16M - 1) == SZ_8M);
	TEST_ASSERT_VAL("just twice", aux_losses__larger(SZ_4M, SZ_8M) == SZ_8M);
	TEST_ASSERT_VAL("none", aux_losses__larger(SZ_4M, SZ_8M - 1) == 0);
	TEST_ASSERT_VAL("no room", aux_losses__larger(SZ_4M, 0) == 0);
	TEST_ASSERT_VAL("of nothing", aux_losses__larger(0, SZ_1G) == 0);

	return TEST_OK;
}

static struct test_case tests__aux_losses[] = {
	TEST_CASE("AUX losses: records, wherever they lie in a buffer", aux_losses_places),
	TEST_CASE("AUX losses: records that are read twice", aux_losses_again),
	TEST_CASE("AUX losses: buffers without AUX area, and bad records", aux_losses_others),
	TEST_CASE("AUX losses: what is said", aux_losses_lines),
	TEST_CASE("AUX losses: larger sizes", aux_losses_sizes),
	{	.name = NULL, }
};

struct test_suite suite__aux_losses = {
	.desc = "AUX losses",
	.test_cases = tests__aux_losses,
};
