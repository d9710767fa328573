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

static bool perfmon_needed(void *opaque)
{
    X86CPU *cpu = opaque;

    return tcg_enabled() && pt_present(&cpu->env);
}

/* What a damaged file must not bring into the model. */
static bool pt_state_valid(const PTState *pt)
{
    return pt->tnt_limit <= PT_TNT_LONG_MAX && pt->tnt_count <= pt->tnt_limit &&
           pt->ret_top < PT_RETSTACK_DEPTH &&
           pt->ret_count <= PT_RETSTACK_DEPTH &&
           pt->out.staged <= PT_STAGE_SIZE &&
           (!pt->out.size || pt->out.offset < pt->out.size);
}

static int perfmon_post_load(void *opaque, int version_id)
{
    X86CPU *cpu = opaque;

    if (!pt_state_valid(&cpu->env.pt)) {
        return -EINVAL;
    }
    perfmon_update_flags(&cpu->env);
    pt_pmi_arm(&cpu->env);
    return 0;
}

static const VMStateDescription vmstate_pt = {
    .name = "cpu/perfmon/pt",
    .version_id = 2,
    .minimum_version_id = 2,
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
        VMSTATE_UINT64(last_ip, PTState),
        VMSTATE_UINT64(cr3, PTState),
        VMSTATE_UINT64_ARRAY(ret, PTState, PT_RETSTACK_DEPTH),
        VMSTATE_UINT32(ret_top, PTState),
        VMSTATE_UINT32(ret_count, PTState),
        VMSTATE_UINT64(psb_bytes, PTState),
        VMSTATE_UINT64(last_tsc, PTState),
        VMSTATE_UINT64(cyc_base, PTState),
        VMSTATE_UINT64(mtc_last, PTState),
        VMSTATE_UINT8(cstate, PTState),
        VMSTATE_BOOL(smi_trace_en, PTState),
        VMSTATE_BOOL(wait_sipi, PTState),
        VMSTATE_UINT64(pmi_due, PTState),
        VMSTATE_UINT64(ovf_bytes, PTState),
        VMSTATE_UINT32(ovf_lost, PTState),
        VMSTATE_UINT64(packets, PTState),
        VMSTATE_UINT64(out.base, PTState),
        VMSTATE_UINT64(out.size, PTState),
        VMSTATE_UINT64(out.offset, PTState),
        VMSTATE_UINT64(out.entry, PTState),
        VMSTATE_BOOL(out.pmi_early, PTState),
        /* RAM is saved before the CPU: too late to write it there now. */
        VMSTATE_UINT32(out.staged, PTState),
        VMSTATE_UINT8_ARRAY(out.stage, PTState, PT_STAGE_SIZE),
        VMSTATE_END_OF_LIST()
    }
};

const VMStateDescription vmstate_perfmon = {
    .name = "cpu/perfmon",
    .version_id = 2,
    .minimum_version_id = 2,
    .needed = perfmon_needed,
    .post_load = perfmon_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT(env.pt, X86CPU, 2, vmstate_pt, PTState),
        VMSTATE_END_OF_LIST()
    }
};
