/* SPDX-License-Identifier: GPL-2.0-only */
/* Events whose samples the processor writes itself (PEBS), alone and beside Intel PT. */
#ifndef PEBS_H
#define PEBS_H

#include <linux/types.h>
#include <stdbool.h>

#include "aux_util.h"
#include "points.h"

/* How the kernel is to take the records of an event. */
enum batch {
	SINGLE,	/* an interrupt for each */
	LARGE,	/* one for many of them */
};

/* Branches of user space, one sample each so many. */
void pebs_attr(struct perf_event_attr *attr, __u64 period, enum batch batch);

/* So many branches and little else: one instruction that jumps to pebs_top, the last time not. */
void pebs_loop(unsigned long branches);
extern const char pebs_top[], pebs_jump[];

/* Interrupts of the performance monitor so far, on all CPUs. */
unsigned long pebs_interrupts(void);

/* What the samples of an event are, and its count. */
struct pebs_samples {
	unsigned long samples, lost, elsewhere, throttled;
	__u64 count;
};

/* Read what there is; @ip: where all samples have to be, or 0. */
void pebs_read(struct aux_event *event, __u64 ip, struct pebs_samples *seen);
/* Whether there is one for each period that the event counted. */
bool pebs_complete(const struct pebs_samples *seen, __u64 period);

/* registers.c: the processor */
void test_registers(void);
/* records.c: events alone */
void test_records(void);
/* contents.c: what a record says */
void test_contents(void);
/* trace.c: beside a trace */
void test_traces(void);
/* pause.c: events that pause and resume a trace */
void test_pauses(void);

#endif
