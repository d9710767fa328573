/* SPDX-License-Identifier: GPL-2.0-only */
/* What aux-losses.c needs that differs between versions of perf */
#ifndef __PERF_AUX_LOSSES_BASE_H
#define __PERF_AUX_LOSSES_BASE_H

#include <stdbool.h>
#include <linux/capability.h>

#include "cap.h"
#include "evlist.h"

static inline bool perf_cap__may_lock(void)
{
	return perf_cap__capable(CAP_IPC_LOCK);
}

static inline struct perf_evlist *evlist__core(struct evlist *evlist)
{
	return &evlist->core;
}

#endif /* __PERF_AUX_LOSSES_BASE_H */
