/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace and performance monitoring models: what a saved or migrated machine
 * carries of them beside the MSRs.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "migration/cpu.h"
#include "perfmon.h"
#include "pt.h"
#include "pt_packet.h"
#include "pt_regs.h"

static bool perfmon_needed(void *opaque)
{
    X86CPU *cpu = opaque;

    return tcg_enabled() && pt_present(&cpu->env);
}

/* Do the enables agree with the MSRs that they follow from? */
static bool pt_enables_valid(const CPUX86State *env)
{
    const PTState *pt = &env->pt;
    bool trigger = env->msr_rtit_ctrl & RTIT_CTL_TRACE_EN &&
                   !(env->msr_rtit_status & (RTIT_STATUS_ERROR |
                                             RTIT_STATUS_STOPPED));
    bool packet = trigger && pt->context_en && pt->filter_en &&
                  env->msr_rtit_ctrl & RTIT_CTL_BRANCH_EN;

    return pt->trigger_en == trigger && pt->packet_en == packet &&
           pt->tnt_en == (packet && !(env->msr_rtit_ctrl & RTIT_CTL_DIS_TNT)) &&
           (!trigger || (pt->tnt_count < pt->tnt_limit && pt->ratio &&
                         pt->out.size));
}

/* What a damaged file must not bring into the model. */
static bool pt_state_valid(const PTState *pt)
{
    return pt->tnt_limit <= PT_TNT_LONG_MAX && pt->tnt_count <= pt->tnt_limit &&
           pt->ret_top < PT_RETSTACK_DEPTH &&
           pt->ret_count <= PT_RETSTACK_DEPTH &&
           pt->deferred_count <= (pt->tnt_count ? PT_DEFERRED_MAX : 0) &&
           pt->out.cached <= PT_TOPA_CACHE &&
           pt->out.staged <= PT_STAGE_SIZE &&
           (!pt->out.size || pt->out.offset < pt->out.size);
}

static int perfmon_post_load(void *opaque, int version_id)
{
    X86CPU *cpu = opaque;

    if (!pt_state_valid(&cpu->env.pt) || !pt_enables_valid(&cpu->env) ||
        !pt_output_valid(&cpu->env)) {
        return -EINVAL;
    }
    perfmon_update_flags(&cpu->env);
    pt_pmi_arm(&cpu->env);
    pt_tick_arm(&cpu->env);
    return 0;
}

static const VMStateDescription vmstate_pt = {
    .name = "cpu/perfmon/pt",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_BOOL(packet_en, PTState),
        VMSTATE_BOOL(tnt_en, PTState),
        VMSTATE_BOOL(trigger_en, PTState),
        VMSTATE_BOOL(context_en, PTState),
        VMSTATE_BOOL(filter_en, PTState),
        VMSTATE_BOOL(attention, PTState),
        VMSTATE_BOOL(psb_due, PTState),
        VMSTATE_BOOL(last_ip_valid, PTState),
        VMSTATE_UINT8(mode, PTState),
        VMSTATE_UINT64(tnt, PTState),
        VMSTATE_UINT32(tnt_count, PTState),
        VMSTATE_UINT32(tnt_limit, PTState),
        VMSTATE_UINT64_ARRAY(deferred, PTState, PT_DEFERRED_MAX),
        VMSTATE_UINT32(deferred_count, PTState),
        VMSTATE_UINT64(last_ip, PTState),
        VMSTATE_UINT64(cr3, PTState),
        VMSTATE_UINT64_ARRAY(ret, PTState, PT_RETSTACK_DEPTH),
        VMSTATE_UINT32(ret_top, PTState),
        VMSTATE_UINT32(ret_count, PTState),
        VMSTATE_UINT64(psb_bytes, PTState),
        VMSTATE_UINT64(last_tsc, PTState),
        VMSTATE_UINT64(cyc_base, PTState),
        VMSTATE_UINT64(mtc_last, PTState),
        VMSTATE_UINT64(tnt_tsc, PTState),
        VMSTATE_BOOL(asleep, PTState),
        VMSTATE_BOOL(power, PTState),
        VMSTATE_UINT8(cstate, PTState),
        VMSTATE_UINT64(sleep_tsc, PTState),
        VMSTATE_BOOL(smi_trace_en, PTState),
        VMSTATE_BOOL(wait_sipi, PTState),
        VMSTATE_UINT64(pmi_due, PTState),
        VMSTATE_UINT64(ovf_bytes, PTState),
        VMSTATE_UINT32(ovf_lost, PTState),
        VMSTATE_UINT32(ovf_count, PTState),
        VMSTATE_UINT64(packets, PTState),
        VMSTATE_UINT64(random, PTState),
        VMSTATE_UINT8(ratio, PTState),
        VMSTATE_UINT64(out.base, PTState),
        VMSTATE_UINT64(out.size, PTState),
        VMSTATE_UINT64(out.offset, PTState),
        VMSTATE_UINT64(out.entry, PTState),
        VMSTATE_BOOL(out.pmi_early, PTState),
        VMSTATE_UINT64_ARRAY(out.cache, PTState, PT_TOPA_CACHE),
        VMSTATE_UINT64(out.cache_addr, PTState),
        VMSTATE_UINT32(out.cached, PTState),
        /* RAM is saved before the CPU: too late to write it there now. */
        VMSTATE_UINT32(out.staged, PTState),
        VMSTATE_UINT8_ARRAY(out.stage, PTState, PT_STAGE_SIZE),
        VMSTATE_END_OF_LIST()
    }
};

const VMStateDescription vmstate_perfmon = {
    .name = "cpu/perfmon",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = perfmon_needed,
    .post_load = perfmon_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT(env.pt, X86CPU, 1, vmstate_pt, PTState),
        VMSTATE_END_OF_LIST()
    }
};
