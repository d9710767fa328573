/* SPDX-License-Identifier: GPL-2.0-only */
/* A trace beside other users of the performance monitor. */
#ifndef COMPANY_H
#define COMPANY_H

#include <linux/types.h>
#include <stdbool.h>

#include "aux_util.h"
#include "points.h"

/* Attributes of events that count in hardware and interrupt, NMI, each so often. */
void sampler_attr(struct perf_event_attr *attr, __u64 config, __u64 period);
/* ... and take the last branches with each sample */
void lbr_attr(struct perf_event_attr *attr, __u64 period);

/* Samples by the processor: it has none, it writes them to memory, or also to a trace. */
enum pebs { PEBS_NONE, PEBS_MEMORY, PEBS_OUTPUT };

/* exclusive.c; @coexist: the trace and last branch records can be on together */
void test_exclusive(bool coexist, enum pebs pebs);
/* wrap.c */
void test_wraps(bool lbr, bool pebs);
/* contrary.c */
void test_contrary(void);
/* sample.c */
void test_samples(void);

#endif
