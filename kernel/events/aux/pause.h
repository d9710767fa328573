/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KERNEL_EVENTS_AUX_PAUSE_H
#define _KERNEL_EVENTS_AUX_PAUSE_H

#include <linux/types.h>

struct perf_event;

#ifdef CONFIG_PERF_AUX

void perf_aux_pause(struct perf_event *trace, bool pause);

#else /* !CONFIG_PERF_AUX */

static inline void perf_aux_pause(struct perf_event *trace, bool pause) { }

#endif /* CONFIG_PERF_AUX */

#endif /* _KERNEL_EVENTS_AUX_PAUSE_H */
