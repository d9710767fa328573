/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties that cannot be had: where there are no models, where the CPU lacks
 * what they belong to, or where two of them contradict each other.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qapi/error.h"
#include "qobject/qobject.h"
#include "qom/object.h"
#include "qom/qom-qobject.h"
#include "cpu.h"
#include "perfmon.h"

static bool is_default(Object *obj, const ObjectProperty *prop)
{
    QObject *now = object_property_get_qobject(obj, prop->name, &error_abort);
    bool equal = qobject_is_equal(now, prop->defval);

    qobject_unref(now);
    return equal;
}

/* The first property of @prefix that is not as it is by default, or NULL. */
static const char *changed_property(X86CPU *cpu, const char *prefix)
{
    Object *obj = OBJECT(cpu);
    ObjectPropertyIterator at;
    const ObjectProperty *prop;

    object_property_iter_init(&at, obj);
    do {
        prop = object_property_iter_next(&at);
    } while (prop && (!g_str_has_prefix(prop->name, prefix) ||
                      !prop->defval || is_default(obj, prop)));
    return prop ? prop->name : NULL;
}

bool perfmon_refuse(X86CPU *cpu, const char *needed, Error **errp)
{
    static const char *const prefixes[] = { "x-bts", "x-pebs", "x-pt-" };

    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
        const char *name = changed_property(cpu, prefixes[i]);

        if (name) {
            error_setg(errp, "%s needs %s", name, needed);
            return false;
        }
    }
    return true;
}

static void warn_unless(bool there, X86CPU *cpu, const char *prefix,
                        const char *needed)
{
    const char *name = there ? NULL : changed_property(cpu, prefix);

    if (name) {
        warn_report("%s has no effect without %s", name, needed);
    }
}

/* Was the feature switched on, or off, by its name? */
static bool is_asked(CPUX86State *env, FeatureWord w, uint64_t feature)
{
    return env->user_features[w] & env->features[w] & feature;
}

static bool is_refused(CPUX86State *env, FeatureWord w, uint64_t feature)
{
    return env->user_features[w] & ~env->features[w] & feature;
}

/* The trace interrupts by PerfMon's means. */
static void settle_pmu(X86CPU *cpu)
{
    CPUX86State *env = &cpu->env;

    if (cpu->enable_pmu ||
        !(env->features[FEAT_7_0_EBX] & CPUID_7_0_EBX_INTEL_PT)) {
        return;
    }
    if (is_asked(env, FEAT_7_0_EBX, CPUID_7_0_EBX_INTEL_PT)) {
        warn_report("intel-pt=on switches on pmu, by which it interrupts: "
                    "add pmu=on");
        cpu->enable_pmu = true;
    } else {
        /* "max" has what is possible. */
        env->features[FEAT_7_0_EBX] &= ~CPUID_7_0_EBX_INTEL_PT;
        env->features[FEAT_14_0_ECX] = 0;
    }
}

static bool settle_pt(X86CPU *cpu, bool there, Error **errp)
{
    CPUX86State *env = &cpu->env;

    warn_unless(there, cpu, "x-pt-", "intel-pt=on");
    if (cpu->pt.lip && is_refused(env, FEAT_14_0_ECX, CPUID_14_0_ECX_LIP)) {
        error_setg(errp, "x-pt-lip=on and intel-pt-lip=off contradict each "
                   "other: remove one of them");
        return false;
    }
    /* The model tells of it, so nobody has to filter it. */
    cpu->pt.lip |= !!(env->features[FEAT_14_0_ECX] & CPUID_14_0_ECX_LIP);
    env->features[FEAT_14_0_ECX] &= ~CPUID_14_0_ECX_LIP;
    return true;
}

static bool settle_capabilities(X86CPU *cpu, Error **errp)
{
    bool lbr_given = cpu->lbr_fmt != ~PERF_CAP_LBR_FMT;
    CPUX86State *env = &cpu->env;

    if (cpu->enable_pmu && is_refused(env, FEAT_1_ECX, CPUID_EXT_PDCM)) {
        error_setg(errp, "pmu=on comes with pdcm under TCG: "
                   "remove pdcm=off, or use pmu=off");
        return false;
    }
    if (!cpu->enable_pmu && lbr_given && cpu->lbr_fmt) {
        error_setg(errp, "lbr-fmt needs pmu=on");
        return false;
    }
    if (!cpu->enable_pmu && is_asked(env, FEAT_1_ECX, CPUID_EXT_PDCM)) {
        warn_report("pdcm has no effect without pmu=on");
        env->features[FEAT_1_ECX] &= ~CPUID_EXT_PDCM;
    }
    return true;
}

/* CPUID's names for what x-bts and others are: off by either is off. */
static bool settle_ds(X86CPU *cpu, Error **errp)
{
    PMUConfig *config = &cpu->pmu_config;
    bool pebs = config->pebs || config->pebs_adaptive || config->pebs_trace;
    CPUX86State *env = &cpu->env;
    bool ds;

    warn_unless(cpu->enable_pmu, cpu, "x-bts", "pmu=on");
    warn_unless(cpu->enable_pmu, cpu, "x-pebs", "pmu=on");
    if (is_refused(env, FEAT_1_EDX, CPUID_DTS)) {
        if (pebs) {
            error_setg(errp, "x-pebs needs ds: remove ds=off");
            return false;
        }
        config->bts = false;
    }
    config->dtes64 &= !is_refused(env, FEAT_1_ECX, CPUID_EXT_DTES64);
    config->ds_cpl &= !is_refused(env, FEAT_1_ECX, CPUID_EXT_DSCPL);

    ds = cpu->enable_pmu && (config->bts || pebs);
    if (!ds && is_asked(env, FEAT_1_EDX, CPUID_DTS)) {
        warn_report("ds has no effect without pmu=on and x-bts=on or "
                    "x-pebs=on");
    }
    if (!(ds && config->dtes64) &&
        is_asked(env, FEAT_1_ECX, CPUID_EXT_DTES64)) {
        warn_report("dtes64 has no effect without pmu=on, x-bts=on and "
                    "x-bts-dtes64=on");
    }
    if (!(cpu->enable_pmu && config->bts && config->ds_cpl) &&
        is_asked(env, FEAT_1_ECX, CPUID_EXT_DSCPL)) {
        warn_report("ds-cpl has no effect without pmu=on, x-bts=on and "
                    "x-bts-ds-cpl=on");
    }
    return true;
}

/* Drivers do not look for Intel's on processors of others. */
static void warn_of_vendor(X86CPU *cpu, bool pt)
{
    CPUX86State *env = &cpu->env;

    if (IS_INTEL_CPU(env)) {
        return;
    }
    if (pt && is_asked(env, FEAT_7_0_EBX, CPUID_7_0_EBX_INTEL_PT)) {
        warn_report("intel-pt=on: drivers look for it on Intel's processors "
                    "only: add vendor=GenuineIntel");
    } else if (cpu->enable_pmu &&
               !object_dynamic_cast(OBJECT(cpu), X86_CPU_TYPE_NAME("max"))) {
        /* "max" has it without being asked. */
        warn_report("pmu=on has Intel's counters under TCG, for which drivers "
                    "look on Intel's processors only: add "
                    "vendor=GenuineIntel");
    }
}

bool perfmon_settle(X86CPU *cpu, Error **errp)
{
    bool pt;

    settle_pmu(cpu);
    pt = cpu->env.features[FEAT_7_0_EBX] & CPUID_7_0_EBX_INTEL_PT;
    warn_of_vendor(cpu, pt);
    return settle_pt(cpu, pt, errp) && settle_capabilities(cpu, errp) &&
           settle_ds(cpu, errp);
}
