/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processor event-based sampling with records of format 3, by which the first
 * four general counters may write where and how they overflowed.
 *
 * Where the debug store is not mapped, or is a device, there is no room for a
 * record.  The latency of loads is not there.
 */
#include "qemu/osdep.h"
#include "migration/vmstate.h"
#include "cpu.h"
#include "ds.h"
#include "pebs.h"
#include "pmu.h"
#include "pmu_regs.h"

#define MSR_PEBS_ENABLE         0x3f1

#define PEBS_NUM_COUNTERS       4
#define PEBS_ENABLE_VALID       MAKE_64BIT_MASK(0, PEBS_NUM_COUNTERS)

/* The part of the debug store that is about PEBS, where there is DTES64. */
#define DS_PEBS_OFFSET          0x20

enum {
    DS_BASE,
    DS_INDEX,
    DS_MAXIMUM,
    DS_THRESHOLD,
    DS_RESET,
    DS_WORDS = DS_RESET + PEBS_NUM_COUNTERS,
};

/* Words of a record; those that have no name here are zero. */
enum {
    PEBS_FLAGS,
    PEBS_IP,
    PEBS_REGS,
    PEBS_COUNTERS = 0x90 / 8,
    PEBS_EVENT_IP = 0xb0 / 8,
    PEBS_TSC = 0xc0 / 8,
    PEBS_WORDS,
};

bool pebs_present(CPUX86State *env)
{
    X86CPU *cpu = env_archcpu(env);

    return cpu->enable_pmu && cpu->pt.pebs;
}

enum perfmon_access pebs_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    if (msr != MSR_PEBS_ENABLE || !pebs_present(env)) {
        return PERFMON_NOT_MINE;
    }
    *val = env->pmu.pebs.enable;
    return PERFMON_OK;
}

enum perfmon_access pebs_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    if (msr != MSR_PEBS_ENABLE || !pebs_present(env)) {
        return PERFMON_NOT_MINE;
    }
    if (val & ~PEBS_ENABLE_VALID) {
        return PERFMON_GP;
    }
    pmu_fold(env);
    env->pmu.pebs.enable = val;
    return PERFMON_OK;
}

static bool pebs_write(CPUX86State *env, uint64_t addr, uint64_t counters,
                       const PEBSPlace *at)
{
    static const uint8_t order[] = {
        R_EAX, R_EBX, R_ECX, R_EDX, R_ESI, R_EDI, R_EBP, R_ESP,
        R_R8, R_R9, R_R10, R_R11, R_R12, R_R13, R_R14, R_R15,
    };
    uint64_t record[PEBS_WORDS] = {
        [PEBS_FLAGS] = cpu_compute_eflags(env),
        [PEBS_IP] = at->next_ip,
        [PEBS_COUNTERS] = counters,
        [PEBS_EVENT_IP] = at->event_ip,
        [PEBS_TSC] = perfmon_read_tsc(env) + env->tsc_offset,
    };

    for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
        record[PEBS_REGS + i] = env->regs[order[i]];
    }
    return ds_store(env, addr, record, PEBS_WORDS, sizeof(*record));
}

uint64_t pebs_record(CPUX86State *env, uint64_t counters, const PEBSPlace *at)
{
    const uint64_t size = PEBS_WORDS * sizeof(uint64_t);
    uint64_t area = env->pmu.ds_area + DS_PEBS_OFFSET;
    uint64_t ds[DS_WORDS], next;

    if (!ds_load(env, area, ds, DS_WORDS, sizeof(*ds)) ||
        ds[DS_INDEX] < ds[DS_BASE] || ds[DS_MAXIMUM] < size ||
        ds[DS_INDEX] > ds[DS_MAXIMUM] - size) {
        return 0;
    }
    next = ds[DS_INDEX] + size;
    if (!pebs_write(env, ds[DS_INDEX], counters, at) ||
        !ds_store(env, area + DS_INDEX * sizeof(*ds), &next, 1, sizeof(*ds))) {
        return 0;
    }
    for (int i = 0; i < PEBS_NUM_COUNTERS; i++) {
        if (counters & BIT_ULL(i)) {
            env->msr_gp_counters[i] = ds[DS_RESET + i] & COUNTER_MASK;
        }
    }
    return next >= ds[DS_THRESHOLD] ? PMU_STATUS_OVF_BUF : 0;
}

static bool pebs_needed(void *opaque)
{
    X86CPU *cpu = opaque;

    return pebs_present(&cpu->env);
}

/* A damaged file must not bring what WRMSR refuses. */
static int pebs_post_load(void *opaque, int version_id)
{
    CPUX86State *env = &((X86CPU *)opaque)->env;

    return env->pmu.pebs.enable & ~PEBS_ENABLE_VALID ? -EINVAL : 0;
}

const VMStateDescription vmstate_pebs = {
    .name = "cpu/perfmon_pmu/pebs",
    .version_id = 2,
    .minimum_version_id = 2,
    .needed = pebs_needed,
    .post_load = pebs_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(env.pmu.pebs.enable, X86CPU),
        VMSTATE_END_OF_LIST()
    }
};
