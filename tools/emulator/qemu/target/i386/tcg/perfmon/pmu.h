/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Architectural performance monitoring, version 4 (SDM volume 3, chapter
 * "Performance Monitoring"): what the rest of the models calls.
 */
#ifndef TARGET_I386_TCG_PERFMON_PMU_H
#define TARGET_I386_TCG_PERFMON_PMU_H

#include "perfmon.h"

/* IA32_PERF_GLOBAL_STATUS and its reset and set registers */
#define PMU_STATUS_TOPA_PMI     BIT_ULL(55)
#define PMU_STATUS_LBR_FRZ      BIT_ULL(58)
#define PMU_STATUS_CTR_FRZ      BIT_ULL(59)
#define PMU_STATUS_ASCI         BIT_ULL(60)
#define PMU_STATUS_OVF_UNCORE   BIT_ULL(61)
#define PMU_STATUS_OVF_BUF      BIT_ULL(62)
#define PMU_STATUS_COND_CHGD    BIT_ULL(63)

static inline enum pmu_mode pmu_mode(CPUX86State *env)
{
    return env->hflags & HF_CPL_MASK ? PMU_MODE_USR : PMU_MODE_OS;
}

/* Checks and completes the properties of a CPU that is being realized. */
bool pmu_realize(X86CPU *cpu, Error **errp);
void pmu_reset(CPUX86State *env);

void pmu_cpuid_0a(CPUX86State *env, uint32_t *eax, uint32_t *ebx,
                  uint32_t *ecx, uint32_t *edx);
enum perfmon_access pmu_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val);
enum perfmon_access pmu_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val);
enum perfmon_access pmu_rdpmc(CPUX86State *env, uint32_t index, uint64_t *val);

/* Bits that blocks at this CPL must have; HF_PERFMON_*. */
uint32_t pmu_tb_flags(CPUX86State *env, int cpl);
/* Recomputes whether branches and far transfers are of interest. */
bool pmu_update_active(CPUX86State *env);

static inline bool pmu_active(CPUX86State *env)
{
    return env->pmu.active;
}

/*
 * Brings all counters up to date, and raises what overflowed.  What would have
 * to be told of the place does so at the next event.
 */
void pmu_fold(CPUX86State *env);
/* The same at the branch at which a counter may overflow. */
void pmu_branch_due(CPUX86State *env, target_ulong from, target_ulong to);
/* After a change of what is counted; fold first. */
void pmu_configure(CPUX86State *env);
/*
 * After loading: what is loaded was not folded, for that may interrupt, and
 * the interrupt would miss the saved local APIC.  The first that comes due in
 * the running machine does so.
 */
void pmu_resume(CPUX86State *env);

/**
 * pmu_raise - set status bits and interrupt
 * @env: CPU state
 * @status: bits of IA32_PERF_GLOBAL_STATUS
 *
 * Freezes what IA32_DEBUGCTL says and delivers the interrupt through LVTPC;
 * it is taken when the current translation block ends.
 */
void pmu_raise(CPUX86State *env, uint64_t status);

/* The part of pmu_branch() that is needed for predictions and records only. */
void pmu_branch_predicted(CPUX86State *env, target_ulong from, target_ulong to,
                          target_ulong next, enum perfmon_branch kind);

/**
 * pmu_branch - a near branch retires
 * @env: CPU state
 * @from: its EIP
 * @to: where it leads, for one that is not taken the next instruction
 * @next: EIP of the next instruction
 * @kind: what it is
 */
static inline void pmu_branch(CPUX86State *env, target_ulong from,
                              target_ulong to, target_ulong next,
                              enum perfmon_branch kind)
{
    PMUState *pmu = &env->pmu;

    pmu->now[pmu_mode(env)][PMU_SRC_BRANCH + kind]++;
    if (pmu->predict) {
        pmu_branch_predicted(env, from, to, next, kind);
    }
    if (--pmu->branch_budget == 0) {
        pmu_branch_due(env, from, to);
    }
}

/*
 * A far transfer is complete; see perfmon_far().  Before and after the trace
 * has told of it.
 */
void pmu_far_begin(CPUX86State *env, target_ulong from, enum perfmon_far kind);
void pmu_far(CPUX86State *env, target_ulong from, enum perfmon_far kind);

/* The processor stops executing instructions, until pmu_wake(). */
void pmu_halt(CPUX86State *env);
void pmu_wake(CPUX86State *env);
/* INIT was taken.  @wait: the processor stands until a start-up interrupt. */
void pmu_init(CPUX86State *env, bool wait);

/* The block was left before @insns of its instructions retired. */
static inline void pmu_uncount(CPUX86State *env, uint32_t tb_flags,
                               uint32_t insns)
{
    bool usr = tb_flags & HF_CPL_MASK;

    env->pmu.now[usr ? PMU_MODE_USR : PMU_MODE_OS][PMU_SRC_INSN] -= insns;
}

void pmu_post_load(CPUX86State *env);

extern const VMStateDescription vmstate_pmu;

#endif
