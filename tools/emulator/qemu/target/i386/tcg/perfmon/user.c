/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace and performance monitoring models: there are none in user mode.
 * Translation blocks never have the HF_PERFMON_* bits, so no helper is called.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "perfmon.h"

bool perfmon_realize(X86CPU *cpu, Error **errp)
{
    uint64_t *features = cpu->env.features;

    if (!perfmon_refuse(cpu, "system emulation", errp)) {
        return false;
    }
    /* "max" has all that TCG can have. */
    features[FEAT_1_EDX] &= ~CPUID_DTS;
    features[FEAT_1_ECX] &= ~(CPUID_EXT_PDCM | CPUID_EXT_DTES64 |
                              CPUID_EXT_DSCPL);
    features[FEAT_7_0_EBX] &= ~CPUID_7_0_EBX_INTEL_PT;
    return true;
}

void perfmon_unrealize(X86CPU *cpu)
{
}

void perfmon_reset_begin(CPUX86State *env)
{
}

bool perfmon_cpuid(CPUX86State *env, uint32_t leaf, uint32_t subleaf,
                   uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    return false;
}

bool perfmon_has_ptwrite(CPUX86State *env)
{
    return false;
}

void perfmon_far_slow(CPUX86State *env, PerfmonFrom from,
                      enum perfmon_far kind, int vector)
{
    g_assert_not_reached();
}

void helper_perfmon_limit(CPUX86State *env)
{
    g_assert_not_reached();
}

void helper_perfmon_near(CPUX86State *env, target_ulong from, target_ulong to,
                         uint32_t desc)
{
    g_assert_not_reached();
}

void helper_perfmon_far_inline(CPUX86State *env, target_ulong eip,
                               target_ulong cs_base)
{
    g_assert_not_reached();
}

void helper_perfmon_tnt(CPUX86State *env, target_ulong from, uint32_t taken)
{
    g_assert_not_reached();
}

void helper_perfmon_iflag(CPUX86State *env, target_ulong from)
{
    g_assert_not_reached();
}

void helper_perfmon_ptwrite(CPUX86State *env, target_ulong from, uint64_t val,
                            uint32_t bytes)
{
    g_assert_not_reached();
}
