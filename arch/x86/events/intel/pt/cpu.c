// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of Processor Trace where CPUs differ, come and go, sleep, enter
 * VMX operation, or leave this kernel for another.
 */
#include <linux/cpu.h>
#include <linux/cpufeature.h>
#include <linux/cpuhotplug.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/syscore_ops.h>

#include <asm/cpu_device_id.h>
#include <asm/intel-family.h>
#include <asm/msr.h>
#include <asm/perf_event.h>

#include "../../perf_event.h"
#include "pt.h"

#define PT_CPUID_LEAF	0x14
#define TSC_CPUID_LEAF	0x15

/* IA32_VMX_MISC: Processor Trace can be used in VMX operation. */
#define VMX_MISC_PT	BIT_ULL(14)
/* MSR_PLATFORM_INFO */
#define MAX_NONTURBO	GENMASK_ULL(15, 8)

DEFINE_PER_CPU(struct pt, pt_cpu);

/*
 * BDM106, BDD101, BDE99, BDF101: TraceEn without BranchEn is a #GP (Intel
 * specification updates of the Broadwell families).
 */
static const struct x86_cpu_id pt_quirks[] __initconst = {
	X86_MATCH_VFM(INTEL_BROADWELL,		PT_QUIRK_ALWAYS_BRANCHES),
	X86_MATCH_VFM(INTEL_BROADWELL_D,	PT_QUIRK_ALWAYS_BRANCHES),
	X86_MATCH_VFM(INTEL_BROADWELL_G,	PT_QUIRK_ALWAYS_BRANCHES),
	X86_MATCH_VFM(INTEL_BROADWELL_X,	PT_QUIRK_ALWAYS_BRANCHES),
	{ }
};

static void pt_read_caps(struct pt_caps *caps)
{
	u32 *word = caps->word;
	unsigned int leaf;

	for (leaf = 0; leaf < PT_CPUID_LEAVES; leaf++, word += PT_CPUID_REGS_NUM)
		cpuid_count(PT_CPUID_LEAF, leaf, &word[0], &word[1], &word[2],
			    &word[3]);
}

/*
 * On another CPU, while this one is off. Events may come as soon as it is on,
 * before pt_cpu_online(): until then nothing is known of it, and it is not used.
 */
static int pt_cpu_prepare(unsigned int cpu)
{
	struct pt *pt = per_cpu_ptr(&pt_cpu, cpu);

	pt_forget(pt);
	pt->lacking = true;
	return 0;
}

/* A CPU that can do less than those before it is left out. */
static int pt_cpu_online(unsigned int cpu)
{
	struct pt *pt = per_cpu_ptr(&pt_cpu, cpu);
	struct pt_caps caps;

	pt_read_caps(&caps);
	pt->lacking = !pt_caps_cover(&caps, &pt_pmu.caps);
	if (pt->lacking)
		pr_warn("Intel PT: CPU %u lacks what others can do, it will not trace\n",
			cpu);
	return 0;
}

/* What is known of the CPUs so far; they are asked one by one. */
struct pt_survey {
	struct pt_caps	caps;
	bool		alike;
	bool		on;
	bool		hidden;
	bool		begun;
};

static void pt_survey_cpu(void *info)
{
	struct pt_survey *survey = info;
	struct pt_caps caps;
	u64 ctl = 0;

	pt_read_caps(&caps);
	/* A hypervisor may show the capability, and not the registers. */
	survey->hidden |= !!rdmsrl_safe(MSR_IA32_RTIT_CTL, &ctl);
	survey->on |= ctl & RTIT_CTL_TRACEEN;
	if (!survey->begun)
		survey->caps = caps;
	else if (!pt_caps_meet(&survey->caps, &caps))
		survey->alike = false;
	survey->begun = true;
}

/* What all CPUs have in common; whether somebody else uses it. */
static int pt_survey(void)
{
	struct pt_survey survey = { .alike = true };
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu)
		smp_call_function_single(cpu, pt_survey_cpu, &survey, true);
	cpus_read_unlock();

	if (survey.hidden) {
		pr_warn("Intel PT: its registers are not there, it is not used\n");
		return -ENODEV;
	}
	if (survey.on) {
		x86_add_exclusive(x86_lbr_exclusive_pt);
		pr_warn("Intel PT: somebody else traces, it is left to him\n");
		return -EBUSY;
	}
	if (!survey.alike) {
		pr_warn("Intel PT: CPUs write different packets, it is not used\n");
		return -ENODEV;
	}
	pt_pmu.caps = survey.caps;
	return 0;
}

/*
 * Sleep resets the registers of the last CPU as well; the events of the others
 * go with their CPUs.
 */
static int pt_suspend(void *data)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);

	pt->resume = pt->handle.event;
	if (!pt->resume)
		return 0;

	/* One that is stopped stays so. */
	if (pt->resume->hw.state & PERF_HES_STOPPED)
		pt->resume = NULL;
	pt_pmu.pmu.stop(pt->handle.event, PERF_EF_UPDATE);
	return 0;
}

static void pt_resume(void *data)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);

	pt_forget(pt);
	if (pt->resume)
		pt_pmu.pmu.start(pt->resume, 0);
	pt->resume = NULL;
}

static const struct syscore_ops pt_syscore_ops = {
	.suspend	= pt_suspend,
	.resume		= pt_resume,
};

static struct syscore pt_syscore = {
	.ops	= &pt_syscore_ops,
};

static void pt_read_ratios(void)
{
	u32 eax, ebx, ecx, edx;
	u64 info;

	rdmsrl(MSR_PLATFORM_INFO, info);
	pt_pmu.max_nonturbo_ratio = FIELD_GET(MAX_NONTURBO, info);

	if (boot_cpu_data.cpuid_level < TSC_CPUID_LEAF)
		return;
	cpuid(TSC_CPUID_LEAF, &eax, &ebx, &ecx, &edx);
	pt_pmu.tsc_art_num = ebx;
	pt_pmu.tsc_art_den = eax;
}

static int __init pt_watch_cpus(void)
{
	int prepare, online;

	prepare = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN,
				    "perf/x86/intel/pt:prepare",
				    pt_cpu_prepare, NULL);
	if (prepare < 0)
		return prepare;

	online = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN,
				   "perf/x86/intel/pt:online", pt_cpu_online,
				   NULL);
	if (online < 0)
		cpuhp_remove_state(prepare);
	return min(online, 0);
}

/**
 * pt_cpu_init - find out what the machine has
 *
 * Return: 0, -ENODEV, -EBUSY if somebody else traces
 */
int __init pt_cpu_init(void)
{
	const struct x86_cpu_id *quirk = x86_match_cpu(pt_quirks);
	u64 misc;
	int ret;

	ret = pt_survey();
	if (ret)
		return ret;

	pt_read_ratios();
	if (quirk)
		pt_pmu.quirks = quirk->driver_data;
	if (boot_cpu_has(X86_FEATURE_VMX)) {
		rdmsrl(MSR_IA32_VMX_MISC, misc);
		pt_pmu.vmx = misc & VMX_MISC_PT;
	}

	ret = pt_watch_cpus();
	if (ret)
		return ret;
	register_syscore(&pt_syscore);
	return 0;
}

/**
 * intel_pt_handle_vmx - this CPU enters VMX operation, or has left it
 * @on: which of the two
 *
 * VMXON clears TraceEn where Processor Trace cannot be used in VMX operation,
 * and to set it there is a #GP. The trace has a hole then, and is PARTIAL.
 *
 * Context: process, on the CPU.
 */
void intel_pt_handle_vmx(int on)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);
	unsigned long flags;

	if (pt_pmu.vmx)
		return;

	local_irq_save(flags);
	if (pt_take(pt)) {
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_PARTIAL);
		pt->vmx = on;
		pt_settle(pt);
	} else {
		pt->vmx = on;
	}
	local_irq_restore(flags);
}
EXPORT_SYMBOL_GPL(intel_pt_handle_vmx);

/**
 * cpu_emergency_stop_pt - stop tracing on this CPU, which leaves this kernel
 *
 * Context: NMI.
 */
void cpu_emergency_stop_pt(void)
{
	pt_kill(this_cpu_ptr(&pt_cpu));
}
