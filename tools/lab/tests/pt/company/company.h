/* SPDX-License-Identifier: GPL-2.0-only */
/* Intel PT beside other users of the performance monitor. */
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

/* exclusive.c; @coexist: PT and last branch records can be on together; @pebs: there is PEBS */
void test_exclusive(bool coexist, bool pebs);
/* wrap.c */
void test_wraps(bool coexist);
/* contrary.c */
void test_contrary(void);
/* sample.c */
void test_samples(void);

#endif
