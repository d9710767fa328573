/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The debug store (SDM volume 3, "BTS and DS Save Area"): IA32_DS_AREA, and how
 * the processor gets at the area that it points to and at the buffers that the
 * area points to.
 */
#ifndef TARGET_I386_TCG_PERFMON_DS_H
#define TARGET_I386_TCG_PERFMON_DS_H

#include "perfmon.h"

/* Whether the CPU was configured to have it: branches or samples go there. */
bool ds_present(CPUX86State *env);
/* Checks the properties; shows or hides the debug store in CPUID. */
bool ds_realize(CPUX86State *env, Error **errp);

/* INIT was taken. */
void ds_init(CPUX86State *env);

enum perfmon_access ds_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val);
enum perfmon_access ds_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val);

/**
 * ds_load - read little-endian words of the area or of a buffer
 * @env: CPU state
 * @addr: linear address of the first word
 * @words: result
 * @n: how many
 * @size: of a word in memory, 4 or 8
 *
 * The processor reads as privileged software would, but never faults.
 *
 * Returns false if not all of it is there, or if some of it is a device.
 */
bool ds_load(CPUX86State *env, uint64_t addr, uint64_t *words, size_t n,
             size_t size);

/* The same, to write them; @words is kept. */
bool ds_store(CPUX86State *env, uint64_t addr, const uint64_t *words, size_t n,
              size_t size);

extern const VMStateDescription vmstate_ds;

#endif
