/* SPDX-License-Identifier: GPL-2.0-only */
/* What counts and interrupts beside a trace, for more than one of the tests. */
#ifndef BESIDE_H
#define BESIDE_H

#include "aux_util.h"

/* An event of CPU 0 as a detector of hard lockups has one on each; 0, or -errno. */
int open_watchdog(struct aux_event *event, __u64 period, unsigned int data_pages);
/* Take what there is in an event's data buffer; the samples among it. */
unsigned int drain_samples(struct aux_event *event);

#endif
