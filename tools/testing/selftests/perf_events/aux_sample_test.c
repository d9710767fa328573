// SPDX-License-Identifier: GPL-2.0-only
/* PERF_SAMPLE_AUX: samples that carry the newest trace, and never anything else. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aux_harness.h"

#define PERIOD		20000
#define ROUNDS		400000
#define TRIES		200
#define SAMPLES		10
#define DATA_PAGES	256
#define AREA		(64UL << 10)
/* intel_pt: a PSB for each 2 KiB of trace, unless it is told otherwise */
#define PSB_PERIOD	2048
#define IDS_SIZE	(2 * sizeof(__u32))
/* What a record has room for, behind its header, the IDs and the size of the data */
#define MOST_DATA	((65535 - sizeof(struct perf_event_header) - IDS_SIZE - sizeof(__u64)) & ~7)

static __u64 min(__u64 a, __u64 b)
{
	return a < b ? a : b;
}

struct seen {
	unsigned int samples, empty, filled, with_trace;
	/* PERF_RECORD_SAMPLE whose parts do not add up, or with too much */
	unsigned int wrong;
	__u64 largest;
};

FIXTURE(aux_sample)
{
	struct aux_event trace, event;
};

FIXTURE_VARIANT(aux_sample)
{
	const char *pmu;
	__u32 size;
	bool per_cpu;
};

/* A group of a trace, and of an event that samples it: of a CPU, -1: of the caller. */
static int open_group(struct aux_event *trace, struct aux_event *event, __u32 size, int prot,
		      int cpu)
{
	pid_t pid = cpu < 0 ? 0 : -1;
	struct perf_event_attr attr;
	int ret;

	aux_attr(&attr);
	ret = aux_open_mapped(trace, &attr, pid, cpu, 1) ?: aux_map_area(trace, AREA, prot);
	if (ret)
		return ret;

	aux_sampler_attr(&attr, PERIOD);
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_AUX;
	attr.aux_sample_size = size;
	event->fd = aux_open_in_group(&attr, pid, cpu, trace->fd);
	return event->fd < 0 ? -errno : aux_map_data(event, DATA_PAGES);
}

FIXTURE_VARIANT_ADD(aux_sample, small_synth) { .pmu = "aux_synth", .size = 64 };
FIXTURE_VARIANT_ADD(aux_sample, small_pt) { .pmu = "intel_pt", .size = 64 };
FIXTURE_VARIANT_ADD(aux_sample, small_bts) { .pmu = "intel_bts", .size = 64 };
FIXTURE_VARIANT_ADD(aux_sample, medium_synth) { .pmu = "aux_synth", .size = 4096 };
FIXTURE_VARIANT_ADD(aux_sample, medium_pt) { .pmu = "intel_pt", .size = 4096 };
FIXTURE_VARIANT_ADD(aux_sample, medium_bts) { .pmu = "intel_bts", .size = 4096 };
/* A record ends at 64 KiB, and what is wanted is more. */
/* None at all, which is allowed; and what is not a multiple of 8 bytes is rounded down. */
FIXTURE_VARIANT_ADD(aux_sample, none_synth) { .pmu = "aux_synth" };
FIXTURE_VARIANT_ADD(aux_sample, none_pt) { .pmu = "intel_pt" };
FIXTURE_VARIANT_ADD(aux_sample, none_bts) { .pmu = "intel_bts" };
FIXTURE_VARIANT_ADD(aux_sample, seven_synth) { .pmu = "aux_synth", .size = 7 };
FIXTURE_VARIANT_ADD(aux_sample, seven_pt) { .pmu = "intel_pt", .size = 7 };
FIXTURE_VARIANT_ADD(aux_sample, seven_bts) { .pmu = "intel_bts", .size = 7 };
FIXTURE_VARIANT_ADD(aux_sample, odd_synth) { .pmu = "aux_synth", .size = 4093 };
FIXTURE_VARIANT_ADD(aux_sample, odd_pt) { .pmu = "intel_pt", .size = 4093 };
FIXTURE_VARIANT_ADD(aux_sample, odd_bts) { .pmu = "intel_bts", .size = 4093 };
FIXTURE_VARIANT_ADD(aux_sample, most_synth) { .pmu = "aux_synth", .size = ~0U };
FIXTURE_VARIANT_ADD(aux_sample, most_pt) { .pmu = "intel_pt", .size = ~0U };
FIXTURE_VARIANT_ADD(aux_sample, most_bts) { .pmu = "intel_bts", .size = ~0U };
/* Of a CPU, and so of several tasks */
FIXTURE_VARIANT_ADD(aux_sample, cpu_synth) { "aux_synth", 4096, .per_cpu = true };
FIXTURE_VARIANT_ADD(aux_sample, cpu_pt) { "intel_pt", 4096, .per_cpu = true };
FIXTURE_VARIANT_ADD(aux_sample, cpu_bts) { "intel_bts", 4096, .per_cpu = true };
FIXTURE_VARIANT_ADD(aux_sample, beyond_a_record_synth) { .pmu = "aux_synth", .size = 65528 };
FIXTURE_VARIANT_ADD(aux_sample, beyond_a_record_pt) { .pmu = "intel_pt", .size = 65528 };
FIXTURE_VARIANT_ADD(aux_sample, beyond_a_record_bts) { .pmu = "intel_bts", .size = 65528 };

/* A sample takes long, for which the kernel would lower the rate of everybody's. */
static const char *missing(void)
{
	return aux_missing_samples() ?: aux_missing_rate();
}

FIXTURE_SETUP(aux_sample)
{
	const char *why;

	aux_use(variant->pmu);
	why = missing();
	self->trace.fd = -1;
	self->event.fd = -1;
	if (why)
		SKIP(return, "%s", why);
	if (variant->per_cpu && aux_missing_cpu())
		SKIP(return, "%s", aux_missing_cpu());
	ASSERT_EQ(variant->per_cpu && aux_pin(0, aux_cpu(0)), 0);
	ASSERT_EQ(open_group(&self->trace, &self->event, variant->size, PROT_READ,
			     variant->per_cpu ? aux_cpu(0) : -1), 0);
}

FIXTURE_TEARDOWN(aux_sample)
{
	aux_close(&self->event);
	aux_close(&self->trace);
}

/* What there was not is zeros. */
static bool has_some(const char *data, __u64 size)
{
	while (size && !data[size - 1])
		size--;
	return size;
}

static void note_sample(struct seen *seen, const struct aux_record *record, __u32 most)
{
	const char *data = record->bytes + IDS_SIZE + sizeof(__u64);
	__u64 size;

	memcpy(&size, record->bytes + IDS_SIZE, sizeof(size));
	seen->samples++;
	seen->empty += !size;
	if (size > most || size % sizeof(__u64) ||
	    record->header.size != sizeof(record->header) + IDS_SIZE + sizeof(size) + size) {
		seen->wrong++;
		return;
	}
	seen->filled += has_some(data, size);
	seen->with_trace += aux_has_trace(data, size);
	if (size > seen->largest)
		seen->largest = size;
}

static void look(struct aux_event *event, struct seen *seen, __u32 most)
{
	static struct aux_record record;

	while (aux_next(event, &record))
		if (record.header.type == PERF_RECORD_SAMPLE)
			note_sample(seen, &record, most);
}

TEST_F(aux_sample, has_the_trace_that_it_says)
{
	struct seen seen = { };
	__u64 want;

	/* To read a sample may take more instructions than one period has. */
	for (unsigned int i = 0; i < 8 || (i < TRIES && seen.samples <= SAMPLES); i++) {
		ASSERT_EQ(aux_enable(&self->trace), 0);
		aux_work(ROUNDS / 8);
		aux_disable(&self->trace);
		look(&self->event, &seen, variant->size);
	}

	ASSERT_GT(seen.samples, SAMPLES);
	EXPECT_EQ(seen.wrong, 0);
	want = min(variant->size / 8 * 8, MOST_DATA);
	EXPECT_EQ(seen.largest, want);
	/* In the middle of a change of the trace, there is nothing that could be in a sample. */
	EXPECT_GE(seen.filled, want ? seen.samples / 2 : 0);
	/* A packet of aux_synth has 64 bytes, and so much trace of Intel PT a PSB somewhere. */
	if (want >= (aux_by_time() ? 64 : 2 * PSB_PERIOD))
		EXPECT_GE(seen.with_trace, seen.samples / 2);
}

#include "aux_fixture.h"

/*
 * Without an area there is no data, and no byte of something else. The group runs on without
 * it until it is scheduled in again, which is refused. That of a CPU stays while tasks come and go.
 */
TEST_F(aux, none_without_an_area)
{
	struct aux_event trace = { .fd = -1 }, event = { .fd = -1 };
	struct seen with = { }, seen = { };
	const char *why = missing();

	if (why)
		SKIP(return, "%s", why);
	if (aux_missing_cpu())
		SKIP(return, "%s", aux_missing_cpu());
	ASSERT_EQ(aux_pin(0, aux_cpu(0)), 0);
	ASSERT_EQ(open_group(&trace, &event, MOST_DATA, PROT_READ, aux_cpu(0)), 0);
	ASSERT_EQ(aux_enable(&trace), 0);
	/* Work may be a time, in which a busy machine gets to no sample. */
	for (unsigned int i = 0; i < TRIES && !with.largest; i++) {
		aux_work(ROUNDS / 16);
		look(&event, &with, MOST_DATA);
	}
	aux_unmap_area(&trace);
	look(&event, &with, MOST_DATA);
	for (unsigned int i = 0; i < TRIES && !seen.samples; i++) {
		aux_work(ROUNDS / 16);
		look(&event, &seen, MOST_DATA);
	}
	aux_disable(&trace);

	EXPECT_GT(with.largest, 0);
	EXPECT_GT(seen.samples, 0);
	EXPECT_EQ(seen.wrong, 0);
	EXPECT_EQ(seen.empty, seen.samples);
	aux_close(&event);
	aux_close(&trace);
}

/* A writable area has no newest data: its reader takes all of it, in order. */
TEST_F(aux, no_data_of_a_full_trace)
{
	struct aux_event trace = { .fd = -1 }, event = { .fd = -1 };
	struct seen seen = { };
	const char *why = missing();

	if (why)
		SKIP(return, "%s", why);
	ASSERT_EQ(open_group(&trace, &event, PSB_PERIOD, PROT_READ | PROT_WRITE, -1), 0);
	/* Work may be a time, in which a busy machine gets to no sample. */
	for (unsigned int i = 0; i < TRIES && !seen.samples; i++) {
		ASSERT_EQ(aux_enable(&trace), 0);
		aux_work(ROUNDS / 16);
		aux_disable(&trace);
		look(&event, &seen, PSB_PERIOD);
		aux_set_tail(&trace, aux_head(&trace));
	}
	EXPECT_GT(seen.samples, 0);
	EXPECT_EQ(seen.empty, seen.samples);
	aux_close(&event);
	aux_close(&trace);
}

TEST_HARNESS_MAIN
