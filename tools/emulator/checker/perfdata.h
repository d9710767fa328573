/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfdata.h - reading a perf.data file with an AUX area trace of Intel PT or BTS. */
#ifndef CHECKER_PERFDATA_H
#define CHECKER_PERFDATA_H

#include <linux/perf_event.h>

#include "util.h"

/* Records that the perf tool itself adds; the kernel's are in linux/perf_event.h. */
enum {
	PERFTOOL_AUXTRACE_INFO	= 70,
	PERFTOOL_AUXTRACE	= 71,
	PERFTOOL_AUXTRACE_ERROR	= 72,
	PERFTOOL_COMPRESSED	= 81,
	PERFTOOL_COMPRESSED2	= 83,
};

/* Whose trace it is, as AUXTRACE_INFO says. */
#define AUXTRACE_TYPE_INTEL_PT	1
#define AUXTRACE_TYPE_INTEL_BTS	2

/* What perf's AUXTRACE_INFO record says about the Intel PT event. */
struct pt_info {
	bool present;
	uint64_t pmu_type;
	uint64_t time_shift, time_mult, time_zero;
	bool time_valid;
	uint64_t tsc_bit, noretcomp_bit, mtc_bit, cyc_bit;
	uint64_t mtc_freq_bits;
	bool snapshot;
	bool per_cpu;
	uint32_t tsc_ctc_n, tsc_ctc_d;
	uint32_t max_nonturbo_ratio;
	/* attr.config of the Intel PT event */
	uint64_t config;
	bool exclude_kernel, exclude_user;
};

/* One record with its sample_id decoded. */
struct perf_rec {
	const struct perf_event_header *header;
	const uint8_t *body;
	/* bytes of the body, sample_id excluded */
	size_t body_size;
	/* only for AUXTRACE: the bytes after the record */
	const uint8_t *payload;
	uint64_t payload_size;
	uint64_t file_offset;
	bool has_time, has_tid, has_cpu;
	uint64_t time;
	uint32_t pid, tid;
	uint32_t cpu;
};

struct perf_attr {
	struct perf_event_attr attr;
	uint64_t *ids;
	size_t nr_ids;
};

struct perf_file {
	char *path;
	/* found beside the data of "perf record --kcore", otherwise NULL */
	char *kcore;
	struct mapped_file map;
	struct perf_attr *attrs;
	size_t nr_attrs;
	uint64_t data_offset, data_size;
	uint32_t auxtrace_type;
	struct pt_info pt;
};

typedef void (*perf_rec_fn)(const struct perf_rec *rec, void *arg);

/* Both end the program with one line of explanation if the file is not what it should be. */
void perf_file_open(struct perf_file *file, const char *path, uint32_t type);
void perf_file_for_each(struct perf_file *file, perf_rec_fn fn, void *arg);
void perf_file_close(struct perf_file *file);

/* perf's clock (nanoseconds) to TSC by the conversion that the kernel exported. */
uint64_t perf_time_to_tsc(const struct pt_info *pt, uint64_t ns);
uint64_t perf_tsc_to_time(const struct pt_info *pt, uint64_t tsc);

#endif
