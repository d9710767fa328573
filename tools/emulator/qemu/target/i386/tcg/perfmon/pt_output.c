/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT model: output to guest memory by ToPA or as a single range
 * (SDM 33.2.7).
 *
 * OUTPUT_BASE and OUTPUT_MASK_PTRS are the position; PTOutput caches the
 * region that they select.  Nothing but RAM is ever read as a table or
 * written as a region: anything else is an operational error, which is one of
 * the behaviours that the SDM allows for restricted memory.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "system/dma.h"
#include "pmu.h"
#include "pt.h"
#include "pt_regs.h"

/*
 * Single-entry ToPA signals its PMI before the region is full (SDM 33.2.7.2);
 * how long before is up to the processor.
 */
#define PT_EARLY_PMI_BYTES  256

static bool pt_use_topa(CPUX86State *env)
{
    return env->msr_rtit_ctrl & RTIT_CTL_TOPA;
}

static uint64_t pt_phys_mask(CPUX86State *env)
{
    return MAKE_64BIT_MASK(0, env_archcpu(env)->phys_bits);
}

/*
 * Memory, and no device even where another vCPU moves one there between the
 * look and the access.
 */
static const MemTxAttrs pt_attrs = { .memory = 1 };

/* How many of @len bytes at @addr are in one piece of writable RAM? */
static uint64_t pt_ram_bytes(CPUX86State *env, uint64_t addr, uint64_t len)
{
    hwaddr xlat, size = len;
    MemoryRegion *mr;

    RCU_READ_LOCK_GUARD();
    mr = address_space_translate(env_cpu(env)->as, addr, &xlat, &size, true,
                                 MEMTXATTRS_UNSPECIFIED);
    return memory_access_is_direct(mr, true, MEMTXATTRS_UNSPECIFIED) ? size : 0;
}

static void pt_output_error(CPUX86State *env)
{
    env->msr_rtit_status |= RTIT_STATUS_ERROR;
    env->pt.out.size = 0;
    pt_trigger_off(env);
}

static void pt_store_offset(CPUX86State *env)
{
    env->msr_rtit_output_mask =
        (env->msr_rtit_output_mask & RTIT_MASK_MASK) |
        env->pt.out.offset << RTIT_MASK_OFFSET_SHIFT;
}

static uint64_t pt_topa_index(CPUX86State *env)
{
    return (env->msr_rtit_output_mask & RTIT_MASK_TABLE) >>
           RTIT_MASK_TABLE_SHIFT;
}

static void pt_topa_set_index(CPUX86State *env, uint64_t index)
{
    env->msr_rtit_output_mask =
        (env->msr_rtit_output_mask & ~RTIT_MASK_TABLE) |
        (index << RTIT_MASK_TABLE_SHIFT & RTIT_MASK_TABLE);
}

static bool pt_topa_fetch(CPUX86State *env, uint64_t addr, uint64_t *entry)
{
    if (pt_ram_bytes(env, addr, sizeof(*entry)) < sizeof(*entry) ||
        address_space_read(env_cpu(env)->as, addr, pt_attrs, entry,
                           sizeof(*entry)) != MEMTX_OK) {
        return false;
    }
    *entry = le64_to_cpu(*entry);
    return true;
}

/* Where the entry is that the MSRs select. */
static uint64_t pt_topa_addr(CPUX86State *env)
{
    return env->msr_rtit_output_base + pt_topa_index(env) * sizeof(uint64_t);
}

/* Reads ahead, from the entry that the MSRs select to the end of the table. */
static void pt_topa_fill_cache(CPUX86State *env)
{
    PTOutput *out = &env->pt.out;
    bool end = false;

    out->cache_addr = pt_topa_addr(env);
    while (!end && out->cached < PT_TOPA_CACHE) {
        uint64_t *entry = &out->cache[out->cached];
        uint64_t addr = out->cache_addr + out->cached * sizeof(*entry);

        if (!pt_topa_fetch(env, addr, entry)) {
            break;
        }
        end = *entry & TOPA_END;
        out->cached++;
    }
}

static bool pt_topa_read(CPUX86State *env, uint64_t *entry)
{
    const PTOutput *out = &env->pt.out;
    uint64_t addr = pt_topa_addr(env);
    uint64_t n = (addr - out->cache_addr) / sizeof(*entry);

    if (addr >= out->cache_addr && n < out->cached) {
        *entry = out->cache[n];
        return true;
    }
    return pt_topa_fetch(env, addr, entry);
}

static uint64_t pt_topa_size(uint64_t entry)
{
    return TOPA_SIZE_UNIT << extract64(entry, TOPA_SIZE_SHIFT, TOPA_SIZE_LEN);
}

/* The rules of "ToPA Errors" (SDM 33.2.7.2) that one entry can violate. */
static bool pt_topa_entry_valid(CPUX86State *env, uint64_t entry)
{
    uint64_t base = entry & ~(TOPA_SIZE_UNIT - 1);
    uint64_t align = entry & TOPA_END ? TOPA_TABLE_ALIGN : pt_topa_size(entry);

    if (entry & TOPA_RESERVED || base & ~pt_phys_mask(env)) {
        return false;
    }
    if (base & (align - 1)) {
        return false;
    }
    if (entry & TOPA_END) {
        bool one_entry = !pt_config(env)->multi;

        return !(entry & (TOPA_INT | TOPA_STOP)) && pt_topa_index(env) != 0 &&
               (!one_entry || base == env->msr_rtit_output_base);
    }
    return pt_config(env)->multi || pt_topa_index(env) == 0;
}

/*
 * Make the entry that the MSRs select the current region, following END to
 * the next table.  An END entry in place 0 is an error, so there is no chain
 * of them to get lost in.
 */
static bool pt_topa_load(CPUX86State *env)
{
    PTOutput *out = &env->pt.out;
    uint64_t entry;

    if (env->msr_rtit_output_base & (TOPA_TABLE_ALIGN - 1) ||
        !pt_topa_read(env, &entry) || !pt_topa_entry_valid(env, entry)) {
        return false;
    }
    if (entry & TOPA_END) {
        env->msr_rtit_output_base = entry & ~(TOPA_SIZE_UNIT - 1);
        pt_topa_set_index(env, 0);
        if (!pt_topa_read(env, &entry) || !pt_topa_entry_valid(env, entry)) {
            return false;
        }
    }
    out->entry = entry;
    out->base = entry & ~(TOPA_SIZE_UNIT - 1);
    out->size = pt_topa_size(entry);
    out->pmi_early = false;
    return true;
}

static bool pt_single_load(CPUX86State *env)
{
    PTOutput *out = &env->pt.out;
    uint64_t mask = env->msr_rtit_output_mask & RTIT_MASK_MASK;

    if (mask & (mask + 1) || env->msr_rtit_output_base & mask) {
        return false;
    }
    out->entry = 0;
    out->base = env->msr_rtit_output_base;
    out->size = mask + 1;
    return true;
}

bool pt_output_valid(CPUX86State *env)
{
    const PTOutput *out = &env->pt.out;

    /* With TraceEn = 0 the MSRs may already be those of another output. */
    if (!out->size || !(env->msr_rtit_ctrl & RTIT_CTL_TRACE_EN)) {
        return true;
    }
    if (!pt_use_topa(env)) {
        return out->base == env->msr_rtit_output_base &&
               out->size == (env->msr_rtit_output_mask & RTIT_MASK_MASK) + 1;
    }
    return out->base == (out->entry & ~(TOPA_SIZE_UNIT - 1)) &&
           out->size == pt_topa_size(out->entry);
}

bool pt_output_open(CPUX86State *env)
{
    PTOutput *out = &env->pt.out;

    out->staged = 0;
    out->size = 0;
    out->cached = 0;
    out->offset = env->msr_rtit_output_mask >> RTIT_MASK_OFFSET_SHIFT;
    if (pt_use_topa(env) && pt_config(env)->rude & BIT_ULL(PT_RUDE_TOPA)) {
        pt_topa_fill_cache(env);
    }
    if (!(pt_use_topa(env) ? pt_topa_load(env) : pt_single_load(env)) ||
        out->offset >= out->size) {
        pt_output_error(env);
        return false;
    }
    return true;
}

static void pt_pmi_on_cpu(CPUState *cs, run_on_cpu_data data)
{
    CPUX86State *env = cpu_env(cs);

    /* A reset, or the load of a snapshot, may have come between. */
    if (env->pt.pmi_due && perfmon_clock_ns(env) >= env->pt.pmi_due) {
        env->pt.pmi_due = 0;
        pmu_raise(env, PMU_STATUS_TOPA_PMI);
    }
    pt_pmi_arm(env);
}

static void pt_pmi_timer(void *opaque)
{
    async_run_on_cpu(opaque, pt_pmi_on_cpu, RUN_ON_CPU_NULL);
}

void pt_pmi_arm(CPUX86State *env)
{
    if (env->pt.pmi_due) {
        perfmon_timer_arm(env, &pt_config(env)->pmi_timer, pt_pmi_timer,
                          env->pt.pmi_due);
    }
}

/* The ToPA PMI; late where fault injection wants it so. */
static void pt_pmi(CPUX86State *env)
{
    uint64_t delay = pt_config(env)->pmi_delay;

    if (env->msr_rtit_ctrl & RTIT_CTL_INJECT_PSB_PMI) {
        env->msr_rtit_status |= RTIT_STATUS_PEND_TOPA_PMI;
    }
    if (!delay) {
        pmu_raise(env, PMU_STATUS_TOPA_PMI);
        return;
    }
    /* One that is on its way stands for those that follow before it comes. */
    if (!env->pt.pmi_due) {
        env->pt.pmi_due = perfmon_clock_ns(env) + delay;
        pt_pmi_arm(env);
    }
}

/* The current ToPA region is full.  False: output has ended. */
static bool pt_region_full(CPUX86State *env)
{
    PTOutput *out = &env->pt.out;

    if (!pt_use_topa(env)) {
        out->offset = 0;
        return true;
    }
    if (out->entry & TOPA_INT && !out->pmi_early) {
        pt_pmi(env);
    }
    if (out->entry & TOPA_STOP) {
        env->msr_rtit_status |= RTIT_STATUS_STOPPED;
        out->size = 0;
        pt_trigger_off(env);
        return false;
    }
    pt_topa_set_index(env, pt_topa_index(env) + 1);
    out->offset = 0;
    if (!pt_topa_load(env)) {
        pt_output_error(env);
        return false;
    }
    return true;
}

static void pt_early_pmi(CPUX86State *env)
{
    PTOutput *out = &env->pt.out;

    if (!pt_config(env)->multi && out->entry & TOPA_INT && !out->pmi_early &&
        out->offset + PT_EARLY_PMI_BYTES >= out->size) {
        out->pmi_early = true;
        pt_pmi(env);
    }
}

void pt_output_flush(CPUX86State *env)
{
    PTOutput *out = &env->pt.out;
    const uint8_t *from = out->stage;
    uint64_t left = out->staged;

    out->staged = 0;
    while (left && out->size) {
        uint64_t addr = out->base + out->offset;
        uint64_t n = MIN(left, out->size - out->offset);

        n = pt_ram_bytes(env, addr, n);
        if (!n || address_space_write(env_cpu(env)->as, addr, pt_attrs, from,
                                      n) != MEMTX_OK) {
            pt_output_error(env);
            break;
        }
        from += n;
        left -= n;
        out->offset += n;
        if (out->offset == out->size && !pt_region_full(env)) {
            break;
        }
        pt_early_pmi(env);
    }
    pt_store_offset(env);
}

void pt_output(CPUX86State *env, const uint8_t *packet, size_t len)
{
    PTOutput *out = &env->pt.out;

    if (out->staged + len > PT_STAGE_SIZE) {
        pt_output_flush(env);
    }
    if (!out->size) {
        return;
    }
    memcpy(out->stage + out->staged, packet, len);
    out->staged += len;
}
