/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processor event-based sampling.  Either of the first four general counters,
 * with records of format 3, or of any counter, with records of format 4 that
 * software composes (adaptive), which can go to a trace instead of memory
 * (SDM volume 3, "PEBS output to Intel Processor Trace").
 *
 * Where the debug store is not mapped, or is a device, there is no room for a
 * record.  Where nothing is traced, a record for the trace is gone, and the
 * counter goes on.  The latency of loads is not there.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "migration/vmstate.h"
#include "cpu.h"
#include "ds.h"
#include "pebs_record.h"
#include "pmu.h"
#include "pmu_regs.h"

#define MSR_PEBS_ENABLE         0x3f1
#define MSR_PEBS_DATA_CFG       0x3f2
#define MSR_RELOAD_FIXED_CTR0   0x1309
#define MSR_RELOAD_PMC0         0x14c1

/* Counters of format 3 */
#define PEBS_NUM_COUNTERS       4

/* The part of the debug store that is about PEBS, where there is DTES64. */
#define DS_PEBS_OFFSET          0x20

enum {
    DS_BASE,
    DS_INDEX,
    DS_MAXIMUM,
    DS_THRESHOLD,
    DS_RESET,
    DS_WORDS = DS_RESET + PMU_NUM_COUNTERS,
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

    return cpu->enable_pmu && cpu->pmu_config.pebs;
}

bool pebs_adaptive(CPUX86State *env)
{
    return pebs_present(env) && env_archcpu(env)->pmu_config.pebs_adaptive;
}

static bool pebs_can_trace(CPUX86State *env)
{
    return pebs_adaptive(env) && env_archcpu(env)->pmu_config.pebs_trace;
}

bool pebs_realize(CPUX86State *env, Error **errp)
{
    PMUConfig *config = &env_archcpu(env)->pmu_config;

    if (config->pebs_trace && !(env->features[FEAT_7_0_EBX] &
                                CPUID_7_0_EBX_INTEL_PT)) {
        error_setg(errp, "x-pebs-trace needs intel-pt");
        return false;
    }
    config->pebs_adaptive |= config->pebs_trace;
    config->pebs |= config->pebs_adaptive;
    return true;
}

uint64_t pebs_capabilities(CPUX86State *env)
{
    if (!pebs_present(env)) {
        return 0;
    }
    return PMU_CAP_PEBS |
           (pebs_adaptive(env) ? PMU_CAP_PEBS_ADAPTIVE : PMU_CAP_PEBS_FIXED) |
           (pebs_can_trace(env) ? PMU_CAP_PEBS_TRACE : 0);
}

/* How many counters can have it. */
static unsigned pebs_num_counters(CPUX86State *env)
{
    return pebs_adaptive(env) ? PMU_NUM_COUNTERS : PEBS_NUM_COUNTERS;
}

static uint64_t pebs_enable_valid(CPUX86State *env)
{
    uint64_t valid = pebs_can_trace(env) ? PEBS_PMI_EACH | PEBS_OUTPUT_TRACE
                                         : 0;

    for (unsigned i = 0; i < pebs_num_counters(env); i++) {
        valid |= pmu_global_bit(i);
    }
    return valid;
}

/* The register of @msr and the bits that it has, or NULL. */
static uint64_t *pebs_register(CPUX86State *env, uint32_t msr, uint64_t *valid)
{
    PEBSState *pebs = &env->pmu.pebs;

    if (msr == MSR_PEBS_ENABLE && pebs_present(env)) {
        *valid = pebs_enable_valid(env);
        return &pebs->enable;
    }
    if (msr == MSR_PEBS_DATA_CFG && pebs_adaptive(env)) {
        *valid = PEBS_CFG_VALID;
        return &pebs->data_cfg;
    }
    if (!pebs_can_trace(env)) {
        return NULL;
    }
    *valid = COUNTER_MASK;
    if (msr - MSR_RELOAD_PMC0 < PMU_NUM_GP) {
        return &pebs->reload[msr - MSR_RELOAD_PMC0];
    }
    if (msr - MSR_RELOAD_FIXED_CTR0 < PMU_NUM_FIXED) {
        return &pebs->reload[PMU_NUM_GP + msr - MSR_RELOAD_FIXED_CTR0];
    }
    return NULL;
}

enum perfmon_access pebs_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    uint64_t valid, *reg = pebs_register(env, msr, &valid);

    if (!reg) {
        return PERFMON_NOT_MINE;
    }
    *val = *reg;
    return PERFMON_OK;
}

enum perfmon_access pebs_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    uint64_t valid, *reg = pebs_register(env, msr, &valid);

    if (!reg) {
        return PERFMON_NOT_MINE;
    }
    if (val & ~valid) {
        return PERFMON_GP;
    }
    pmu_fold(env);
    *reg = val;
    pmu_configure(env);
    perfmon_update_flags(env);
    return PERFMON_OK;
}

/* A record of format 3. */
static bool pebs_store_fixed(CPUX86State *env, uint64_t addr, uint64_t counters,
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
        if (order[i] < CPU_NB_REGS) {
            record[PEBS_REGS + i] = env->regs[order[i]];
        }
    }
    return ds_store(env, addr, record, PEBS_WORDS, sizeof(*record));
}

static void pebs_reload(CPUX86State *env, uint64_t counters,
                        const uint64_t *values)
{
    for (unsigned i = 0; i < pebs_num_counters(env); i++) {
        if (counters & pmu_global_bit(i)) {
            *pmu_counter(env, i) = values[i] & COUNTER_MASK;
        }
    }
}

/* MSR_PEBS_DATA_CFG, if one of @counters is to tell more than the basics. */
static uint64_t pebs_config(CPUX86State *env, uint64_t counters)
{
    bool asked = false;

    for (unsigned i = 0; i < PMU_NUM_COUNTERS; i++) {
        if (counters & pmu_global_bit(i)) {
            asked |= i < PMU_NUM_GP
                     ? env->msr_gp_evtsel[i] & EVTSEL_ADAPTIVE
                     : env->msr_fixed_ctr_ctrl &
                       FIXED_CTRL_ADAPTIVE(i - PMU_NUM_GP);
        }
    }
    return asked ? env->pmu.pebs.data_cfg : 0;
}

static uint64_t pebs_to_trace(CPUX86State *env, uint64_t counters,
                              const PEBSPlace *at, const PEBSRecord *record)
{
    bool told = pt_pebs(env, record, at->next_ip);

    pebs_reload(env, counters, env->pmu.pebs.reload);
    return told && env->pmu.pebs.enable & PEBS_PMI_EACH ? PMU_STATUS_OVF_BUF
                                                        : 0;
}

/* @record: NULL, if it has format 3 */
static uint64_t pebs_to_memory(CPUX86State *env, uint64_t counters,
                               const PEBSPlace *at, const PEBSRecord *record)
{
    const uint64_t size = record ? pebs_size(record)
                                 : PEBS_WORDS * sizeof(uint64_t);
    uint64_t area = env->pmu.ds_area + DS_PEBS_OFFSET;
    uint64_t ds[DS_WORDS], next;

    if (!ds_load(env, area, ds, DS_RESET + pebs_num_counters(env),
                 sizeof(*ds)) ||
        ds[DS_INDEX] < ds[DS_BASE] || ds[DS_MAXIMUM] < size ||
        ds[DS_INDEX] > ds[DS_MAXIMUM] - size) {
        return 0;
    }
    next = ds[DS_INDEX] + size;
    if (!(record ? pebs_store(env, ds[DS_INDEX], record)
                 : pebs_store_fixed(env, ds[DS_INDEX], counters, at)) ||
        !ds_store(env, area + DS_INDEX * sizeof(*ds), &next, 1, sizeof(*ds))) {
        return 0;
    }
    pebs_reload(env, counters, ds + DS_RESET);
    return next >= ds[DS_THRESHOLD] ? PMU_STATUS_OVF_BUF : 0;
}

uint64_t pebs_record(CPUX86State *env, uint64_t counters, const PEBSPlace *at)
{
    PEBSRecord record;

    if (!pebs_adaptive(env)) {
        return pebs_to_memory(env, counters, at, NULL);
    }
    pebs_compose(env, pebs_config(env, counters), counters, at, &record);
    return pebs_traced(env) ? pebs_to_trace(env, counters, at, &record)
                            : pebs_to_memory(env, counters, at, &record);
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
    PEBSState *pebs = &env->pmu.pebs;

    for (unsigned i = 0; i < PMU_NUM_COUNTERS; i++) {
        pebs->reload[i] &= COUNTER_MASK;
    }
    return pebs->enable & ~pebs_enable_valid(env) ||
           pebs->data_cfg & ~PEBS_CFG_VALID ? -EINVAL : 0;
}

const VMStateDescription vmstate_pebs = {
    .name = "cpu/perfmon_pmu/pebs",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = pebs_needed,
    .post_load = pebs_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(env.pmu.pebs.enable, X86CPU),
        VMSTATE_UINT64(env.pmu.pebs.data_cfg, X86CPU),
        VMSTATE_UINT64_ARRAY(env.pmu.pebs.reload, X86CPU, PMU_NUM_COUNTERS),
        VMSTATE_END_OF_LIST()
    }
};
