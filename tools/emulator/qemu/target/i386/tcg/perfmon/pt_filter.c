/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT model: what is traced (SDM 33.2.5, 33.2.6).
 *
 *   TriggerEn = TraceEn, and neither STATUS.Error nor STATUS.Stopped
 *   ContextEn = CPL and CR3 are those that RTIT_CTL selects
 *   FilterEn  = the last taken branch or event landed in a traced IP range
 *   PacketEn  = all of them and BranchEn
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "cpu.h"
#include "exec/target_page.h"
#include "pt.h"
#include "pt_regs.h"

/* The bits of CR3 that tell one address space from another (SDM 33.2.5.2). */
static uint64_t pt_cr3_mask(CPUX86State *env)
{
    bool pae = env->cr[0] & CR0_PG_MASK && env->cr[4] & CR4_PAE_MASK &&
               !(env->hflags & HF_LMA_MASK);

    return pae ? ~RTIT_CR3_RESERVED : (uint64_t)TARGET_PAGE_MASK;
}

bool pt_context(CPUX86State *env)
{
    uint64_t ctl = env->msr_rtit_ctrl;
    bool user = env->hflags & HF_CPL_MASK;

    if (!(ctl & (user ? RTIT_CTL_USER : RTIT_CTL_OS))) {
        return false;
    }
    return !(ctl & RTIT_CTL_CR3_FILTER) ||
           !((env->cr[3] ^ env->msr_rtit_cr3_match) & pt_cr3_mask(env));
}

static unsigned pt_addr_cfg(CPUX86State *env, unsigned range)
{
    return extract64(env->msr_rtit_ctrl, RTIT_CTL_ADDR_CFG_SHIFT(range),
                     RTIT_CTL_ADDR_CFG_LEN);
}

/* Is @ip in a range that is configured as @cfg?  *@any: there is one. */
static bool pt_in_range(CPUX86State *env, uint64_t ip, unsigned cfg, bool *any)
{
    unsigned i;

    *any = false;
    for (i = 0; i < pt_ranges(env); i++) {
        if (pt_addr_cfg(env, i) != cfg) {
            continue;
        }
        *any = true;
        if (ip >= env->msr_rtit_addrs[2 * i] &&
            ip <= env->msr_rtit_addrs[2 * i + 1]) {
            return true;
        }
    }
    return false;
}

bool pt_in_stop(CPUX86State *env, uint64_t ip)
{
    bool any;

    return pt_in_range(env, ip, RTIT_ADDR_CFG_STOP, &any);
}

bool pt_filter(CPUX86State *env, uint64_t ip)
{
    bool any, in = pt_in_range(env, ip, RTIT_ADDR_CFG_FILTER, &any);

    return (in || !any) && !pt_in_stop(env, ip);
}

void pt_set_enables(CPUX86State *env, bool context, bool filter)
{
    PTState *pt = &env->pt;
    uint64_t ctl = env->msr_rtit_ctrl;

    bool packet = pt->trigger_en && context && filter &&
                  ctl & RTIT_CTL_BRANCH_EN;

    /*
     * RET compression does not reach over code that the reader cannot see
     * (SDM 33.4.2.2).
     */
    if (packet != pt->packet_en) {
        pt->ret_count = 0;
    }
    pt->context_en = context;
    pt->filter_en = filter;
    pt->packet_en = packet;
    pt->tnt_en = pt->packet_en && !(ctl & RTIT_CTL_DIS_TNT);
}

void pt_trigger_off(CPUX86State *env)
{
    PTState *pt = &env->pt;

    pt->trigger_en = false;
    pt_forget_branches(pt);
    pt->ovf_lost = 0;
    pt_set_enables(env, pt->context_en, pt->filter_en);
    perfmon_update_flags(env);
}

bool pt_has_ranges(CPUX86State *env)
{
    return env->msr_rtit_ctrl >> RTIT_CTL_ADDR_CFG_SHIFT(0) &
           MAKE_64BIT_MASK(0, 4 * RTIT_CTL_ADDR_CFG_LEN);
}

uint32_t pt_tb_flags(CPUX86State *env, int cpl)
{
    uint64_t ctl = env->msr_rtit_ctrl;

    if (!env->pt.trigger_en || !(ctl & (cpl ? RTIT_CTL_USER : RTIT_CTL_OS)) ||
        !(ctl & (RTIT_CTL_BRANCH_EN | RTIT_CTL_PTW_EN))) {
        return 0;
    }
    return HF_PERFMON_PT_MASK |
           (pt_has_ranges(env) ? HF_PERFMON_BRANCH_MASK : 0);
}
