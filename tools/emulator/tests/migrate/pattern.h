/* SPDX-License-Identifier: GPL-2.0-only */
/* The work that is traced: the same branches on each run, whatever the time. */
#ifndef PATTERN_H
#define PATTERN_H

#include "arch.h"

void pattern_init(bool ptwrite);
/* One round; the sum of all results shows that none went wrong. */
u64 pattern_round(void);

/* Some of the functions lie between these, which the linker defines: a range for the IP filter. */
extern const u8 __start_ranged[], __stop_ranged[];

/* pmi.c */
void pmi_init(void);
/* Lets the PMI come that is on its way; tracing with @ctl goes on thereafter. */
void pmi_wait(u64 ctl);

#endif
