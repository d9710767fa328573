/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processor event-based sampling (SDM volume 3, chapter "Performance
 * Monitoring"): general counters that write records to memory as they
 * overflow.
 */
#ifndef TARGET_I386_TCG_PERFMON_PEBS_H
#define TARGET_I386_TCG_PERFMON_PEBS_H

#include "perfmon.h"

/**
 * struct PEBSPlace - where the processor is when a counter overflows
 * @event_ip: EIP of the instruction that did it, if it was a branch; else of
 *            the one that is next
 * @next_ip: EIP of the one that is next
 */
typedef struct PEBSPlace {
    target_ulong event_ip;
    target_ulong next_ip;
} PEBSPlace;

/* Whether the CPU was configured to have it. */
bool pebs_present(CPUX86State *env);
/* Is it adaptive, and of any counter? */
bool pebs_adaptive(CPUX86State *env);
/* Completes and checks the properties; what IA32_PERF_CAPABILITIES says. */
bool pebs_realize(CPUX86State *env, Error **errp);
uint64_t pebs_capabilities(CPUX86State *env);

enum perfmon_access pebs_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val);
enum perfmon_access pebs_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val);

/* IA32_PEBS_ENABLE, above the bits of counters */
#define PEBS_PMI_EACH           BIT_ULL(60)
#define PEBS_OUTPUT_TRACE       BIT_ULL(61)

/*
 * Bits of counters, as IA32_PERF_GLOBAL_CTRL has them, whose overflow is a
 * record, not a status bit.
 */
static inline uint64_t pebs_counters(CPUX86State *env)
{
    return env->pmu.pebs.enable & ~(PEBS_PMI_EACH | PEBS_OUTPUT_TRACE);
}

/* Do records go to the trace? */
static inline bool pebs_traced(CPUX86State *env)
{
    return env->pmu.pebs.enable & PEBS_OUTPUT_TRACE;
}

/**
 * pebs_record - counters overflowed
 * @env: CPU state; the registers are those after the instruction
 * @counters: mask of those that are pebs_counters()
 * @at: where
 *
 * Writes one record for all of them, to memory or to the trace, and reloads
 * them.  Where memory has no room for it, they are left as they are.
 *
 * Returns bits to set in IA32_PERF_GLOBAL_STATUS, with an interrupt.
 */
uint64_t pebs_record(CPUX86State *env, uint64_t counters, const PEBSPlace *at);

extern const VMStateDescription vmstate_pebs;

#endif
