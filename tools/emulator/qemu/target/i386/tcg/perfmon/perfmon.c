/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace and performance monitoring models: what is common to them, and the
 * calls that come from QEMU's own files.
 */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include "qapi/error.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "hw/core/cpu.h"
#include "bts.h"
#include "ds.h"
#include "lbr.h"
#include "pebs.h"
#include "pmu.h"
#include "pt.h"

#define MSR_PLATFORM_INFO   0xce
/* Maximum non-turbo ratio, in units of the bus clock */
#define PLATFORM_INFO_RATIO_SHIFT   8

int64_t perfmon_clock_ns(CPUX86State *env)
{
    CPUState *cs = env_cpu(env);
    bool io = cs->neg.can_do_io;
    int64_t ns;

    /*
     * Helpers run in the middle of a block, where -icount knows the time
     * only as that of the block's end.  That is exact enough, and as
     * repeatable as the rest.
     */
    cs->neg.can_do_io = true;
    ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    cs->neg.can_do_io = io;
    return ns;
}

void perfmon_timer_arm(CPUX86State *env, QEMUTimer **timer,
                       void (*ring)(void *cpu), int64_t due)
{
    if (!*timer) {
        *timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, ring, env_cpu(env));
    }
    if (!timer_pending(*timer) || due < timer_expire_time_ns(*timer)) {
        timer_mod(*timer, due);
    }
}

uint64_t perfmon_read_tsc(CPUX86State *env)
{
    uint64_t ns = perfmon_clock_ns(env);

    /* By constants, for this is done with each packet of a trace. */
    return ns / CRYSTAL_NS * TSC_PER_CRYSTAL +
           ns % CRYSTAL_NS * TSC_PER_CRYSTAL / CRYSTAL_NS;
}

bool perfmon_canonical(CPUX86State *env, uint64_t addr)
{
    return sextract64(addr, 0, cpu_x86_virtual_addr_width(env)) == addr;
}

static bool perfmon_present(CPUX86State *env)
{
    return pt_present(env) || env_archcpu(env)->enable_pmu;
}

bool perfmon_cpuid(CPUX86State *env, uint32_t leaf, uint32_t subleaf,
                   uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    if (!perfmon_present(env)) {
        return false;
    }
    switch (leaf) {
    case 0x0a:
        pmu_cpuid_0a(env, eax, ebx, ecx, edx);
        return true;
    case 0x14:
        if (!pt_present(env)) {
            return false;
        }
        pt_cpuid(env, subleaf, eax, ebx, ecx, edx);
        return true;
    case 0x15:
        *eax = TSC_RATIO_DEN;
        *ebx = TSC_RATIO_NUM;
        *ecx = CRYSTAL_HZ;
        *edx = 0;
        return true;
    default:
        return false;
    }
}

bool perfmon_realize(X86CPU *cpu, Error **errp)
{
    CPUX86State *env = &cpu->env;

    if (!perfmon_settle(cpu, errp) || !pebs_realize(env, errp) ||
        !ds_realize(env, errp)) {
        return false;
    }
    if (!perfmon_present(env)) {
        return true;
    }
    /* Leaf 15H must be there; x86_cpu_expand_features() saw to 14H. */
    env->cpuid_level = MAX(env->cpuid_level, 0x15);
    cpu->crystal_ns = CRYSTAL_NS;
    return pmu_realize(cpu, errp) &&
           (!pt_present(env) || pt_config_check(cpu, errp));
}

static void perfmon_timers(X86CPU *cpu, void (*action)(QEMUTimer *timer))
{
    if (cpu->pt.pmi_timer) {
        action(cpu->pt.pmi_timer);
    }
    if (cpu->pt.tick_timer) {
        action(cpu->pt.tick_timer);
    }
    if (cpu->pmu_ref_timer) {
        action(cpu->pmu_ref_timer);
    }
}

void perfmon_unrealize(X86CPU *cpu)
{
    perfmon_timers(cpu, timer_free);
    cpu->pt.pmi_timer = NULL;
    cpu->pt.tick_timer = NULL;
    cpu->pmu_ref_timer = NULL;
}

void perfmon_reset_begin(CPUX86State *env)
{
    pt_reset_begin(env);
}

void perfmon_reset(CPUX86State *env)
{
    perfmon_timers(env_archcpu(env), timer_del);
    pt_reset(env);
    pmu_reset(env);
    perfmon_update_flags(env);
}

static uint64_t perfmon_from_ip(CPUX86State *env, PerfmonFrom from)
{
    return from.eip + (pt_config(env)->lip ? from.cs_base : 0);
}

void perfmon_init(CPUX86State *env, PerfmonFrom from)
{
    bool wait = !cpu_is_bsp(env_archcpu(env));

    if (!perfmon_present(env)) {
        return;
    }
    pt_init(env, perfmon_from_ip(env, from), wait);
    pt_pmi_arm(env);
    pt_tick_arm(env);
    pmu_init(env, wait);
    ds_init(env);
    perfmon_update_flags(env);
}

void perfmon_sipi(CPUX86State *env)
{
    /* What the interrupt loaded CS with is its vector and eight zeros. */
    pt_sipi(env, env->segs[R_CS].selector >> 8);
}

void perfmon_smi(CPUX86State *env)
{
    pt_smi(env);
    lbr_smi(env);
    perfmon_update_flags(env);
}

void perfmon_rsm(CPUX86State *env)
{
    lbr_rsm(env);
    pt_rsm(env);
    perfmon_update_flags(env);
}

/* The counters stand while the processor does not execute. */
static void perfmon_wait(CPUX86State *env)
{
    if (pmu_active(env)) {
        pmu_halt(env);
    }
}

void perfmon_hlt_slow(CPUX86State *env, unsigned len)
{
    perfmon_wait(env);
    pt_hlt(env, env->eip - len);
}

void perfmon_mwait_slow(CPUX86State *env, unsigned len)
{
    perfmon_wait(env);
    pt_mwait(env, env->eip - len);
}

void perfmon_wake_slow(CPUX86State *env)
{
    pmu_wake(env);
    pt_wake(env);
}

/*
 * The flags may change amid a block, where output ends.  The block that follows
 * has the new flags, but must not be chained to the one that had the old: it
 * would follow it for good.
 */
static void perfmon_end_chain(CPUState *cs)
{
    if (current_cpu == cs) {
        BQL_LOCK_GUARD();
        cpu_interrupt(cs, CPU_INTERRUPT_EXITTB);
    }
}

void perfmon_update_flags(CPUX86State *env)
{
    bool changed = false;
    uint32_t flags;
    int cpl;

    bts_update_modes(env);
    for (cpl = 0; cpl < ARRAY_SIZE(env->perfmon_hf); cpl++) {
        flags = pmu_tb_flags(env, cpl) | pt_tb_flags(env, cpl);
        changed |= flags != env->perfmon_hf[cpl];
        env->perfmon_hf[cpl] = flags;
    }
    env->perfmon_active = pmu_update_active(env) || env->pmu.bts_modes ||
                          env->pt.trigger_en || lbr_until_debug(env);
    if (changed) {
        perfmon_end_chain(env_cpu(env));
    }
}

enum perfmon_access perfmon_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    enum perfmon_access access = PERFMON_NOT_MINE;

    if (!perfmon_present(env)) {
        return PERFMON_NOT_MINE;
    }
    if (msr == MSR_PLATFORM_INFO) {
        *val = TSC_BUS_RATIO << PLATFORM_INFO_RATIO_SHIFT;
        return PERFMON_OK;
    }
    if (pt_present(env)) {
        access = pt_rdmsr(env, msr, val);
    }
    if (access == PERFMON_NOT_MINE) {
        access = pmu_rdmsr(env, msr, val);
    }
    return access == PERFMON_NOT_MINE ? lbr_rdmsr(env, msr, val) : access;
}

enum perfmon_access perfmon_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val,
                                  unsigned len)
{
    enum perfmon_access access = PERFMON_NOT_MINE;

    if (!perfmon_present(env)) {
        return PERFMON_NOT_MINE;
    }
    if (pt_present(env)) {
        access = pt_wrmsr(env, msr, val, env->eip + len);
    }
    if (access == PERFMON_NOT_MINE) {
        access = pmu_wrmsr(env, msr, val);
    }
    return access == PERFMON_NOT_MINE ? lbr_wrmsr(env, msr, val) : access;
}

void helper_perfmon_near(CPUX86State *env, target_ulong from, target_ulong to,
                         uint32_t desc)
{
    enum perfmon_branch kind = PERFMON_DESC_KIND(desc);
    uint32_t len = PERFMON_DESC_LEN(desc);

    if (env->pt.trigger_en) {
        pt_near(env, from, to, kind, len);
    }
    if (pmu_active(env)) {
        pmu_branch(env, from, to, from + len, kind);
    }
    if (kind == PERFMON_JCC_NOT_TAKEN) {
        return;
    }
    env->lbr.branched = true;
    if (env->pmu.bts_modes) {
        bts_near(env, from, to);
    }
}

bool perfmon_steps(CPUX86State *env)
{
    return !(env->lbr.debugctl & DEBUGCTL_BTF) || env->lbr.branched;
}

void helper_perfmon_far_inline(CPUX86State *env, target_ulong eip,
                               target_ulong cs_base)
{
    PerfmonFrom from = { eip, cs_base, env->hflags & HF_CPL_MASK };

    perfmon_far(env, from, PERFMON_FAR_INSN, -1);
}

void perfmon_far_slow(CPUX86State *env, PerfmonFrom from,
                      enum perfmon_far kind, int vector)
{
    unsigned int1_len = env->perfmon_int1_len;

    env->perfmon_int1_len = 0;
    if (int1_len && kind == PERFMON_FAR_FAULT && vector == EXCP01_DB) {
        kind = PERFMON_FAR_INT1;
        from.eip -= int1_len;
    }
    if (pmu_active(env)) {
        pmu_far_begin(env, from.eip, kind);
    }
    pt_far(env, perfmon_from_ip(env, from), kind, vector);
    if (pmu_active(env)) {
        pmu_far(env, from.eip, kind);
    }
    if (env->pmu.bts_modes) {
        bts_far(env, from);
    }
    if (kind == PERFMON_FAR_INSN || kind == PERFMON_FAR_IRET) {
        env->lbr.branched = true;
    }
    if ((kind == PERFMON_FAR_FAULT || kind == PERFMON_FAR_INT1) &&
        vector == EXCP01_DB) {
        lbr_debug_exception(env);
    }
}

void perfmon_mov_cr3_slow(CPUX86State *env, target_ulong next_ip)
{
    pt_mov_cr3(env, next_ip);
}
