// SPDX-License-Identifier: GPL-2.0-or-later
/* decoded.c - reads the instruction file that ptwalk writes. */
#include "decoded.h"

#include <errno.h>
#include <string.h>

#define NO_THREAD	UINT32_MAX

/* Whose records follow, as an index. */
static uint32_t owner(const char *path, const struct insn_rec *rec, bool thread, uint32_t *tid)
{
	uint32_t cpu = (uint32_t)rec->ip, this = rec->ip >> 32;

	if (thread) {
		if (cpu != UINT32_MAX)
			die("%s: holds traces of CPUs, not of a thread", path);
		if (*tid != NO_THREAD && *tid != this)
			die("%s: holds traces of threads %u and %u; one can be compared", path,
			    *tid, this);
		*tid = this;
		return 0;
	}
	if (cpu == UINT32_MAX)
		die("%s: holds per-thread traces; record per CPU, or see --thread", path);
	if (cpu >= MAX_CPUS)
		die("%s: CPU %u; at most %u are handled", path, cpu, MAX_CPUS);
	return cpu;
}

void decoded_load(const char *path, struct mapped_file *file, struct decoded *cpus, bool thread)
{
	const struct insn_rec *rec, *end;
	uint32_t tid = NO_THREAD;
	size_t *len = NULL;

	if (!map_file(path, file))
		die("%s: %s", path, strerror(errno));
	if (file->size < 8 || memcmp(file->data, INSNFILE_MAGIC, 8) || (file->size - 8) % 16)
		die("%s: not written by ptwalk --insns of this version", path);
	rec = (const void *)(file->data + 8);
	end = rec + (file->size - 8) / sizeof(*rec);
	for (; rec < end; rec++) {
		struct decoded *dec;

		if (rec->kind != INSN_STREAM) {
			if (!len)
				die("%s: damaged: instructions before any stream", path);
			(*len)++;
			continue;
		}
		dec = &cpus[owner(path, rec, thread, &tid)];
		*array_add(dec->runs, dec->nr_runs) = rec + 1;
		len = array_add(dec->run_len, dec->nr_lens);
		*len = 0;
	}
}

const struct insn_rec *decoded_record(struct decoded *dec, bool *starts)
{
	while (dec->run < dec->nr_runs) {
		if (dec->at < dec->run_len[dec->run]) {
			*starts = !dec->at;
			return &dec->runs[dec->run][dec->at++];
		}
		dec->run++;
		dec->at = 0;
	}
	return NULL;
}

const struct insn_rec *decoded_next(struct decoded *dec, bool *lost)
{
	const struct insn_rec *rec;
	bool starts;

	while ((rec = decoded_record(dec, &starts))) {
		if (rec->kind == INSN_RETIRED)
			return rec;
		if (rec->kind == INSN_LOST)
			*lost = true;
	}
	return NULL;
}
