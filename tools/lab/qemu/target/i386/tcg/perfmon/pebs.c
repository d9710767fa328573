/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processor event-based sampling with records of format 3, by which the first
 * four general counters may write where and how they overflowed.
 *
 * The processor reads and writes the DS area by linear addresses, as
 * privileged software would, but never faults: what is not mapped, or is a
 * device, has no room for a record.  Branch trace store, which shares that
 * area, is not there, nor is the latency of loads.
 */
#include "qemu/osdep.h"
#include "exec/address-spaces.h"
#include "exec/cpu-common.h"
#include "migration/vmstate.h"
#include "cpu.h"
#include "pebs.h"
#include "pmu.h"
#include "pmu_regs.h"

#define MSR_PEBS_ENABLE         0x3f1
#define MSR_DS_AREA             0x600

#define PEBS_NUM_COUNTERS       4
#define PEBS_ENABLE_VALID       MAKE_64BIT_MASK(0, PEBS_NUM_COUNTERS)

/* The half of the DS management area that is about PEBS, where there is DTES64. */
#define DS_PEBS_OFFSET          0x20

typedef struct DSArea {
    uint64_t base;
    uint64_t index;
    uint64_t maximum;
    uint64_t threshold;
    uint64_t reset[PEBS_NUM_COUNTERS];
} DSArea;

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

void pebs_realize(CPUX86State *env)
{
    /* "max" has all that TCG can have. */
    env->features[FEAT_1_EDX] &= ~CPUID_DTS;
    env->features[FEAT_1_ECX] &= ~CPUID_EXT_DTES64;
    if (pebs_present(env)) {
        env->features[FEAT_1_EDX] |= CPUID_DTS;
        env->features[FEAT_1_ECX] |= CPUID_EXT_DTES64;
    }
}

/* The register @msr, or NULL. */
static uint64_t *pebs_register(CPUX86State *env, uint32_t msr)
{
    if (!pebs_present(env)) {
        return NULL;
    }
    switch (msr) {
    case MSR_PEBS_ENABLE:
        return &env->pmu.pebs.enable;
    case MSR_DS_AREA:
        return &env->pmu.pebs.ds_area;
    default:
        return NULL;
    }
}

enum perfmon_access pebs_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    uint64_t *reg = pebs_register(env, msr);

    if (!reg) {
        return PERFMON_NOT_MINE;
    }
    *val = *reg;
    return PERFMON_OK;
}

enum perfmon_access pebs_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    uint64_t *reg = pebs_register(env, msr);

    if (!reg) {
        return PERFMON_NOT_MINE;
    }
    if (msr == MSR_PEBS_ENABLE ? val & ~PEBS_ENABLE_VALID
                               : !perfmon_canonical(env, val)) {
        return PERFMON_GP;
    }
    pmu_fold(env);
    *reg = val;
    return PERFMON_OK;
}

/*
 * Copies whole words between guest memory and @words.  False: not all of it is
 * there, or some of it is a device, which is not touched.
 */
static bool ds_access(CPUX86State *env, uint64_t addr, uint64_t *words,
                      size_t size, bool write)
{
    const MemTxAttrs memory = { .memory = 1 };
    CPUState *cs = env_cpu(env);
    uint8_t *bytes = (uint8_t *)words;

    while (size) {
        uint64_t offset = addr & ~TARGET_PAGE_MASK;
        size_t n = MIN(size, TARGET_PAGE_SIZE - offset);
        MemTxAttrs attrs;
        hwaddr page = cpu_get_phys_page_attrs_debug(cs, addr & TARGET_PAGE_MASK,
                                                    &attrs);

        if (page == -1 || address_space_rw(cs->as, page + offset, memory,
                                           bytes, n, write) != MEMTX_OK) {
            return false;
        }
        addr += n;
        bytes += n;
        size -= n;
    }
    return true;
}

static bool ds_read(CPUX86State *env, DSArea *ds)
{
    uint64_t *word = (uint64_t *)ds;

    if (!ds_access(env, env->pmu.pebs.ds_area + DS_PEBS_OFFSET, word,
                   sizeof(*ds), false)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(*ds) / sizeof(*word); i++) {
        word[i] = le64_to_cpu(word[i]);
    }
    return true;
}

static bool ds_write_index(CPUX86State *env, uint64_t index)
{
    uint64_t word = cpu_to_le64(index);

    return ds_access(env, env->pmu.pebs.ds_area + DS_PEBS_OFFSET +
                     offsetof(DSArea, index), &word, sizeof(word), true);
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
    for (size_t i = 0; i < PEBS_WORDS; i++) {
        record[i] = cpu_to_le64(record[i]);
    }
    return ds_access(env, addr, record, sizeof(record), true);
}

uint64_t pebs_record(CPUX86State *env, uint64_t counters, const PEBSPlace *at)
{
    const uint64_t size = PEBS_WORDS * sizeof(uint64_t);
    DSArea ds;

    if (!ds_read(env, &ds) || ds.index < ds.base || ds.maximum < size ||
        ds.index > ds.maximum - size ||
        !pebs_write(env, ds.index, counters, at) ||
        !ds_write_index(env, ds.index + size)) {
        return 0;
    }
    for (int i = 0; i < PEBS_NUM_COUNTERS; i++) {
        if (counters & BIT_ULL(i)) {
            env->msr_gp_counters[i] = ds.reset[i] & COUNTER_MASK;
        }
    }
    return ds.index + size >= ds.threshold ? PMU_STATUS_OVF_BUF : 0;
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

    return env->pmu.pebs.enable & ~PEBS_ENABLE_VALID ||
           !perfmon_canonical(env, env->pmu.pebs.ds_area) ? -EINVAL : 0;
}

const VMStateDescription vmstate_pebs = {
    .name = "cpu/perfmon_pmu/pebs",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = pebs_needed,
    .post_load = pebs_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(env.pmu.pebs.enable, X86CPU),
        VMSTATE_UINT64(env.pmu.pebs.ds_area, X86CPU),
        VMSTATE_END_OF_LIST()
    }
};
