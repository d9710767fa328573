/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PerfMon as software sees it: CPUID leaf 0AH, its MSRs with their reserved
 * bits, RDPMC, reset, and migration.
 *
 * Events of the last level cache are said to be unavailable, so that nobody
 * takes a zero for a measurement.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "migration/vmstate.h"
#include "cpu.h"
#include "system/tcg.h"
#include "bts.h"
#include "ds.h"
#include "lbr.h"
#include "pebs.h"
#include "pmu.h"
#include "pmu_regs.h"
#include "predict.h"

#define PMU_VERSION             4

/* CPUID leaf 0AH: number of architectural events, and those missing */
#define CPUID_0A_EVENTS         7
#define CPUID_0A_NO_LLC_REF     BIT(3)
#define CPUID_0A_NO_LLC_MISS    BIT(4)

/* Full width aliases of the general counters */
#define MSR_IA32_A_PMC0         0x4c1
#define MSR_PERF_GLOBAL_SET     0x391
#define MSR_PERF_GLOBAL_INUSE   0x392

/* IA32_PERFEVTSELx: the event of mispredicted branches */
#define EVTSEL_EVENT_MISS       0xc5

#define GLOBAL_GP               MAKE_64BIT_MASK(0, PMU_NUM_GP)
#define GLOBAL_COUNTERS         (GLOBAL_GP | \
                                 MAKE_64BIT_MASK(GLOBAL_FIXED_SHIFT, \
                                                 PMU_NUM_FIXED))
#define GLOBAL_INUSE_PMI        BIT_ULL(63)
/* CondChgd can be cleared but not set (SDM figures 18-11 and 18-12). */
#define GLOBAL_SET_VALID        (GLOBAL_COUNTERS | PMU_STATUS_LBR_FRZ | \
                                 PMU_STATUS_CTR_FRZ | PMU_STATUS_ASCI | \
                                 PMU_STATUS_OVF_UNCORE | PMU_STATUS_OVF_BUF)
#define GLOBAL_RESET_VALID      (GLOBAL_SET_VALID | PMU_STATUS_COND_CHGD)

/* IA32_MISC_ENABLE */
#define MISC_ENABLE_EMON        BIT_ULL(7)
#define MISC_ENABLE_NO_BTS      BIT_ULL(11)
#define MISC_ENABLE_NO_PEBS     BIT_ULL(12)

/* No total of a real machine comes to this. */
#define PMU_TOTAL_MAX           MAKE_64BIT_MASK(60, 4)

/* RDPMC's index */
#define RDPMC_FIXED             BIT(30)

static bool pmu_present(CPUX86State *env)
{
    return env_archcpu(env)->enable_pmu;
}

bool pmu_realize(X86CPU *cpu, Error **errp)
{
    CPUX86State *env = &cpu->env;
    bool lbr_given = cpu->lbr_fmt != ~PERF_CAP_LBR_FMT;

    if (lbr_given && cpu->lbr_fmt && cpu->lbr_fmt != PMU_CAP_LBR_FMT_INFO) {
        error_setg(errp, "lbr-fmt must be %d, or 0 for no last branch "
                   "records", PMU_CAP_LBR_FMT_INFO);
        return false;
    }
    if (cpu->enable_pmu) {
        env->features[FEAT_1_ECX] |= CPUID_EXT_PDCM;
        env->features[FEAT_PERF_CAPABILITIES] =
            PMU_CAP_FW_WRITE | pebs_capabilities(env) |
            (lbr_given ? cpu->lbr_fmt : PMU_CAP_LBR_FMT_INFO);
    }
    return true;
}

void pmu_reset(CPUX86State *env)
{
    memset(&env->pmu, 0, sizeof(env->pmu));
    predict_reset(&env->pmu.predictor);
    lbr_reset(env);
    if (pmu_present(env)) {
        env->msr_global_ctrl = GLOBAL_GP;
        env->msr_ia32_misc_enable |= MISC_ENABLE_EMON;
        if (!bts_present(env)) {
            env->msr_ia32_misc_enable |= MISC_ENABLE_NO_BTS;
        }
        if (!pebs_present(env)) {
            env->msr_ia32_misc_enable |= MISC_ENABLE_NO_PEBS;
        }
    }
    pmu_configure(env);
}

void pmu_cpuid_0a(CPUX86State *env, uint32_t *eax, uint32_t *ebx,
                  uint32_t *ecx, uint32_t *edx)
{
    *eax = PMU_VERSION | PMU_NUM_GP << 8 | PMU_COUNTER_WIDTH << 16 |
           CPUID_0A_EVENTS << 24;
    *ebx = CPUID_0A_NO_LLC_REF | CPUID_0A_NO_LLC_MISS;
    *ecx = 0;
    *edx = PMU_NUM_FIXED | PMU_COUNTER_WIDTH << 5;
}

/* Status bits that exist; tracing has one of its own. */
static uint64_t pmu_status_valid(CPUX86State *env, uint64_t valid)
{
    return env->features[FEAT_7_0_EBX] & CPUID_7_0_EBX_INTEL_PT
           ? valid | PMU_STATUS_TOPA_PMI : valid;
}

static uint64_t pmu_inuse(CPUX86State *env)
{
    uint64_t inuse = 0;

    for (int i = 0; i < PMU_NUM_GP; i++) {
        inuse |= env->msr_gp_evtsel[i] & EVTSEL_EVENT ? BIT_ULL(i) : 0;
        inuse |= env->msr_gp_evtsel[i] & EVTSEL_INT ? GLOBAL_INUSE_PMI : 0;
    }
    for (int i = 0; i < PMU_NUM_FIXED; i++) {
        uint32_t ctrl = env->msr_fixed_ctr_ctrl >> (i * FIXED_CTRL_WIDTH);

        inuse |= ctrl & FIXED_CTRL_ENABLE
                 ? BIT_ULL(GLOBAL_FIXED_SHIFT + i) : 0;
        inuse |= ctrl & FIXED_CTRL_PMI ? GLOBAL_INUSE_PMI : 0;
    }
    return inuse;
}

static bool pmu_owns(CPUX86State *env, uint32_t msr)
{
    static const struct {
        uint32_t first, count;
    } owned[] = {
        { MSR_P6_PERFCTR0, PMU_NUM_GP },
        { MSR_P6_EVNTSEL0, PMU_NUM_GP },
        { MSR_CORE_PERF_FIXED_CTR0, PMU_NUM_FIXED },
        { MSR_IA32_PERF_CAPABILITIES, 1 },
        { MSR_CORE_PERF_FIXED_CTR_CTRL,
          MSR_PERF_GLOBAL_INUSE - MSR_CORE_PERF_FIXED_CTR_CTRL + 1 },
        { MSR_IA32_A_PMC0, PMU_NUM_GP },
    };

    for (size_t i = 0; pmu_present(env) && i < ARRAY_SIZE(owned); i++) {
        if (msr - owned[i].first < owned[i].count) {
            return true;
        }
    }
    return false;
}

enum perfmon_access pmu_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    enum perfmon_access access;

    if (!pmu_owns(env, msr)) {
        access = ds_rdmsr(env, msr, val);
        return access == PERFMON_NOT_MINE ? pebs_rdmsr(env, msr, val) : access;
    }
    pmu_fold(env);
    switch (msr) {
    case MSR_P6_PERFCTR0 ... MSR_P6_PERFCTR0 + PMU_NUM_GP - 1:
        *val = env->msr_gp_counters[msr - MSR_P6_PERFCTR0];
        return PERFMON_OK;
    case MSR_IA32_A_PMC0 ... MSR_IA32_A_PMC0 + PMU_NUM_GP - 1:
        *val = env->msr_gp_counters[msr - MSR_IA32_A_PMC0];
        return PERFMON_OK;
    case MSR_P6_EVNTSEL0 ... MSR_P6_EVNTSEL0 + PMU_NUM_GP - 1:
        *val = env->msr_gp_evtsel[msr - MSR_P6_EVNTSEL0];
        return PERFMON_OK;
    case MSR_CORE_PERF_FIXED_CTR0 ...
         MSR_CORE_PERF_FIXED_CTR0 + PMU_NUM_FIXED - 1:
        *val = env->msr_fixed_counters[msr - MSR_CORE_PERF_FIXED_CTR0];
        return PERFMON_OK;
    case MSR_CORE_PERF_FIXED_CTR_CTRL:
        *val = env->msr_fixed_ctr_ctrl;
        return PERFMON_OK;
    case MSR_CORE_PERF_GLOBAL_CTRL:
        *val = env->msr_global_ctrl;
        return PERFMON_OK;
    case MSR_CORE_PERF_GLOBAL_STATUS:
        *val = env->msr_global_status;
        return PERFMON_OK;
    case MSR_CORE_PERF_GLOBAL_OVF_CTRL:
    case MSR_PERF_GLOBAL_SET:
        *val = 0;
        return PERFMON_OK;
    case MSR_PERF_GLOBAL_INUSE:
        *val = pmu_inuse(env);
        return PERFMON_OK;
    case MSR_IA32_PERF_CAPABILITIES:
        *val = env->features[FEAT_PERF_CAPABILITIES];
        return PERFMON_OK;
    default:
        return PERFMON_NOT_MINE;
    }
}

static enum perfmon_access pmu_set(uint64_t *reg, uint64_t val, uint64_t valid)
{
    if (val & ~valid) {
        return PERFMON_GP;
    }
    *reg = val;
    return PERFMON_OK;
}

static enum perfmon_access pmu_write_status(CPUX86State *env, uint64_t val,
                                            uint64_t valid, bool set)
{
    if (val & ~pmu_status_valid(env, valid)) {
        return PERFMON_GP;
    }
    if (set) {
        env->msr_global_status |= val;
    } else {
        env->msr_global_status &= ~val;
    }
    return PERFMON_OK;
}

static uint64_t pmu_evtsel_valid(CPUX86State *env)
{
    return EVTSEL_VALID | (pebs_adaptive(env) ? EVTSEL_ADAPTIVE : 0);
}

static uint64_t pmu_fixed_ctrl_valid(CPUX86State *env)
{
    uint64_t valid = FIXED_CTRL_VALID;

    for (int i = 0; i < PMU_NUM_FIXED; i++) {
        valid |= pebs_adaptive(env) ? FIXED_CTRL_ADAPTIVE(i) : 0;
    }
    return valid;
}

/* The predictor starts afresh with each new measurement of it. */
static enum perfmon_access pmu_write_evtsel(CPUX86State *env, int i,
                                            uint64_t val)
{
    if ((val ^ env->msr_gp_evtsel[i]) &&
        (val & EVTSEL_EVENT) == EVTSEL_EVENT_MISS) {
        predict_reset(&env->pmu.predictor);
    }
    return pmu_set(&env->msr_gp_evtsel[i], val, pmu_evtsel_valid(env));
}

static enum perfmon_access pmu_write(CPUX86State *env, uint32_t msr,
                                     uint64_t val)
{
    switch (msr) {
    case MSR_P6_PERFCTR0 ... MSR_P6_PERFCTR0 + PMU_NUM_GP - 1:
        env->msr_gp_counters[msr - MSR_P6_PERFCTR0] =
            (int64_t)(int32_t)val & COUNTER_MASK;
        return PERFMON_OK;
    case MSR_IA32_A_PMC0 ... MSR_IA32_A_PMC0 + PMU_NUM_GP - 1:
        return pmu_set(&env->msr_gp_counters[msr - MSR_IA32_A_PMC0], val,
                       COUNTER_MASK);
    case MSR_P6_EVNTSEL0 ... MSR_P6_EVNTSEL0 + PMU_NUM_GP - 1:
        return pmu_write_evtsel(env, msr - MSR_P6_EVNTSEL0, val);
    case MSR_CORE_PERF_FIXED_CTR0 ...
         MSR_CORE_PERF_FIXED_CTR0 + PMU_NUM_FIXED - 1:
        return pmu_set(&env->msr_fixed_counters[msr -
                                                MSR_CORE_PERF_FIXED_CTR0],
                       val, COUNTER_MASK);
    case MSR_CORE_PERF_FIXED_CTR_CTRL:
        return pmu_set(&env->msr_fixed_ctr_ctrl, val,
                       pmu_fixed_ctrl_valid(env));
    case MSR_CORE_PERF_GLOBAL_CTRL:
        return pmu_set(&env->msr_global_ctrl, val, GLOBAL_COUNTERS);
    case MSR_CORE_PERF_GLOBAL_OVF_CTRL:
        return pmu_write_status(env, val, GLOBAL_RESET_VALID, false);
    case MSR_PERF_GLOBAL_SET:
        return pmu_write_status(env, val, GLOBAL_SET_VALID, true);
    case MSR_CORE_PERF_GLOBAL_STATUS:
    case MSR_PERF_GLOBAL_INUSE:
    case MSR_IA32_PERF_CAPABILITIES:
        return PERFMON_GP;
    default:
        return PERFMON_NOT_MINE;
    }
}

enum perfmon_access pmu_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    enum perfmon_access access;

    if (!pmu_owns(env, msr)) {
        access = ds_wrmsr(env, msr, val);
        return access == PERFMON_NOT_MINE ? pebs_wrmsr(env, msr, val) : access;
    }
    pmu_fold(env);
    access = pmu_write(env, msr, val);
    pmu_configure(env);
    perfmon_update_flags(env);
    return access;
}

enum perfmon_access pmu_rdpmc(CPUX86State *env, uint32_t index, uint64_t *val)
{
    bool fixed = index & RDPMC_FIXED;
    uint32_t i = index & ~RDPMC_FIXED;

    if (!pmu_present(env)) {
        return PERFMON_NOT_MINE;
    }
    if (i >= (fixed ? PMU_NUM_FIXED : PMU_NUM_GP)) {
        return PERFMON_GP;
    }
    pmu_fold(env);
    *val = fixed ? env->msr_fixed_counters[i] : env->msr_gp_counters[i];
    return PERFMON_OK;
}

static bool pmu_needed(void *opaque)
{
    X86CPU *cpu = opaque;

    return tcg_enabled() && cpu->enable_pmu;
}

static void pmu_mask(uint64_t *reg, unsigned n, uint64_t valid)
{
    while (n--) {
        reg[n] &= valid;
    }
}

void pmu_post_load(CPUX86State *env)
{
    /* A damaged file must not bring what WRMSR refuses. */
    pmu_mask(env->msr_gp_counters, PMU_NUM_GP, COUNTER_MASK);
    pmu_mask(env->msr_fixed_counters, PMU_NUM_FIXED, COUNTER_MASK);
    pmu_mask(env->msr_gp_evtsel, PMU_NUM_GP, pmu_evtsel_valid(env));
    env->msr_fixed_ctr_ctrl &= pmu_fixed_ctrl_valid(env);
    env->msr_global_ctrl &= GLOBAL_COUNTERS;
    pmu_resume(env);
}

/*
 * A damaged file must not lead out of the arrays, nor to totals that run over
 * with the next instruction, where no limit would ever be in the future.
 */
static int pmu_state_check(void *opaque, int version_id)
{
    X86CPU *cpu = opaque;
    const PMUState *pmu = &cpu->env.pmu;
    uint64_t all = 0;

    for (int mode = 0; mode < PMU_MODES; mode++) {
        for (int src = 0; src < PMU_SOURCES; src++) {
            all |= pmu->now[mode][src] | pmu->seen[mode][src];
        }
    }
    return all & PMU_TOTAL_MAX || pmu->mode >= PMU_MODES ||
           pmu->predictor.ret_top >= PREDICT_RETURNS ? -EINVAL : 0;
}

const VMStateDescription vmstate_pmu = {
    .name = "cpu/perfmon_pmu",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = pmu_needed,
    .post_load = pmu_state_check,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64_2DARRAY(env.pmu.now, X86CPU, PMU_MODES, PMU_SOURCES),
        VMSTATE_UINT64_2DARRAY(env.pmu.seen, X86CPU, PMU_MODES, PMU_SOURCES),
        VMSTATE_UINT64(env.pmu.ref_start, X86CPU),
        VMSTATE_BOOL(env.pmu.halted, X86CPU),
        VMSTATE_UINT8(env.pmu.mode, X86CPU),
        VMSTATE_UINT8_ARRAY(env.pmu.predictor.cond, X86CPU, PREDICT_COND),
        VMSTATE_UINT64_ARRAY(env.pmu.predictor.target_from, X86CPU,
                             PREDICT_TARGETS),
        VMSTATE_UINT64_ARRAY(env.pmu.predictor.target_to, X86CPU,
                             PREDICT_TARGETS),
        VMSTATE_UINT64_ARRAY(env.pmu.predictor.ret, X86CPU, PREDICT_RETURNS),
        VMSTATE_UINT32(env.pmu.predictor.ret_top, X86CPU),
        VMSTATE_END_OF_LIST()
    },
    .subsections = (const VMStateDescription * const []) {
        &vmstate_ds,
        &vmstate_pebs,
        NULL
    }
};
