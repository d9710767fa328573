/* SPDX-License-Identifier: GPL-2.0-only */
/* What evlist.h of newer versions of perf has itself */
#ifndef __PERF_AUX_LOSSES_BASE_H
#define __PERF_AUX_LOSSES_BASE_H

static inline struct perf_evlist *evlist__core(struct evlist *evlist)
{
	return &evlist->core;
}

static inline struct mmap *evlist__mmap(struct evlist *evlist)
{
	return evlist->mmap;
}

static inline struct mmap *evlist__overwrite_mmap(struct evlist *evlist)
{
	return evlist->overwrite_mmap;
}

#endif /* __PERF_AUX_LOSSES_BASE_H */
