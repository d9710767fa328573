/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT model: the RTIT MSRs and when an access faults (SDM 33.2.8).
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "pt.h"
#include "pt_regs.h"

/* Bits of RTIT_CTL that this CPU has, given its capabilities. */
static uint64_t pt_ctl_bits(CPUX86State *env)
{
    const PTConfig *pt = pt_config(env);
    uint64_t bits = RTIT_CTL_TRACE_EN | RTIT_CTL_OS | RTIT_CTL_USER |
                    RTIT_CTL_TSC_EN | RTIT_CTL_DIS_RETC | RTIT_CTL_BRANCH_EN;
    unsigned i;

    bits |= pt->cr3filter ? RTIT_CTL_CR3_FILTER : 0;
    bits |= pt->topa ? RTIT_CTL_TOPA : 0;
    bits |= pt->mtc ? RTIT_CTL_MTC_EN | RTIT_CTL_MTC_FREQ : 0;
    bits |= pt->psbcyc ? RTIT_CTL_CYC_EN | RTIT_CTL_CYC_THRESH |
                         RTIT_CTL_PSB_FREQ : 0;
    bits |= pt->ptwrite ? RTIT_CTL_PTW_EN | RTIT_CTL_FUP_ON_PTW : 0;
    bits |= pt->powerev ? RTIT_CTL_PWR_EVT_EN : 0;
    bits |= pt->psbpmi ? RTIT_CTL_INJECT_PSB_PMI : 0;
    bits |= pt->event ? RTIT_CTL_EVENT_EN : 0;
    bits |= pt->notnt ? RTIT_CTL_DIS_TNT : 0;
    for (i = 0; i < pt_ranges(env); i++) {
        bits |= MAKE_64BIT_MASK(RTIT_CTL_ADDR_CFG_SHIFT(i),
                                RTIT_CTL_ADDR_CFG_LEN);
    }
    return bits;
}

static bool pt_ctl_valid(CPUX86State *env, uint64_t val)
{
    unsigned i;

    if (val & ~pt_ctl_bits(env) || !pt_encodings_valid(env, val)) {
        return false;
    }
    for (i = 0; i < pt_ranges(env); i++) {
        if (extract64(val, RTIT_CTL_ADDR_CFG_SHIFT(i), RTIT_CTL_ADDR_CFG_LEN) >
            RTIT_ADDR_CFG_STOP) {
            return false;
        }
    }
    if (!(val & RTIT_CTL_TRACE_EN)) {
        return true;
    }
    if (!(val & RTIT_CTL_BRANCH_EN) && pt_erratum(env, PT_BDM106)) {
        return false;
    }
    /* Enabled, there must be an output scheme. */
    return val & RTIT_CTL_TOPA || pt_config(env)->single;
}

static enum perfmon_access pt_write_ctl(CPUX86State *env, uint64_t val,
                                        target_ulong next_ip)
{
    uint64_t old = env->msr_rtit_ctrl;

    if (!pt_ctl_valid(env, val)) {
        return PERFMON_GP;
    }
    if (old & RTIT_CTL_TRACE_EN) {
        if (val & RTIT_CTL_TRACE_EN) {
            return val == old ? PERFMON_OK : PERFMON_GP;
        }
        pt_trace_stop(env, env->eip, false);
    }
    env->msr_rtit_ctrl = val;
    if (val & RTIT_CTL_TRACE_EN) {
        pt_trace_start(env, next_ip, false);
    }
    perfmon_update_flags(env);
    return PERFMON_OK;
}

static enum perfmon_access pt_write_status(CPUX86State *env, uint64_t val)
{
    const PTConfig *pt = pt_config(env);
    uint64_t bits = RTIT_STATUS_READ_ONLY | RTIT_STATUS_ERROR |
                    RTIT_STATUS_STOPPED;

    bits |= pt->psbcyc ? RTIT_STATUS_BYTE_CNT : 0;
    bits |= pt->psbpmi ? RTIT_STATUS_PEND_PSB | RTIT_STATUS_PEND_TOPA_PMI : 0;
    if (val & ~bits) {
        return PERFMON_GP;
    }
    env->msr_rtit_status = val & ~RTIT_STATUS_READ_ONLY;
    env->pt.psb_bytes = (val & RTIT_STATUS_BYTE_CNT) >>
                        RTIT_STATUS_BYTE_CNT_SHIFT;
    return PERFMON_OK;
}

static uint64_t pt_read_status(CPUX86State *env)
{
    const PTState *pt = &env->pt;
    uint64_t val = env->msr_rtit_status & ~RTIT_STATUS_BYTE_CNT;

    val |= pt->filter_en ? RTIT_STATUS_FILTER_EN : 0;
    val |= pt->context_en ? RTIT_STATUS_CONTEXT_EN : 0;
    val |= pt->trigger_en ? RTIT_STATUS_TRIGGER_EN : 0;
    if (pt_config(env)->psbcyc) {
        val |= pt->psb_bytes << RTIT_STATUS_BYTE_CNT_SHIFT &
               RTIT_STATUS_BYTE_CNT;
    }
    return val;
}

/*
 * Where the value of @msr lives, NULL when this CPU has no such MSR.  The
 * two that are not plain storage are handled by the callers.
 */
static uint64_t *pt_msr_storage(CPUX86State *env, uint32_t msr)
{
    switch (msr) {
    case MSR_IA32_RTIT_CTL:
        return &env->msr_rtit_ctrl;
    case MSR_IA32_RTIT_STATUS:
        return &env->msr_rtit_status;
    case MSR_IA32_RTIT_OUTPUT_BASE:
        return &env->msr_rtit_output_base;
    case MSR_IA32_RTIT_OUTPUT_MASK:
        return &env->msr_rtit_output_mask;
    case MSR_IA32_RTIT_CR3_MATCH:
        return pt_config(env)->cr3filter ? &env->msr_rtit_cr3_match : NULL;
    case MSR_IA32_RTIT_ADDR0_A ... MSR_IA32_RTIT_ADDR3_B:
        msr -= MSR_IA32_RTIT_ADDR0_A;
        return msr / 2 < pt_ranges(env) ? &env->msr_rtit_addrs[msr] : NULL;
    default:
        return NULL;
    }
}

static bool pt_msr_mine(uint32_t msr)
{
    switch (msr) {
    case MSR_IA32_RTIT_CTL:
    case MSR_IA32_RTIT_STATUS:
    case MSR_IA32_RTIT_OUTPUT_BASE:
    case MSR_IA32_RTIT_OUTPUT_MASK:
    case MSR_IA32_RTIT_CR3_MATCH:
    case MSR_IA32_RTIT_ADDR0_A ... MSR_IA32_RTIT_ADDR3_B:
        return true;
    default:
        return false;
    }
}

/* Whether @msr is of Intel PT, and then where its value lives. */
static enum perfmon_access pt_msr_find(CPUX86State *env, uint32_t msr,
                                       uint64_t **storage)
{
    if (!pt_msr_mine(msr)) {
        return PERFMON_NOT_MINE;
    }
    *storage = pt_config(env)->hidden ? NULL : pt_msr_storage(env, msr);
    return *storage ? PERFMON_OK : PERFMON_GP;
}

enum perfmon_access pt_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    uint64_t *storage;
    enum perfmon_access access = pt_msr_find(env, msr, &storage);

    if (access != PERFMON_OK) {
        return access;
    }
    if (msr == MSR_IA32_RTIT_STATUS) {
        *val = pt_read_status(env);
    } else if (msr == MSR_IA32_RTIT_OUTPUT_MASK) {
        *val = *storage | RTIT_MASK_LOWER;
    } else {
        *val = *storage;
    }
    return PERFMON_OK;
}

/* The reserved bits of an MSR that may be written now. */
static bool pt_value_valid(CPUX86State *env, uint32_t msr, uint64_t val)
{
    switch (msr) {
    case MSR_IA32_RTIT_OUTPUT_BASE:
        return !(val & RTIT_BASE_RESERVED) &&
               !(val & ~MAKE_64BIT_MASK(0, env_archcpu(env)->phys_bits));
    case MSR_IA32_RTIT_CR3_MATCH:
        return !(val & RTIT_CR3_RESERVED);
    case MSR_IA32_RTIT_ADDR0_A ... MSR_IA32_RTIT_ADDR3_B:
        return perfmon_canonical(env, val);
    default:
        return true;
    }
}

enum perfmon_access pt_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val,
                             target_ulong next_ip)
{
    uint64_t *storage;
    enum perfmon_access access = pt_msr_find(env, msr, &storage);

    if (access != PERFMON_OK) {
        return access;
    }
    if (msr == MSR_IA32_RTIT_CTL) {
        return pt_write_ctl(env, val, next_ip);
    }
    if (env->msr_rtit_ctrl & RTIT_CTL_TRACE_EN ||
        !pt_value_valid(env, msr, val)) {
        return PERFMON_GP;
    }
    if (msr == MSR_IA32_RTIT_STATUS) {
        return pt_write_status(env, val);
    }
    *storage = msr == MSR_IA32_RTIT_OUTPUT_MASK ? val | RTIT_MASK_LOWER : val;
    return PERFMON_OK;
}
