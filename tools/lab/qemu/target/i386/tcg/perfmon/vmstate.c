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

static bool perfmon_needed(void *opaque)
{
    X86CPU *cpu = opaque;

    return pt_present(&cpu->env);
}

static int perfmon_pre_save(void *opaque)
{
    X86CPU *cpu = opaque;

    /* So that the packets in flight are part of the guest's memory. */
    pt_output_flush(&cpu->env);
    return 0;
}

static int perfmon_post_load(void *opaque, int version_id)
{
    X86CPU *cpu = opaque;

    perfmon_update_flags(&cpu->env);
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
        VMSTATE_UINT64(last_ip, PTState),
        VMSTATE_UINT64(cr3, PTState),
        VMSTATE_UINT64_ARRAY(ret, PTState, PT_RETSTACK_DEPTH),
        VMSTATE_UINT32(ret_top, PTState),
        VMSTATE_UINT32(ret_count, PTState),
        VMSTATE_UINT64(psb_bytes, PTState),
        VMSTATE_UINT64(last_tsc, PTState),
        VMSTATE_UINT64(cyc_base, PTState),
        VMSTATE_UINT64(mtc_last, PTState),
        VMSTATE_BOOL(halted, PTState),
        VMSTATE_BOOL(smi_trace_en, PTState),
        VMSTATE_UINT64(ovf_bytes, PTState),
        VMSTATE_UINT32(ovf_lost, PTState),
        VMSTATE_UINT64(packets, PTState),
        VMSTATE_UINT64(out.base, PTState),
        VMSTATE_UINT64(out.size, PTState),
        VMSTATE_UINT64(out.offset, PTState),
        VMSTATE_UINT64(out.entry, PTState),
        VMSTATE_BOOL(out.pmi_early, PTState),
        VMSTATE_END_OF_LIST()
    }
};

const VMStateDescription vmstate_perfmon = {
    .name = "cpu/perfmon",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = perfmon_needed,
    .pre_save = perfmon_pre_save,
    .post_load = perfmon_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT(env.pt, X86CPU, 1, vmstate_pt, PTState),
        VMSTATE_END_OF_LIST()
    }
};
