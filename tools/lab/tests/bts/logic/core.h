/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf's core, as far as this driver meets it: transactions, and a reader, who looks
 * at each record.
 */
#ifndef CORE_H
#define CORE_H

#include <linux/perf_event.h>

#define MAX_GAPS	4096

/**
 * struct perf_buffer - an area and its reader
 * @overwrite: newest data win
 * @priv: the driver's
 * @area: memory
 * @size: bytes
 * @head: as the driver says
 * @tail: as the reader says
 * @wakeup: the head at which to wake the reader next
 * @watermark: bytes
 * @open: a transaction is
 * @published: by a kernel that has crashed
 * @next: number of the record that the reader expects; 0: any
 * @gaps: where a record says that something is missing
 * @nr_gaps: how many
 * @in_gap: the reader has come to one, and found no record since
 * @flags: of the last transaction
 * @truncated: transactions that ended so
 */
struct perf_buffer {
	bool overwrite;
	void *priv;
	u8 *area;
	u64 size, head, tail, wakeup, watermark;
	bool open, published;
	u64 next;
	u64 gaps[MAX_GAPS];
	unsigned int nr_gaps;
	bool in_gap;
	u64 flags;
	unsigned int truncated;
};

extern struct perf_event core_event;
extern struct perf_buffer core_rb;

/* An event, and its area; returns what pmu::event_init() or setup_aux() refused. */
int core_begin(unsigned int pages, bool overwrite, u64 watermark, bool kernel);
void core_end(void);
/* Schedule in and out; whether the event is in. */
bool core_in(void);
void core_out(void);
/* The reader reads so many bytes at most, and enables the event. */
void core_read(u64 bytes);
/* All is as the event wants it. */
void core_check(bool in);

/* What perf_pmu_register() and the driver's bts_cpu_init() return, and what is undone. */
extern int core_refuses_pmu, core_refuses_cpus, core_cpus;
/* What perf_allow_kernel() returns */
extern int core_denies;

/* Whether a record may go there. */
bool core_takes(const void *at);
bool core_is_overwrite(void);

#endif
