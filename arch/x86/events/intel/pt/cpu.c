// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processor Trace and the life of CPUs: capabilities that differ, hotplug,
 * suspend, VMX operation, and the end of this kernel.
 *
 * The registers survive INIT (SDM volume 3, table of processor states following
 * power-up, reset or INIT: other MSRs are unchanged), hence kexec. A trace that a
 * kernel leaves on goes on writing into memory that the next kernel uses for
 * something else. So the driver clears TraceEn before another kernel is started. If an
 * earlier kernel did not, the driver clears TraceEn when it first sees a CPU: those
 * that are online in its arch_initcall, others before user tasks run there. That does
 * not protect the memory which is in use before.
 */
#define pr_fmt(fmt) "Intel PT: " fmt

#include <linux/cpu.h>
#include <linux/cpufeature.h>
#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/kexec.h>
#include <linux/kvm_types.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/pfn.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/syscore_ops.h>

#include <asm/cpu_device_id.h>
#include <asm/cpuid/api.h>
#include <asm/intel-family.h>
#include <asm/msr.h>
#include <asm/perf_event.h>

#include "../../perf_event.h"
#include "pt.h"

#define PT_CPUID_LEAF	0x14
#define TSC_CPUID_LEAF	0x15

/* IA32_VMX_MISC: Processor Trace works in VMX operation. */
#define VMX_MISC_PT	BIT_ULL(14)
/* MSR_PLATFORM_INFO */
#define MAX_NONTURBO	GENMASK_ULL(15, 8)

/*
 * BDM106, BDD101, BDE99, BDF101: TraceEn without BranchEn is a #GP (Intel
 * specification updates of the Broadwell families).
 */
static const struct x86_cpu_id pt_needs_branches[] __initconst = {
	X86_MATCH_VFM(INTEL_BROADWELL,		NULL),
	X86_MATCH_VFM(INTEL_BROADWELL_D,	NULL),
	X86_MATCH_VFM(INTEL_BROADWELL_G,	NULL),
	X86_MATCH_VFM(INTEL_BROADWELL_X,	NULL),
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

/* Return: 0; -ENODEV if a hypervisor shows the capability without the registers */
static int pt_read_registers(u64 *ctl, u64 *base)
{
	return rdmsrq_safe(MSR_IA32_RTIT_CTL, ctl) ||
	       rdmsrq_safe(MSR_IA32_RTIT_OUTPUT_BASE, base) ? -ENODEV : 0;
}

/*
 * A trace is on that is not ours. If its tables are in System RAM, an earlier kernel
 * left it on, and it must be stopped. The firmware can trace to memory that it has
 * reserved, a debugger to the trace hub, whose memory OUTPUT_BASE does not name: both
 * are left alone.
 *
 * Context: no interrupt, because page_is_ram() takes a lock.
 */
static bool pt_is_in_use(u64 ctl, u64 base)
{
	return ctl & RTIT_CTL_TRACEEN &&
	       (ctl & RTIT_CTL_FABRIC_EN || !page_is_ram(PHYS_PFN(base)));
}

/* Take over the registers of this CPU. Return: false if that is not possible */
static bool pt_claim_registers(void)
{
	u64 ctl, base;

	if (pt_read_registers(&ctl, &base) || pt_is_in_use(ctl, base)) {
		pr_warn("CPU %d: the registers are in use or missing, it will not trace\n",
			smp_processor_id());
		return false;
	}
	if (ctl & RTIT_CTL_TRACEEN) {
		wrmsrq(MSR_IA32_RTIT_CTL, ctl & ~RTIT_CTL_TRACEEN);
		pr_warn_once("stopped a trace that an earlier kernel left on\n");
	}
	wrmsrq(MSR_IA32_RTIT_STATUS, 0);
	return true;
}

/*
 * Runs on another CPU, before the CPU comes online. Events may be scheduled
 * there before pt_cpu_online() runs: they do not trace until then.
 */
static int pt_cpu_prepare(unsigned int cpu)
{
	struct pt *pt = per_cpu_ptr(&pt_cpu, cpu);

	pt_reset_state(pt);
	pt->unusable = true;
	return 0;
}

static int pt_cpu_online(unsigned int cpu)
{
	struct pt *pt = per_cpu_ptr(&pt_cpu, cpu);
	struct pt_caps caps;

	pt_read_caps(&caps);
	if (!pt_caps_cover(&caps, &pt_pmu.caps))
		pr_warn("CPU %u lacks capabilities of the others and will not trace\n",
			cpu);
	else if (pt_claim_registers() && !kexec_in_progress)
		pt->unusable = false;
	return 0;
}

/**
 * struct pt_survey - what is known of the CPUs that have been asked
 * @caps: the capabilities that they have in common
 * @asked: number of CPUs that have been asked
 * @alike: their packets have the same format
 * @ctl: IA32_RTIT_CTL of the last one
 * @base: IA32_RTIT_OUTPUT_BASE of the last one
 * @error: -ENODEV if the registers are missing on any of them, -EBUSY if they are
 *	in use
 */
struct pt_survey {
	struct pt_caps	caps;
	unsigned int	asked;
	bool		alike;
	u64		ctl;
	u64		base;
	int		error;
};

static void pt_survey_cpu(void *info)
{
	struct pt_survey *survey = info;
	int ret = pt_read_registers(&survey->ctl, &survey->base);
	struct pt_caps caps;

	if (ret)
		survey->error = ret;
	pt_read_caps(&caps);
	if (!survey->asked++)
		survey->caps = caps;
	else if (!pt_caps_meet(&survey->caps, &caps))
		survey->alike = false;
}

/* Return: 0, or an error if Processor Trace cannot be used on this machine */
static int pt_survey(void)
{
	struct pt_survey survey = { .alike = true };
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		smp_call_function_single(cpu, pt_survey_cpu, &survey, true);
		if (!survey.error && pt_is_in_use(survey.ctl, survey.base))
			survey.error = -EBUSY;
	}
	cpus_read_unlock();

	if (survey.error == -EBUSY) {
		x86_add_exclusive(x86_lbr_exclusive_pt);
		pr_warn("not used, because the firmware or a debugger traces\n");
		return -EBUSY;
	}
	if (survey.error) {
		pr_warn("not used, because the registers are missing\n");
		return survey.error;
	}
	if (!survey.alike) {
		pr_warn("not used, because CPUs write packets of different formats\n");
		return -ENODEV;
	}
	if (!pt_caps_get(&survey.caps, PT_CAP_topa_output)) {
		pr_warn("not used, because the CPUs have no output to tables (ToPA)\n");
		return -ENODEV;
	}
	pt_pmu.caps = survey.caps;
	return 0;
}

/*
 * All CPUs but one are offline, and their events with them. Suspend may reset
 * the registers of the last CPU as well.
 */
static int pt_suspend(void *data)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);
	struct perf_event *event = pt->handle.event;

	if (event) {
		if (!(event->hw.state & PERF_HES_STOPPED))
			pt->suspended = event;
		pt_pmu.pmu.stop(event, PERF_EF_UPDATE);
	}
	return 0;
}

static void pt_resume(void *data)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);

	pt_reset_state(pt);
	if (!pt_claim_registers())
		pt->unusable = true;
	if (pt->suspended)
		pt_pmu.pmu.start(pt->suspended, 0);
	pt->suspended = NULL;
	/*
	 * The end of a transaction asks for an interrupt to wake the reader or to
	 * disable the event. With interrupts off, suspend may have lost it, and
	 * irq_work_queue() does not raise it again while the work is pending.
	 */
	arch_irq_work_raise();
}

static void pt_shutdown_cpu(void *unused)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);

	if (pt->handle.event)
		pt_pmu.pmu.stop(pt->handle.event, PERF_EF_UPDATE);
	/* pt_begin() fails from now on. */
	pt->unusable = true;
}

/* CPUs that are still tracing would write into the memory of the next kernel. */
static void pt_shutdown(void *data)
{
	if (kexec_in_progress)
		on_each_cpu(pt_shutdown_cpu, NULL, true);
}

static const struct syscore_ops pt_syscore_ops = {
	.suspend	= pt_suspend,
	.resume		= pt_resume,
	.shutdown	= pt_shutdown,
};

static struct syscore pt_syscore = {
	.ops	= &pt_syscore_ops,
};

static void pt_read_ratios(void)
{
	u32 eax, ebx, ecx, edx;
	u64 info;

	rdmsrq(MSR_PLATFORM_INFO, info);
	pt_pmu.max_nonturbo_ratio = FIELD_GET(MAX_NONTURBO, info);

	if (boot_cpu_data.cpuid_level < TSC_CPUID_LEAF)
		return;
	cpuid(TSC_CPUID_LEAF, &eax, &ebx, &ecx, &edx);
	pt_pmu.tsc_art_num = ebx;
	pt_pmu.tsc_art_den = eax;
}

/* Dynamic states of pt_cpu_prepare() and pt_cpu_online() */
static int pt_prepare_state, pt_online_state;

static int __init pt_setup_hotplug(void)
{
	int ret;

	ret = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "perf/x86/intel/pt:prepare",
				pt_cpu_prepare, NULL);
	if (ret < 0)
		return ret;
	pt_prepare_state = ret;

	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf/x86/intel/pt:online",
				pt_cpu_online, NULL);
	if (ret < 0) {
		cpuhp_remove_state(pt_prepare_state);
		return ret;
	}
	pt_online_state = ret;
	return 0;
}

/**
 * pt_cpu_init - initialize pt_pmu and the state of all CPUs
 *
 * Return: 0; -ENODEV if Processor Trace cannot be used; -EBUSY if the firmware or a
 * debugger uses it; or an error of cpuhp_setup_state()
 */
int __init pt_cpu_init(void)
{
	u64 misc;
	int ret;

	ret = pt_survey();
	if (ret)
		return ret;

	pt_read_ratios();
	pt_pmu.needs_branches = x86_match_cpu(pt_needs_branches);
	if (boot_cpu_has(X86_FEATURE_VMX)) {
		rdmsrq(MSR_IA32_VMX_MISC, misc);
		pt_pmu.vmx = misc & VMX_MISC_PT;
	}

	ret = pt_setup_hotplug();
	if (ret)
		return ret;
	register_syscore(&pt_syscore);
	return 0;
}

/**
 * pt_cpu_exit - undo pt_cpu_init()
 */
void __init pt_cpu_exit(void)
{
	unregister_syscore(&pt_syscore);
	cpuhp_remove_state(pt_online_state);
	cpuhp_remove_state(pt_prepare_state);
}

/**
 * intel_pt_handle_vmx - this CPU enters or has left VMX operation
 * @on: 1 before VMXON, 0 after VMXOFF
 *
 * If Processor Trace does not work in VMX operation, VMXON clears TraceEn, and until
 * VMXOFF a write of IA32_RTIT_CTL is a #GP (SDM, "Tracing in VMX Operation"). So
 * the trace is stopped before. It has a gap then, and is flagged PARTIAL.
 *
 * Context: on the CPU, not preemptible; or an NMI that ends this kernel, which may
 * have interrupted a change of the trace.
 */
void intel_pt_handle_vmx(int on)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);
	unsigned long flags;

	if (pt_pmu.vmx)
		return;

	local_irq_save(flags);
	if (pt_enter_busy(pt)) {
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_PARTIAL);
		pt->vmx = on;
		pt_leave_busy(pt);
	} else {
		pt->vmx = on;
	}
	local_irq_restore(flags);
}
EXPORT_SYMBOL_FOR_KVM(intel_pt_handle_vmx);

/**
 * cpu_emergency_stop_pt - stop tracing on this CPU of a crashed kernel
 *
 * Context: NMI.
 */
void cpu_emergency_stop_pt(void)
{
	pt_stop_for_good(this_cpu_ptr(&pt_cpu));
}
