/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Branch trace store.  Addresses in records are linear; the bit that says
 * whether a branch was predicted is clear, as on processors since the Core
 * family.
 *
 * The processor holds the pointers of the buffer nowhere: it reads them with
 * each record, so that software may change them at any time.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "bts.h"
#include "ds.h"
#include "lbr.h"
#include "pmu.h"

/* IA32_DEBUGCTL */
#define DEBUGCTL_TR             BIT_ULL(6)
#define DEBUGCTL_BTS            BIT_ULL(7)
#define DEBUGCTL_BTINT          BIT_ULL(8)
#define DEBUGCTL_BTS_OFF_OS     BIT_ULL(9)
#define DEBUGCTL_BTS_OFF_USR    BIT_ULL(10)

/* The first words of the debug store. */
enum {
    BTS_BASE,
    BTS_INDEX,
    BTS_MAXIMUM,
    BTS_THRESHOLD,
    BTS_POINTERS,
};

#define RECORD_WORDS    3

bool bts_present(CPUX86State *env)
{
    X86CPU *cpu = env_archcpu(env);

    return cpu->enable_pmu && cpu->pmu_config.bts;
}

bool ds_is_wide(CPUX86State *env)
{
    return env_archcpu(env)->pmu_config.dtes64;
}

bool bts_by_cpl(CPUX86State *env)
{
    return bts_present(env) && env_archcpu(env)->pmu_config.ds_cpl;
}

uint64_t bts_debugctl_bits(CPUX86State *env)
{
    uint64_t bits = DEBUGCTL_TR | DEBUGCTL_BTS | DEBUGCTL_BTINT;

    if (!bts_present(env)) {
        return 0;
    }
    return bts_by_cpl(env) ? bits | DEBUGCTL_BTS_OFF_OS | DEBUGCTL_BTS_OFF_USR
                           : bits;
}

void bts_update_modes(CPUX86State *env)
{
    uint64_t on = DEBUGCTL_TR | DEBUGCTL_BTS, ctl = env->lbr.debugctl;
    uint32_t modes = 0;

    if ((ctl & on) == on) {
        modes |= ctl & DEBUGCTL_BTS_OFF_OS ? 0 : BIT(PMU_MODE_OS);
        modes |= ctl & DEBUGCTL_BTS_OFF_USR ? 0 : BIT(PMU_MODE_USR);
    }
    env->pmu.bts_modes = modes;
}

/*
 * Makes room for a record of @bytes.  False: the buffer is full and not a ring,
 * or it is no buffer.
 */
static bool bts_has_room(CPUX86State *env, uint64_t *ds, uint64_t bytes)
{
    if (ds[BTS_INDEX] <= ds[BTS_MAXIMUM] &&
        ds[BTS_MAXIMUM] - ds[BTS_INDEX] >= bytes) {
        return true;
    }
    if (env->lbr.debugctl & DEBUGCTL_BTINT) {
        return false;
    }
    ds[BTS_INDEX] = ds[BTS_BASE];
    return ds[BTS_BASE] <= ds[BTS_MAXIMUM] &&
           ds[BTS_MAXIMUM] - ds[BTS_BASE] >= bytes;
}

static void bts_store(CPUX86State *env, uint64_t from, uint64_t to)
{
    size_t size = ds_is_wide(env) ? 8 : 4;
    uint64_t record[RECORD_WORDS] = { from, to, 0 };
    uint64_t ds[BTS_POINTERS], next;
    bool ring = !(env->lbr.debugctl & DEBUGCTL_BTINT), due;

    if (!ds_load(env, env->pmu.ds_area, ds, BTS_POINTERS, size) ||
        !bts_has_room(env, ds, RECORD_WORDS * size) ||
        !ds_store(env, ds[BTS_INDEX], record, RECORD_WORDS, size)) {
        return;
    }
    next = ds[BTS_INDEX] + RECORD_WORDS * size;
    /* The interrupt does not ask for BTINT, which only ends the ring. */
    due = ds[BTS_INDEX] < ds[BTS_THRESHOLD] && next >= ds[BTS_THRESHOLD];
    if (ring && next >= ds[BTS_MAXIMUM]) {
        next = ds[BTS_BASE];
    }
    ds_store(env, env->pmu.ds_area + BTS_INDEX * size, &next, 1, size);
    if (due) {
        pmu_raise(env, 0);
    }
}

static uint64_t linear(CPUX86State *env, target_ulong eip)
{
    return env->hflags & HF_CS64_MASK ? eip
                                      : (uint32_t)(eip + env->segs[R_CS].base);
}

void bts_near(CPUX86State *env, target_ulong from, target_ulong to)
{
    if (env->pmu.bts_modes & BIT(pmu_mode(env))) {
        bts_store(env, linear(env, from), linear(env, to));
    }
}

void bts_far(CPUX86State *env, PerfmonFrom from)
{
    enum pmu_mode mode = from.cpl ? PMU_MODE_USR : PMU_MODE_OS;

    /* The CPL of the branch counts, so its target may be the kernel. */
    if (env->pmu.bts_modes & BIT(mode)) {
        bts_store(env, from.eip + from.cs_base, linear(env, env->eip));
    }
}
