/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for arch/x86/events/perf_event.h. */
#ifndef SHIM_X86_PERF_EVENT_H
#define SHIM_X86_PERF_EVENT_H

#include <linux/types.h>

enum x86_lbr_exclusive { x86_lbr_exclusive_pt };

void intel_pt_interrupt(void);

/* Who uses what nobody else may use meanwhile: core.c. */
void x86_del_exclusive(unsigned int user);
int x86_add_exclusive(unsigned int user);

#endif
