/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sideband.h - what ran where and when, as told by the records beside the trace. */
#ifndef CHECKER_SIDEBAND_H
#define CHECKER_SIDEBAND_H

#include "perfdata.h"

enum side_kind {
	SIDE_MAP,	/* a file became executable memory */
	SIDE_FORK,
	SIDE_EXEC,
	SIDE_SWITCH,	/* user code on cpu is tid's from now on */
	SIDE_SEEN,	/* some record was written by tid on cpu */
	SIDE_POKE,	/* kernel text changed */
};

struct side_event {
	enum side_kind kind;
	uint64_t tsc;
	uint64_t order;
	uint32_t pid, tid;
	uint32_t ppid;
	uint32_t cpu;
	bool has_cpu;
	/* MAP: addr, len, pgoff, name; POKE: addr, len, bytes */
	uint64_t addr, len, pgoff;
	const char *name;
	const uint8_t *bytes;
};

/* One stretch of trace data, and what the kernel said about losses in it. */
struct aux_record {
	uint32_t cpu;
	uint32_t tid;
	uint64_t offset, size, flags;
};

struct aux_piece {
	uint32_t idx, tid, cpu;
	uint64_t offset, size;
	const uint8_t *data;
};

struct sideband {
	const struct perf_file *file;
	struct side_event *events;
	size_t nr_events;
	struct aux_record *aux;
	size_t nr_aux;
	struct aux_piece *pieces;
	size_t nr_pieces;
	uint64_t lost_records;
};

void sideband_read(struct sideband *sb, struct perf_file *file);
void sideband_free(struct sideband *sb);

struct code_map {
	uint64_t addr, len, pgoff;
	const char *name;
};

struct process {
	uint32_t pid;
	struct code_map *maps;
	size_t nr_maps;
};

struct thread {
	uint32_t tid, pid;
};

typedef void (*side_poke_fn)(const struct side_event *poke, void *arg);

/*
 * The state of all processes at one moment of one buffer's walk. Time only goes forward, so
 * each walk starts with a new one.
 */
struct side_state {
	const struct sideband *sb;
	/* the buffer's CPU, or -1 for a per-thread buffer, where tid is fixed */
	uint32_t cpu;
	uint32_t tid;
	size_t next;
	struct process *procs;
	size_t nr_procs;
	struct thread *threads;
	size_t nr_threads;
	/* incremented by each event that may change what an address reads as */
	uint64_t generation;
	side_poke_fn poke;
	void *poke_arg;
	/* lookups served by a mapping whose record is younger than the trace's clock */
	uint64_t early_maps;
};

void side_state_init(struct side_state *st, const struct sideband *sb, uint32_t cpu, uint32_t tid);
void side_state_free(struct side_state *st);
/* Apply all events up to tsc. */
void side_state_advance(struct side_state *st, uint64_t tsc);
/* For a trace without time stamps: stand where the buffer's thread last executed a program. */
void side_state_settle(struct side_state *st);
/* The process that owns user addresses now; 0 when unknown. */
uint32_t side_state_pid(const struct side_state *st);
/* The mapping of addr in pid, or NULL. */
const struct code_map *side_state_find(struct side_state *st, uint32_t pid, uint64_t addr,
				       struct code_map *scratch);

#endif
