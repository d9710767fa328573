// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints of AUX areas: what they tell is what user page and records tell, and events of
 * those within a transaction do nothing to the trace.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aux_harness.h"

#define DATA_PAGES	64
#define TOLD_PAGES	256
#define AREA		(16 * aux_page_size())
#define ROUNDS		20000
#define STARTS		4
#define SAMPLE_SIZE	64
#define EVENTS		"/sys/kernel/tracing/events/perf_aux/perf_aux_"
#define MOST_FIELDS	4

enum { MAP, BEGIN, END, FULL, WAKEUP, UNMAP, NR };

/* In the middle of a transaction, a trace can neither be paused nor sampled. */
static const struct {
	const char *name;
	bool within;
	const char *fields[MOST_FIELDS];
} tracepoints[NR] = {
	[MAP] = { "map", false, { "size", "watermark", "overwrite", "pmu" } },
	[BEGIN] = { "begin", true, { "head", "size" } },
	[END] = { "end", true, { "offset", "size", "flags" } },
	[FULL] = { "full", true, { "head" } },
	[WAKEUP] = { "wakeup", true, { "head" } },
	[UNMAP] = { "unmap", false, { "head" } },
};

/* What one of them has told; field[] is in the order of the names above. */
struct told {
	int which;
	__u64 id, field[MOST_FIELDS];
	char raw[256];
};

FIXTURE(aux_tracepoints)
{
	struct aux_event trace;
	/* Tracepoints of a CPU; all of them tell in the buffer of the first one. */
	struct aux_event events[NR];
	int type[NR];
	__u64 id;
	/* The position so far; how often each of them has told */
	__u64 at;
	unsigned int seen[NR];
};

#define AUX_FIXTURE aux_tracepoints
#include "aux_variants.h"

static int open_tracepoint(int type, int cpu, int leader, struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = type;
	attr->sample_period = 1;
	return aux_open_in_group(attr, cpu < 0 ? 0 : -1, cpu, leader);
}

FIXTURE_SETUP(aux_tracepoints)
{
	char path[128];

	aux_use(variant->pmu);
	self->trace.fd = -1;
	for (int i = 0; i < NR; i++)
		self->events[i].fd = -1;
	if (aux_missing_cpu())
		SKIP(return, "%s", aux_missing_cpu());
	for (int i = 0; i < NR; i++) {
		snprintf(path, sizeof(path), EVENTS "%s/id", tracepoints[i].name);
		self->type[i] = aux_read_number(path);
		if (!self->type[i])
			SKIP(return, "no tracepoints of AUX areas, or they cannot be read");
	}
	ASSERT_EQ(aux_pin(0, aux_cpu(0)), 0);
}

FIXTURE_TEARDOWN(aux_tracepoints)
{
	aux_close(&self->trace);
	for (int i = NR; i--;)
		aux_close(&self->events[i]);
}

/* Pinned events are not off while the trace is switched on. */
static void open_all(struct __test_metadata *_metadata, FIXTURE_DATA(aux_tracepoints) *self)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_RAW, .pinned = 1 };

	for (int i = 0; i < NR; i++) {
		self->events[i].fd = open_tracepoint(self->type[i], aux_cpu(0), -1, &attr);
		ASSERT_GE(self->events[i].fd, 0);
		if (i) {
			ASSERT_EQ(ioctl(self->events[i].fd, PERF_EVENT_IOC_SET_OUTPUT,
					self->events[0].fd), 0);
		} else {
			ASSERT_EQ(aux_map_data(&self->events[0], TOLD_PAGES), 0);
		}
	}
}

/* A field by the file that tells where it is: its value, or where a string begins. */
static __u64 read_field(const char *raw, const char *tracepoint, const char *name)
{
	unsigned int offset = 0, size = 0;
	char path[128], line[256], want[64];
	__u64 value = 0;
	FILE *file;

	snprintf(path, sizeof(path), EVENTS "%s/format", tracepoint);
	snprintf(want, sizeof(want), " %s;\toffset:", name);
	file = fopen(path, "r");
	while (file && !size && fgets(line, sizeof(line), file)) {
		if (strstr(line, want))
			sscanf(strstr(line, want) + strlen(want), "%u;\tsize:%u", &offset, &size);
	}
	if (file)
		fclose(file);
	switch (size) {
	case 1:
		return *(__u8 *)(raw + offset);
	case 4:
		return *(__u32 *)(raw + offset);
	default:
		memcpy(&value, raw + offset, sizeof(value));
		return value;
	}
}

/* Take what a tracepoint tells of our event; others may trace as well. */
static bool next_told(FIXTURE_DATA(aux_tracepoints) *self, struct told *told)
{
	static struct aux_record record;
	__u16 type;

	while (aux_next(&self->events[0], &record)) {
		if (record.header.type != PERF_RECORD_SAMPLE)
			continue;
		memcpy(told->raw, record.bytes + sizeof(__u32), sizeof(told->raw));
		memcpy(&type, told->raw, sizeof(type));
		for (told->which = 0; self->type[told->which] != type;)
			told->which++;
		told->id = read_field(told->raw, tracepoints[told->which].name, "id");
		if (told->id != self->id)
			continue;
		for (int i = 0; i < MOST_FIELDS && tracepoints[told->which].fields[i]; i++)
			told->field[i] = read_field(told->raw, tracepoints[told->which].name,
						    tracepoints[told->which].fields[i]);
		return true;
	}
	return false;
}

/* An AUX record tells the same, unless there is nothing to tell. */
static void expect_record(struct __test_metadata *_metadata,
			  FIXTURE_DATA(aux_tracepoints) *self, const struct told *end)
{
	static struct aux_record record;

	if (!end->field[1] && !(end->field[2] & ~(__u64)PERF_AUX_FLAG_OVERWRITE))
		return;
	do {
		ASSERT_TRUE(aux_next(&self->trace, &record));
	} while (record.header.type != PERF_RECORD_AUX);
	EXPECT_EQ(end->field[0], record.aux.offset);
	EXPECT_EQ(end->field[1], record.aux.size);
	EXPECT_EQ(end->field[2], record.aux.flags);
}

/* A driver may skip some bytes, of which only the next position tells. */
static void expect_position(struct __test_metadata *_metadata,
			    FIXTURE_DATA(aux_tracepoints) *self, __u64 position)
{
	EXPECT_GE(position, self->at);
	if (!aux_skips())
		EXPECT_EQ(position, self->at);
	self->at = position;
}

static void expect_told(struct __test_metadata *_metadata, FIXTURE_DATA(aux_tracepoints) *self,
			const struct told *told, bool overwrite)
{
	self->seen[told->which]++;
	switch (told->which) {
	case MAP:
		EXPECT_EQ(told->field[0], AREA);
		EXPECT_EQ(told->field[1], overwrite ? 0 : AREA / 4);
		EXPECT_EQ(told->field[2], overwrite);
		EXPECT_STREQ(told->raw + (__u16)told->field[3], aux_pmu_name());
		break;
	case BEGIN:
		expect_position(_metadata, self, told->field[0]);
		EXPECT_EQ(told->field[1], overwrite ? 0 : AREA - 1 - self->at);
		break;
	case END:
		if (overwrite)
			self->at = told->field[0];
		expect_position(_metadata, self, told->field[0]);
		self->at += overwrite ? 0 : told->field[1];
		expect_record(_metadata, self, told);
		break;
	default:
		expect_position(_metadata, self, told->field[0]);
	}
}

/* Trace a little, with an area in either mode, or until it is full. */
static void trace(struct __test_metadata *_metadata, FIXTURE_DATA(aux_tracepoints) *self,
		  bool overwrite)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	attr.aux_watermark = AREA / 4;
	ASSERT_EQ(aux_open_mapped(&self->trace, &attr, 0, -1, DATA_PAGES), 0);
	ASSERT_EQ(ioctl(self->trace.fd, PERF_EVENT_IOC_ID, &self->id), 0);
	ASSERT_EQ(aux_map_area(&self->trace, AREA, overwrite ? PROT_READ :
							       PROT_READ | PROT_WRITE), 0);
	for (unsigned int i = 0; i < STARTS; i++) {
		ASSERT_EQ(aux_enable(&self->trace), 0);
		aux_work(overwrite || i < STARTS - 1 ? ROUNDS / 100 : 0);
		if (!overwrite && i == STARTS - 1)
			aux_fill(&self->trace);
		aux_disable(&self->trace);
	}
	aux_unmap_area(&self->trace);
}

static void tell(struct __test_metadata *_metadata, FIXTURE_DATA(aux_tracepoints) *self,
		 bool overwrite)
{
	static struct told told;

	open_all(_metadata, self);
	trace(_metadata, self, overwrite);
	while (next_told(self, &told))
		expect_told(_metadata, self, &told, overwrite);
	EXPECT_EQ(self->at, aux_head(&self->trace));
	EXPECT_EQ(self->seen[MAP], 1);
	EXPECT_GE(self->seen[BEGIN], STARTS);
	EXPECT_EQ(self->seen[END], self->seen[BEGIN]);
	EXPECT_EQ(self->seen[UNMAP], 1);
}

TEST_F(aux_tracepoints, full_trace_is_told)
{
	tell(_metadata, self, false);
	/* The reader is woken at watermarks, and each time that the area is full. */
	EXPECT_GE(self->seen[FULL], 1);
	EXPECT_GT(self->seen[WAKEUP], self->seen[FULL]);
}

TEST_F(aux_tracepoints, overwriting_is_told)
{
	tell(_metadata, self, true);
	EXPECT_EQ(self->seen[FULL], 0);
	EXPECT_EQ(self->seen[WAKEUP], 0);
}

static void try_action(struct __test_metadata *_metadata, FIXTURE_DATA(aux_tracepoints) *self,
		       int which, __u32 sample_size, __u32 action)
{
	struct perf_event_attr attr = {
		.sample_type = sample_size ? PERF_SAMPLE_AUX : 0,
		.aux_sample_size = sample_size,
	};
	int fd;

	aux_set_action(&attr, action);
	errno = 0;
	fd = open_tracepoint(self->type[which], -1, self->trace.fd, &attr);
	EXPECT_EQ(errno, tracepoints[which].within && (sample_size || action) ? EINVAL : 0)
		TH_LOG("%s, sample of %u, action %u", tracepoints[which].name, sample_size, action);
	close(fd);
}

TEST_F(aux_tracepoints, no_action_within_a_transaction)
{
	if (aux_missing_pause())
		SKIP(return, "%s", aux_missing_pause());
	ASSERT_EQ(aux_open_mapped(&self->trace, NULL, 0, -1, DATA_PAGES), 0);
	for (int i = 0; i < NR; i++) {
		try_action(_metadata, self, i, 0, 0);
		try_action(_metadata, self, i, SAMPLE_SIZE, 0);
		try_action(_metadata, self, i, 0, AUX_PAUSE);
		try_action(_metadata, self, i, 0, AUX_RESUME);
	}
}

TEST_HARNESS_MAIN
