/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Last branch records (SDM volume 3, chapter "Debug, Branch Profile, TSC,
 * and Intel Resource Director Technology"), 32 deep with MSR_LBR_INFO, and
 * IA32_DEBUGCTL, which belongs to the same chapter.
 */
#ifndef TARGET_I386_TCG_PERFMON_LBR_H
#define TARGET_I386_TCG_PERFMON_LBR_H

#include "pmu.h"
#include "pt_regs.h"

/* IA32_DEBUGCTL */
#define DEBUGCTL_LBR                    BIT_ULL(0)
#define DEBUGCTL_BTF                    BIT_ULL(1)
#define DEBUGCTL_FREEZE_LBRS_ON_PMI     BIT_ULL(11)
#define DEBUGCTL_FREEZE_PERFMON_ON_PMI  BIT_ULL(12)
/* What the processor clears by itself before it delivers #DB */
#define DEBUGCTL_UNTIL_DEBUG            (DEBUGCTL_LBR | DEBUGCTL_BTF)

void lbr_reset(CPUX86State *env);
enum perfmon_access lbr_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val);
enum perfmon_access lbr_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val);

/* Whether the CPU was configured to have last branch records. */
bool lbr_present(CPUX86State *env);
/* Are LBRs off, as this processor has none while TraceEn is set? */
static inline bool lbr_suspended(CPUX86State *env)
{
    return (env_archcpu(env)->pt.errata & BIT_ULL(PT_LBR_ALONE)) &&
           (env->msr_rtit_ctrl & RTIT_CTL_TRACE_EN);
}

/* Whether records are being made. */
static inline bool lbr_enabled(CPUX86State *env)
{
    return (env->lbr.debugctl & DEBUGCTL_LBR) && !lbr_suspended(env) &&
           !(env->msr_global_status & PMU_STATUS_LBR_FRZ);
}

/* TraceEn is being cleared. */
void lbr_trace_ends(CPUX86State *env);

/* Mask of enum pmu_mode whose near branches may be recorded. */
uint32_t lbr_modes(CPUX86State *env);

/* A near branch while records are being made. */
void lbr_near(CPUX86State *env, uint64_t from, uint64_t to,
              enum perfmon_branch kind, bool mispredicted);
/* A far transfer, interrupt or exception that is complete. */
void lbr_far(CPUX86State *env, uint64_t from);

/* Is there anything that the next debug exception clears? */
static inline bool lbr_until_debug(CPUX86State *env)
{
    return env->lbr.debugctl & DEBUGCTL_UNTIL_DEBUG;
}

/* A debug exception is delivered: its handler finds LBR and BTF clear. */
void lbr_debug_exception(CPUX86State *env);

/* System management mode has IA32_DEBUGCTL for itself, from zero. */
void lbr_smi(CPUX86State *env);
void lbr_rsm(CPUX86State *env);

extern const VMStateDescription vmstate_lbr;

#endif
