/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The debug store: an area in memory by which software and processor tell each
 * other where the buffers of branch records (bts.c) and samples (pebs.c) are.
 *
 * All addresses are linear.  The area and the buffers have to be mapped when
 * records are made: the processor does not fault, it drops the record.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qapi/error.h"
#include "migration/vmstate.h"
#include "cpu.h"
#include "tcg/helper-tcg.h"
#include "bts.h"
#include "ds.h"
#include "pebs.h"

#define MSR_DS_AREA             0x600

/* The longest are the last branch records of a sample. */
#define DS_WORDS_MAX            (3 * LBR_DEPTH)

bool ds_present(CPUX86State *env)
{
    return bts_present(env) || pebs_present(env);
}

bool ds_realize(CPUX86State *env, Error **errp)
{
    /* "max" has all that TCG can have. */
    env->features[FEAT_1_EDX] &= ~CPUID_DTS;
    env->features[FEAT_1_ECX] &= ~(CPUID_EXT_DTES64 | CPUID_EXT_DSCPL);
    if (pebs_present(env) && !ds_is_wide(env)) {
        error_setg(errp, "x-pebs needs x-bts-dtes64");
        return false;
    }
    if (!ds_present(env)) {
        return true;
    }
    env->features[FEAT_1_EDX] |= CPUID_DTS;
    if (ds_is_wide(env)) {
        env->features[FEAT_1_ECX] |= CPUID_EXT_DTES64;
    }
    if (bts_by_cpl(env)) {
        env->features[FEAT_1_ECX] |= CPUID_EXT_DSCPL;
    }
    return true;
}

void ds_init(CPUX86State *env)
{
    if (env_archcpu(env)->pmu_config.bts_init_keeps) {
        return;
    }
    env->pmu.ds_area = 0;
    /* Else the next branch would be stored at what address 0 points to. */
    env->lbr.debugctl &= ~bts_debugctl_bits(env);
}

enum perfmon_access ds_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    if (msr != MSR_DS_AREA || !ds_present(env)) {
        return PERFMON_NOT_MINE;
    }
    *val = env->pmu.ds_area;
    return PERFMON_OK;
}

enum perfmon_access ds_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    if (msr != MSR_DS_AREA || !ds_present(env)) {
        return PERFMON_NOT_MINE;
    }
    if (!perfmon_canonical(env, val)) {
        return PERFMON_GP;
    }
    env->pmu.ds_area = val;
    return PERFMON_OK;
}

/* Of privileged software, which SMAP keeps from user pages. */
static int ds_mmu_index(CPUX86State *env)
{
    bool wide = env->efer & MSR_EFER_LMA;

    if (env->cr[4] & CR4_SMAP_MASK) {
        return wide ? MMU_KSMAP64_IDX : MMU_KSMAP32_IDX;
    }
    return wide ? MMU_KNOSMAP64_IDX : MMU_KNOSMAP32_IDX;
}

/* Where @size bytes of one page are in the host's memory, or NULL. */
static void *ds_host(CPUX86State *env, uint64_t addr, size_t size,
                     MMUAccessType access)
{
    void *host = NULL;
    /* The processor's own access, as those to page tables: no plugin sees it */
    int flags = probe_access_full_mmu(env, addr, size, access,
                                      ds_mmu_index(env), &host, NULL);

    return flags & (TLB_INVALID_MASK | TLB_MMIO) ? NULL : host;
}

/* Copies between guest memory and @bytes, page by page. */
static bool ds_access(CPUX86State *env, uint64_t addr, void *bytes, size_t size,
                      bool write)
{
    while (size) {
        size_t n = MIN(size, -(addr | TARGET_PAGE_MASK));
        void *host = ds_host(env, addr, n, write ? MMU_DATA_STORE
                                                 : MMU_DATA_LOAD);

        if (!host) {
            qemu_log_mask(LOG_GUEST_ERROR, "debug store: no memory at 0x%"
                          PRIx64 "\n", addr);
            return false;
        }
        if (write) {
            memcpy(host, bytes, n);
        } else {
            memcpy(bytes, host, n);
        }
        addr += n;
        bytes += n;
        size -= n;
    }
    return true;
}

bool ds_load(CPUX86State *env, uint64_t addr, uint64_t *words, size_t n,
             size_t size)
{
    uint8_t bytes[DS_WORDS_MAX * 8];

    assert(n <= DS_WORDS_MAX);
    if (!ds_access(env, addr, bytes, n * size, false)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        words[i] = size == 8 ? ldq_le_p(bytes + i * 8)
                             : ldl_le_p(bytes + i * 4);
    }
    return true;
}

bool ds_store(CPUX86State *env, uint64_t addr, const uint64_t *words, size_t n,
              size_t size)
{
    uint8_t bytes[DS_WORDS_MAX * 8];

    assert(n <= DS_WORDS_MAX);
    for (size_t i = 0; i < n; i++) {
        if (size == 8) {
            stq_le_p(bytes + i * 8, words[i]);
        } else {
            stl_le_p(bytes + i * 4, words[i]);
        }
    }
    return ds_access(env, addr, bytes, n * size, true);
}

static bool ds_needed(void *opaque)
{
    X86CPU *cpu = opaque;

    return ds_present(&cpu->env);
}

/* A damaged file must not bring what WRMSR refuses. */
static int ds_post_load(void *opaque, int version_id)
{
    CPUX86State *env = &((X86CPU *)opaque)->env;

    return perfmon_canonical(env, env->pmu.ds_area) ? 0 : -EINVAL;
}

const VMStateDescription vmstate_ds = {
    .name = "cpu/perfmon_pmu/ds",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = ds_needed,
    .post_load = ds_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(env.pmu.ds_area, X86CPU),
        VMSTATE_END_OF_LIST()
    }
};
