// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfdata.c - the container: file header, attributes, records and their sample_id trailer.
 *
 * Layout: a header names three sections; "attrs" is an array of perf_event_attr each with the
 * place of its event ids, "data" is the sequence of records. An AUXTRACE record is followed by
 * raw trace bytes that its header's size does not count.
 */
#include "perfdata.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PERF_FILE_MAGIC		"PERFILE2"

struct file_section {
	uint64_t offset, size;
};

struct file_header {
	char magic[8];
	uint64_t size;
	uint64_t attr_size;
	struct file_section attrs, data, event_types;
	uint64_t features[4];
};

struct auxtrace_info_rec {
	struct perf_event_header header;
	uint32_t type;
	uint32_t reserved;
	uint64_t priv[];
};

struct auxtrace_rec {
	struct perf_event_header header;
	uint64_t size;
};

/* Index of each word of AUXTRACE_INFO's private data for Intel PT. */
enum {
	PRIV_PMU_TYPE,
	PRIV_TIME_SHIFT,
	PRIV_TIME_MULT,
	PRIV_TIME_ZERO,
	PRIV_CAP_USER_TIME_ZERO,
	PRIV_TSC_BIT,
	PRIV_NORETCOMP_BIT,
	PRIV_HAVE_SCHED_SWITCH,
	PRIV_SNAPSHOT_MODE,
	PRIV_PER_CPU_MMAPS,
	PRIV_MTC_BIT,
	PRIV_MTC_FREQ_BITS,
	PRIV_TSC_CTC_N,
	PRIV_TSC_CTC_D,
	PRIV_CYC_BIT,
	PRIV_MAX_NONTURBO_RATIO,
	PRIV_NR,
};

static const void *file_at(const struct perf_file *file, uint64_t offset, uint64_t size)
{
	if (offset > file->map.size || size > file->map.size - offset)
		die("%s: damaged: needs %llu bytes at %llu, has %zu", file->path,
		    (unsigned long long)size, (unsigned long long)offset, file->map.size);
	return file->map.data + offset;
}

static void find_data(struct perf_file *file, const char *path)
{
	struct stat st;
	char *pieces;

	if (stat(path, &st) < 0)
		die("%s: %s; name a file or directory written by perf record", path,
		    strerror(errno));
	if (!S_ISDIR(st.st_mode)) {
		file->path = xasprintf("%s", path);
		return;
	}
	pieces = xasprintf("%s/data.0", path);
	if (!access(pieces, F_OK))
		die("%s: written by perf record --threads, which is not read here", path);
	free(pieces);
	file->path = xasprintf("%s/data", path);
	file->kcore = xasprintf("%s/kcore_dir/kcore", path);
	if (access(file->kcore, R_OK)) {
		free(file->kcore);
		file->kcore = NULL;
	}
}

static void read_attrs(struct perf_file *file, const struct file_header *hdr)
{
	uint64_t size = hdr->attr_size, at, i;

	if (size <= sizeof(struct file_section) || hdr->attrs.size % size)
		die("%s: damaged: attribute size %llu", file->path, (unsigned long long)size);
	for (at = 0; at < hdr->attrs.size; at += size) {
		const uint8_t *raw = file_at(file, hdr->attrs.offset + at, size);
		size_t attr_bytes = size - sizeof(struct file_section);
		struct perf_attr *attr = array_add(file->attrs, file->nr_attrs);
		struct file_section ids;

		memset(attr, 0, sizeof(*attr));
		memcpy(&attr->attr, raw,
		       attr_bytes < sizeof(attr->attr) ? attr_bytes : sizeof(attr->attr));
		memcpy(&ids, raw + attr_bytes, sizeof(ids));
		attr->nr_ids = ids.size / sizeof(uint64_t);
		attr->ids = xalloc(attr->nr_ids * sizeof(uint64_t));
		for (i = 0; i < attr->nr_ids; i++)
			memcpy(&attr->ids[i], file_at(file, ids.offset + i * 8, 8), 8);
	}
}

static const struct perf_attr *attr_of_record(const struct perf_file *file,
					      const struct perf_event_header *header)
{
	uint64_t id;
	size_t a, i;

	if (!file->nr_attrs)
		return NULL;
	if (!(file->attrs[0].attr.sample_type & PERF_SAMPLE_IDENTIFIER))
		return &file->attrs[0];
	if (header->size < sizeof(*header) + sizeof(id))
		return NULL;
	memcpy(&id, (const uint8_t *)header + header->size - sizeof(id), sizeof(id));
	for (a = 0; a < file->nr_attrs; a++)
		for (i = 0; i < file->attrs[a].nr_ids; i++)
			if (file->attrs[a].ids[i] == id)
				return &file->attrs[a];
	/* Records that perf made up itself bear id 0; they share the first layout. */
	return &file->attrs[0];
}

/* The trailer of a kernel record that is not a sample; its members stand in this order. */
static void read_sample_id(const struct perf_file *file, struct perf_rec *rec)
{
	const struct perf_attr *attr = attr_of_record(file, rec->header);
	uint64_t type = attr ? attr->attr.sample_type : 0, words[6];
	unsigned int nr = 0, w = 0;

	if (!attr || !attr->attr.sample_id_all)
		return;
	nr += !!(type & PERF_SAMPLE_TID) + !!(type & PERF_SAMPLE_TIME) + !!(type & PERF_SAMPLE_ID);
	nr += !!(type & PERF_SAMPLE_STREAM_ID) + !!(type & PERF_SAMPLE_CPU);
	nr += !!(type & PERF_SAMPLE_IDENTIFIER);
	if (rec->body_size < nr * sizeof(uint64_t))
		die("%s: damaged: record at %llu is too short for its sample_id", file->path,
		    (unsigned long long)rec->file_offset);
	rec->body_size -= nr * sizeof(uint64_t);
	memcpy(words, rec->body + rec->body_size, nr * sizeof(uint64_t));
	if (type & PERF_SAMPLE_TID) {
		rec->has_tid = true;
		rec->pid = (uint32_t)words[w];
		rec->tid = words[w++] >> 32;
	}
	if (type & PERF_SAMPLE_TIME) {
		rec->time = words[w++];
		/* perf's own records for what ran before it bear no time. */
		rec->has_time = rec->time && rec->time != UINT64_MAX;
	}
	w += !!(type & PERF_SAMPLE_ID) + !!(type & PERF_SAMPLE_STREAM_ID);
	if (type & PERF_SAMPLE_CPU) {
		rec->has_cpu = (uint32_t)words[w] != UINT32_MAX;
		rec->cpu = (uint32_t)words[w];
	}
}

static uint64_t read_record(struct perf_file *file, uint64_t at, struct perf_rec *rec)
{
	const struct perf_event_header *header = file_at(file, at, sizeof(*header));

	memset(rec, 0, sizeof(*rec));
	if (header->size < sizeof(*header))
		die("%s: damaged: record of size %u at %llu", file->path, header->size,
		    (unsigned long long)at);
	rec->header = file_at(file, at, header->size);
	rec->body = (const uint8_t *)(header + 1);
	rec->body_size = header->size - sizeof(*header);
	rec->file_offset = at;
	if (header->type == PERFTOOL_COMPRESSED || header->type == PERFTOOL_COMPRESSED2)
		die("%s: compressed records are not read here; record without -z", file->path);
	if (header->type == PERFTOOL_AUXTRACE) {
		const struct auxtrace_rec *aux = file_at(file, at, sizeof(*aux));

		rec->payload_size = aux->size;
		rec->payload = file_at(file, at + header->size, aux->size);
	} else if (header->type < PERF_RECORD_MAX && header->type != PERF_RECORD_SAMPLE) {
		read_sample_id(file, rec);
	}
	return header->size + rec->payload_size;
}

void perf_file_for_each(struct perf_file *file, perf_rec_fn fn, void *arg)
{
	uint64_t at = file->data_offset, end = at + file->data_size;
	struct perf_rec rec;

	while (at < end) {
		uint64_t size = read_record(file, at, &rec);

		fn(&rec, arg);
		at += size;
	}
}

static void read_pt_info(const struct perf_rec *rec, void *arg)
{
	struct perf_file *file = arg;
	struct pt_info *pt = &file->pt;
	const struct auxtrace_info_rec *info = (const void *)rec->header;
	uint64_t p[PRIV_NR] = { 0 };
	size_t size;

	if (rec->header->type != PERFTOOL_AUXTRACE_INFO || pt->present)
		return;
	if (rec->header->size < sizeof(*info))
		die("%s: damaged: AUXTRACE_INFO of size %u", file->path, rec->header->size);
	file->auxtrace_type = info->type;
	if (info->type != AUXTRACE_TYPE_INTEL_PT)
		return;
	size = rec->header->size - sizeof(*info);
	memcpy(p, info->priv, size < sizeof(p) ? size : sizeof(p));
	pt->present = true;
	pt->pmu_type = p[PRIV_PMU_TYPE];
	pt->time_shift = p[PRIV_TIME_SHIFT];
	pt->time_mult = p[PRIV_TIME_MULT];
	pt->time_zero = p[PRIV_TIME_ZERO];
	pt->time_valid = p[PRIV_CAP_USER_TIME_ZERO] && pt->time_mult;
	pt->tsc_bit = p[PRIV_TSC_BIT];
	pt->noretcomp_bit = p[PRIV_NORETCOMP_BIT];
	pt->snapshot = p[PRIV_SNAPSHOT_MODE];
	pt->per_cpu = p[PRIV_PER_CPU_MMAPS];
	pt->mtc_bit = p[PRIV_MTC_BIT];
	pt->mtc_freq_bits = p[PRIV_MTC_FREQ_BITS];
	pt->tsc_ctc_n = p[PRIV_TSC_CTC_N];
	pt->tsc_ctc_d = p[PRIV_TSC_CTC_D];
	pt->cyc_bit = p[PRIV_CYC_BIT];
	pt->max_nonturbo_ratio = p[PRIV_MAX_NONTURBO_RATIO];
}

static void find_pt_attr(struct perf_file *file)
{
	size_t i;

	for (i = 0; i < file->nr_attrs; i++) {
		const struct perf_event_attr *attr = &file->attrs[i].attr;

		if (attr->type != file->pt.pmu_type)
			continue;
		file->pt.config = attr->config;
		file->pt.exclude_kernel = attr->exclude_kernel;
		file->pt.exclude_user = attr->exclude_user;
		return;
	}
	die("%s: no Intel PT event among its %zu attributes", file->path, file->nr_attrs);
}

void perf_file_open(struct perf_file *file, const char *path, uint32_t type)
{
	const struct file_header *hdr;

	memset(file, 0, sizeof(*file));
	find_data(file, path);
	if (!map_file(file->path, &file->map))
		die("%s: %s", file->path, strerror(errno));
	if (file->map.size < sizeof(*hdr) || memcmp(file->map.data, PERF_FILE_MAGIC, 8))
		die("%s: not a perf.data file of this byte order (no " PERF_FILE_MAGIC ")",
		    file->path);
	hdr = (const void *)file->map.data;
	if (!hdr->data.size)
		die("%s: perf record did not finish writing it (data size 0)", file->path);
	file->data_offset = hdr->data.offset;
	file->data_size = hdr->data.size;
	file_at(file, file->data_offset, file->data_size);
	read_attrs(file, hdr);
	perf_file_for_each(file, read_pt_info, file);
	if (file->auxtrace_type != type)
		die("%s: no %s trace in it; record with -e %s//", file->path,
		    type == AUXTRACE_TYPE_INTEL_PT ? "Intel PT" : "BTS",
		    type == AUXTRACE_TYPE_INTEL_PT ? "intel_pt" : "intel_bts");
	if (file->pt.present)
		find_pt_attr(file);
}

void perf_file_close(struct perf_file *file)
{
	size_t i;

	for (i = 0; i < file->nr_attrs; i++)
		free(file->attrs[i].ids);
	free(file->attrs);
	unmap_file(&file->map);
	free(file->path);
	free(file->kcore);
}

uint64_t perf_time_to_tsc(const struct pt_info *pt, uint64_t ns)
{
	uint64_t t = ns - pt->time_zero, quot, rem;

	if (!pt->time_valid)
		return 0;
	quot = t / pt->time_mult;
	rem = t % pt->time_mult;
	return (quot << pt->time_shift) + (rem << pt->time_shift) / pt->time_mult;
}

uint64_t perf_tsc_to_time(const struct pt_info *pt, uint64_t tsc)
{
	uint64_t quot = tsc >> pt->time_shift;
	uint64_t rem = tsc & (BIT_ULL(pt->time_shift) - 1);

	return pt->time_zero + quot * pt->time_mult + ((rem * pt->time_mult) >> pt->time_shift);
}
