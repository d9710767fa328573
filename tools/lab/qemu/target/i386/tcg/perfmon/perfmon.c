/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace and performance monitoring models: what is common to them, and the
 * calls that come from QEMU's own files.
 */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "qemu/timer.h"
#include "qapi/error.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "hw/core/cpu.h"
#include "lbr.h"
#include "pmu.h"
#include "pt.h"
#include "pt_regs.h"

#define MSR_PLATFORM_INFO   0xce
/* Maximum non-turbo ratio, in units of 100 MHz */
#define PLATFORM_RATIO      25

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

uint64_t perfmon_read_tsc(CPUX86State *env)
{
    return muldiv64(perfmon_clock_ns(env), TSC_PER_CRYSTAL, CRYSTAL_NS);
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

    if (!perfmon_present(env)) {
        return true;
    }
    /* Leaf 15H must be there; x86_cpu_expand_features() saw to 14H. */
    env->cpuid_level = MAX(env->cpuid_level, 0x15);
    cpu->crystal_ns = CRYSTAL_NS;
    /* The trace interrupts by PerfMon's means. */
    cpu->enable_pmu |= pt_present(env);
    return pmu_realize(cpu, errp) &&
           (!pt_present(env) || pt_config_check(cpu, errp));
}

void perfmon_reset(CPUX86State *env)
{
    pt_reset(env);
    pmu_reset(env);
    perfmon_update_flags(env);
}

void perfmon_update_flags(CPUX86State *env)
{
    int cpl;

    for (cpl = 0; cpl < ARRAY_SIZE(env->perfmon_hf); cpl++) {
        env->perfmon_hf[cpl] = pmu_tb_flags(env, cpl) | pt_tb_flags(env, cpl);
    }
    env->perfmon_active = pmu_update_active(env) || env->pt.trigger_en;
}

enum perfmon_access perfmon_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    enum perfmon_access access = PERFMON_NOT_MINE;

    if (!perfmon_present(env)) {
        return PERFMON_NOT_MINE;
    }
    if (msr == MSR_PLATFORM_INFO) {
        *val = PLATFORM_RATIO << 8;
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

enum perfmon_access perfmon_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    enum perfmon_access access = PERFMON_NOT_MINE;

    if (!perfmon_present(env)) {
        return PERFMON_NOT_MINE;
    }
    if (pt_present(env)) {
        access = pt_wrmsr(env, msr, val);
    }
    if (access == PERFMON_NOT_MINE) {
        access = pmu_wrmsr(env, msr, val);
    }
    return access == PERFMON_NOT_MINE ? lbr_wrmsr(env, msr, val) : access;
}

void helper_perfmon_near(CPUX86State *env, target_ulong from, target_ulong to,
                         uint32_t desc)
{
    uint32_t len = PERFMON_DESC_LEN(desc);

    if (env->pt.trigger_en) {
        pt_near(env, from, to, PERFMON_DESC_KIND(desc), len);
    }
    if (pmu_active(env)) {
        pmu_branch(env, from, to, from + len, PERFMON_DESC_KIND(desc));
    }
}

void helper_perfmon_far_inline(CPUX86State *env, target_ulong eip,
                               target_ulong cs_base)
{
    PerfmonFrom from = { eip, cs_base };

    perfmon_far(env, from, PERFMON_FAR_INSN, -1);
}

void perfmon_far_slow(CPUX86State *env, PerfmonFrom from,
                      enum perfmon_far kind, int vector)
{
    uint64_t ip = from.eip + (pt_config(env)->lip ? from.cs_base : 0);

    pt_far(env, ip, kind, vector);
    if (pmu_active(env)) {
        pmu_far(env, from.eip, kind, vector);
    }
}

void perfmon_mov_cr3_slow(CPUX86State *env, target_ulong next_ip)
{
    pt_mov_cr3(env, next_ip);
}
