/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Branch trace store (SDM volume 3, "BTS and DS Save Area"): a record of each
 * branch that is taken, in a buffer of the debug store.
 */
#ifndef TARGET_I386_TCG_PERFMON_BTS_H
#define TARGET_I386_TCG_PERFMON_BTS_H

#include "perfmon.h"

/* Whether the CPU was configured to have it. */
bool bts_present(CPUX86State *env);
/* DTES64: are the words of the debug store and of records 64 bits wide? */
bool ds_is_wide(CPUX86State *env);
/* DS-CPL: may branches be left out by CPL? */
bool bts_by_cpl(CPUX86State *env);

/* The bits of IA32_DEBUGCTL that there are because of it. */
uint64_t bts_debugctl_bits(CPUX86State *env);

/* Recomputes PMUState::bts_modes, the mask of enum pmu_mode where it stores. */
void bts_update_modes(CPUX86State *env);

/* A near branch is taken, from EIP to EIP. */
void bts_near(CPUX86State *env, target_ulong from, target_ulong to);
/* A far transfer, interrupt or exception is complete. */
void bts_far(CPUX86State *env, PerfmonFrom from);

#endif
