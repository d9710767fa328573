/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT model: capabilities, from CPU properties to CPUID leaf 14H
 * (SDM 33.3.1).
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "pt.h"
#include "pt_regs.h"

#define PT_RANGES_MAX       4

bool pt_present(CPUX86State *env)
{
    return env->features[FEAT_7_0_EBX] & CPUID_7_0_EBX_INTEL_PT;
}

unsigned pt_ranges(CPUX86State *env)
{
    return pt_config(env)->ipfilter ? pt_config(env)->ranges : 0;
}

/* IP filtering is to have one range or more (SDM 33.3.1). */
static uint32_t pt_cpuid_0_ebx(const PTConfig *pt)
{
    return (pt->cr3filter ? PT_CPUID_CR3FILTER : 0) |
           (pt->psbcyc ? PT_CPUID_PSBCYC : 0) |
           (pt->ipfilter && pt->ranges ? PT_CPUID_IPFILTER : 0) |
           (pt->mtc ? PT_CPUID_MTC : 0) |
           (pt->ptwrite ? PT_CPUID_PTWRITE : 0) |
           (pt->powerev ? PT_CPUID_POWEREV : 0) |
           (pt->psbpmi ? PT_CPUID_PSBPMI : 0) |
           (pt->event ? PT_CPUID_EVENT : 0) |
           (pt->notnt ? PT_CPUID_NOTNT : 0);
}

static uint32_t pt_cpuid_0_ecx(const PTConfig *pt)
{
    return (pt->topa ? PT_CPUID_TOPA : 0) |
           (pt->topa && pt->multi ? PT_CPUID_MULTI : 0) |
           (pt->single ? PT_CPUID_SINGLE : 0) |
           (pt->lip ? PT_CPUID_LIP : 0);
}

void pt_cpuid(CPUX86State *env, uint32_t subleaf, uint32_t *eax,
              uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    const PTConfig *pt = pt_config(env);

    *eax = *ebx = *ecx = *edx = 0;
    if (!pt_present(env)) {
        return;
    }
    if (subleaf == 0) {
        *eax = 1;
        *ebx = pt_cpuid_0_ebx(pt);
        *ecx = pt_cpuid_0_ecx(pt);
    } else if (subleaf == 1) {
        *eax = pt_ranges(env);
        if (pt->mtc) {
            *eax |= PT_MTC_BITMAP << PT_CPUID_BITMAP_SHIFT;
        }
        if (pt->psbcyc) {
            *ebx = PT_CYC_BITMAP | PT_PSB_BITMAP << PT_CPUID_BITMAP_SHIFT;
        }
    }
}

/*
 * Encodings whose field is zero are always valid: they mean that the
 * feature is not configured.
 */
static bool pt_encoding_valid(uint64_t field, uint32_t bitmap)
{
    return field == 0 || (bitmap & (1u << field));
}

bool pt_encodings_valid(CPUX86State *env, uint64_t ctl)
{
    uint64_t mtc = (ctl & RTIT_CTL_MTC_FREQ) >> RTIT_CTL_MTC_FREQ_SHIFT;
    uint64_t cyc = (ctl & RTIT_CTL_CYC_THRESH) >> RTIT_CTL_CYC_THRESH_SHIFT;
    uint64_t psb = (ctl & RTIT_CTL_PSB_FREQ) >> RTIT_CTL_PSB_FREQ_SHIFT;

    return pt_encoding_valid(mtc, PT_MTC_BITMAP) &&
           pt_encoding_valid(cyc, PT_CYC_BITMAP) &&
           pt_encoding_valid(psb, PT_PSB_BITMAP);
}

/* What kernels meet that look at one CPU only, where there are others. */
static void pt_be_small_core(PTConfig *pt)
{
    pt->ptwrite = false;
    pt->powerev = false;
    pt->ranges = MIN(pt->ranges, 1);
}

bool pt_config_check(X86CPU *cpu, Error **errp)
{
    PTConfig *pt = &cpu->pt;

    if (pt->hybrid && cpu->apic_id & 1) {
        pt_be_small_core(pt);
    }
    if (pt->ranges > PT_RANGES_MAX) {
        error_setg(errp, "x-pt-ranges=%u: at most %u address ranges",
                   pt->ranges, PT_RANGES_MAX);
        return false;
    }
    if (!pt->topa && !pt->single) {
        error_setg(errp, "x-pt-topa=off wants x-pt-single=on: "
                   "a trace needs an output scheme");
        return false;
    }
    pt_power_on(&cpu->env);
    return true;
}
