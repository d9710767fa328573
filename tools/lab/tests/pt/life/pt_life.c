// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of a machine that traces, where the lab's cannot do it itself: it
 * has no firmware that lets it sleep, and no VMX.
 *
 *  - It is a platform that sleeps: "mem" in /sys/power/state goes all the way
 *    that the kernel has for it. CPUs lose the registers of Intel PT, and
 *    IA32_DEBUGCTL, as those do whose power is cut; everything else stays.
 *  - With parameter "forgetful", a CPU that comes online has lost them as well.
 *  - Parameter "vmx": who writes to it, does to the CPU that he is on what KVM and
 *    VMXON do, or KVM and VMXOFF.
 */
#include <linux/cpuhotplug.h>
#include <linux/device.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/smp.h>
#include <linux/suspend.h>

#include <asm/msr.h>
#include <asm/perf_event.h>

/* Before Linux 6.16, the accessors have older names. */
#ifndef rdmsrq
#define rdmsrq rdmsrl
#define wrmsrq wrmsrl
#endif

/* Masks of a processor after reset (SDM: "IA32_RTIT_OUTPUT_MASK_PTRS") */
#define PT_MASK_RESET	0x7f
#define PT_ADDR_MSRS	8

static bool forgetful;
module_param(forgetful, bool, 0644);
MODULE_PARM_DESC(forgetful, "a CPU that was offline has lost the registers of traces");

/* intel_pt_handle_vmx(), which the newest kernel exports to KVM's modules alone */
static void (*pt_life_handle_vmx)(int on);

static int pt_life_find_handle_vmx(void)
{
	struct kprobe probe = { .symbol_name = "intel_pt_handle_vmx" };
	int ret = register_kprobe(&probe);

	if (ret)
		return ret;
	pt_life_handle_vmx = (void *)probe.addr;
	unregister_kprobe(&probe);
	return 0;
}

/* What the trace of this CPU is, when its registers are about to be lost. */
static void pt_life_check_off(const char *when)
{
	u64 ctl, debugctl;

	rdmsrq(MSR_IA32_RTIT_CTL, ctl);
	rdmsrq(MSR_IA32_DEBUGCTLMSR, debugctl);
	pr_info("pt_life: CPU %u %s: TraceEn %llu, BTS %d\n", smp_processor_id(), when,
		ctl & RTIT_CTL_TRACEEN, !!(debugctl & DEBUGCTLMSR_BTS));
}

static void pt_life_lose(void)
{
	unsigned int i;

	wrmsrq(MSR_IA32_DEBUGCTLMSR, 0);
	wrmsrq(MSR_IA32_RTIT_CTL, 0);
	wrmsrq(MSR_IA32_RTIT_STATUS, 0);
	wrmsrq(MSR_IA32_RTIT_OUTPUT_BASE, 0);
	wrmsrq(MSR_IA32_RTIT_OUTPUT_MASK, PT_MASK_RESET);
	wrmsrq(MSR_IA32_RTIT_CR3_MATCH, 0);
	for (i = 0; i < PT_ADDR_MSRS; i++)
		wrmsrq(MSR_IA32_RTIT_ADDR0_A + i, 0);
}

static int pt_life_starting(unsigned int cpu)
{
	pt_life_check_off("comes");
	if (forgetful)
		pt_life_lose();
	return 0;
}

static int pt_life_dying(unsigned int cpu)
{
	pt_life_check_off("goes");
	return 0;
}

static int pt_life_sleep(suspend_state_t state)
{
	pt_life_check_off("sleeps");
	pt_life_lose();
	return 0;
}

static const struct platform_suspend_ops pt_life_platform = {
	.valid	= suspend_valid_only_mem,
	.enter	= pt_life_sleep,
};

/* The devices keep their power; that of the root file system could not do without. */
static int pt_life_keep_power(struct device *dev, void *data)
{
	dev_pm_syscore_device(dev, true);
	return 0;
}

static __always_inline void pt_life_work(unsigned int times)
{
	while (times--)
		barrier();
}

/* To be found in a trace, or not; gcc makes one of functions that do the same. */
static noinline void pt_life_work_in_vmx(void)
{
	pt_life_work(200);
}

static noinline void pt_life_work_outside(void)
{
	pt_life_work(100);
}

static void pt_life_vmxon(void)
{
	u64 ctl;

	pt_life_work_outside();
	pt_life_handle_vmx(1);
	/* VMXON clears it, whatever the driver has done. */
	rdmsrq(MSR_IA32_RTIT_CTL, ctl);
	if (ctl & RTIT_CTL_TRACEEN)
		wrmsrq(MSR_IA32_RTIT_CTL, ctl & ~RTIT_CTL_TRACEEN);
	pt_life_work_in_vmx();
}

static void pt_life_vmxoff(void)
{
	pt_life_work_in_vmx();
	pt_life_check_off("in VMX operation");
	pt_life_handle_vmx(0);
	pt_life_work_outside();
}

static int pt_life_vmx(const char *text, const struct kernel_param *param)
{
	bool on;
	int ret = kstrtobool(text, &on);

	if (ret)
		return ret;

	preempt_disable();
	if (on)
		pt_life_vmxon();
	else
		pt_life_vmxoff();
	preempt_enable();
	return 0;
}

static const struct kernel_param_ops pt_life_vmx_ops = {
	.set	= pt_life_vmx,
};
module_param_cb(vmx, &pt_life_vmx_ops, NULL, 0200);
MODULE_PARM_DESC(vmx, "the writer's CPU enters VMX operation, or leaves it");

static int __init pt_life_init(void)
{
	int ret = pt_life_find_handle_vmx();

	if (ret)
		return ret;

	/* A state before interrupts and tasks, which no driver of this machine uses. */
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ARM_XEN_STARTING,
					"lab/pt_life:starting",
					pt_life_starting, pt_life_dying);
	if (ret)
		return ret;

	bus_for_each_dev(&platform_bus_type, NULL, NULL, pt_life_keep_power);
	suspend_set_ops(&pt_life_platform);
	return 0;
}
module_init(pt_life_init);

MODULE_DESCRIPTION("Sleep, lost registers and VMX operation, for tests of Intel PT");
MODULE_LICENSE("GPL");
