/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT model: what power-on and reset make of the RTIT MSRs (SDM
 * 33.2.8.1).  A processor with IP filtering (CPUID.(EAX=14H,ECX=0):EBX[2])
 * keeps them over a warm reset but for TraceEn; others clear them.
 *
 * Every reset is a warm one.  The first finds what the MSRs have at power-on:
 * zero, or with x-pt-dirty what a firmware could have left.  A processor that
 * does not keep them has cleared them by then.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "pt.h"
#include "pt_regs.h"

/* In x-pt-dirty: an address that is in nobody's way, but not zero */
#define PT_DIRTY_ADDR       0x12345000

void pt_power_on(CPUX86State *env)
{
    const PTConfig *pt = pt_config(env);
    unsigned i;

    if (!pt->dirty) {
        return;
    }
    env->msr_rtit_ctrl = RTIT_CTL_OS | RTIT_CTL_USER | RTIT_CTL_BRANCH_EN |
                         RTIT_CTL_TSC_EN;
    env->msr_rtit_status = RTIT_STATUS_STOPPED | RTIT_STATUS_ERROR;
    env->msr_rtit_output_base = PT_DIRTY_ADDR;
    env->msr_rtit_output_mask = 3ULL << RTIT_MASK_OFFSET_SHIFT;
    if (pt->cr3filter) {
        env->msr_rtit_ctrl |= RTIT_CTL_CR3_FILTER;
        env->msr_rtit_cr3_match = PT_DIRTY_ADDR;
    }
    for (i = 0; i < pt_ranges(env); i++) {
        env->msr_rtit_ctrl |= (uint64_t)RTIT_ADDR_CFG_FILTER <<
                              RTIT_CTL_ADDR_CFG_SHIFT(i);
        env->msr_rtit_addrs[2 * i] = PT_DIRTY_ADDR;
        env->msr_rtit_addrs[2 * i + 1] = 2 * PT_DIRTY_ADDR;
    }
}

void pt_reset_begin(CPUX86State *env)
{
    PTRegisters *kept = &pt_config(env)->kept;

    QEMU_BUILD_BUG_ON(sizeof(kept->addrs) != sizeof(env->msr_rtit_addrs));
    kept->ctl = env->msr_rtit_ctrl & ~RTIT_CTL_TRACE_EN;
    kept->status = env->msr_rtit_status;
    kept->output_base = env->msr_rtit_output_base;
    kept->output_mask = env->msr_rtit_output_mask;
    kept->cr3_match = env->msr_rtit_cr3_match;
    memcpy(kept->addrs, env->msr_rtit_addrs, sizeof(kept->addrs));
    kept->psb_bytes = env->pt.psb_bytes;
}

/* The firmware, which runs after each reset, has a trace on that STOP ended. */
static void pt_leave_on(CPUX86State *env)
{
    env->msr_rtit_ctrl = RTIT_CTL_TRACE_EN | RTIT_CTL_OS | RTIT_CTL_TOPA |
                         RTIT_CTL_BRANCH_EN;
    env->msr_rtit_status = RTIT_STATUS_STOPPED;
    env->msr_rtit_output_base = pt_config(env)->left_on;
}

void pt_reset(CPUX86State *env)
{
    const PTRegisters *kept = &pt_config(env)->kept;

    env->pt = (PTState) { .mode = PT_MODE_UNKNOWN };
    if (pt_present(env) && pt_ranges(env)) {
        env->msr_rtit_ctrl = kept->ctl;
        env->msr_rtit_status = kept->status;
        env->msr_rtit_output_base = kept->output_base;
        env->msr_rtit_output_mask = kept->output_mask;
        env->msr_rtit_cr3_match = kept->cr3_match;
        memcpy(env->msr_rtit_addrs, kept->addrs, sizeof(kept->addrs));
        env->pt.psb_bytes = kept->psb_bytes;
    }
    if (pt_present(env)) {
        env->msr_rtit_output_mask |= RTIT_MASK_LOWER;
        if (pt_config(env)->left_on) {
            pt_leave_on(env);
        }
    }
}
