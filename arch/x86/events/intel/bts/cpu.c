// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU hotplug, suspend, kexec.
 */
#define pr_fmt(fmt) "Intel BTS: " fmt

#include <linux/cpufeature.h>
#include <linux/cpuhotplug.h>
#include <linux/kexec.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/syscore_ops.h>

#include <asm/irq_work.h>

#include "../../perf_event.h"
#include "bts.h"

/* The CPUs of a machine may differ; the core PMU asks the first one only. */
static int bts_cpu_online(unsigned int cpu)
{
	struct bts *bts = per_cpu_ptr(&bts_cpu, cpu);

	if (kexec_in_progress)
		return 0;
	/* It was not set if the first event came while the CPU was coming. */
	init_debug_store_on_cpu(cpu);
	/* INIT keeps IA32_DEBUGCTL: an earlier kernel may have left a trace on. */
	intel_pmu_disable_bts();
	bts->usable = this_cpu_has(X86_FEATURE_BTS) &&
		      this_cpu_has(X86_FEATURE_DTES64);
	if (!bts->usable)
		pr_warn("CPU %u has no branch trace store and will not trace\n", cpu);
	return 0;
}

/* The events of the CPU are about to go. */
static int bts_cpu_offline(unsigned int cpu)
{
	per_cpu_ptr(&bts_cpu, cpu)->usable = false;
	return 0;
}

/*
 * All CPUs but one are offline, and their events with them. Suspend does not keep
 * IA32_DEBUGCTL.
 */
static int bts_suspend(void *data)
{
	struct bts *bts = this_cpu_ptr(&bts_cpu);
	struct perf_event *event = bts->handle.event;

	if (event) {
		bts->suspended = event;
		bts_pmu.stop(event, PERF_EF_UPDATE);
	}
	return 0;
}

static void bts_resume(void *data)
{
	struct bts *bts = this_cpu_ptr(&bts_cpu);

	if (bts->suspended)
		bts_pmu.start(bts->suspended, 0);
	bts->suspended = NULL;
	/* Suspend may have lost the interrupt that the end of a transaction asks for. */
	arch_irq_work_raise();
}

static void bts_shutdown_cpu(void *unused)
{
	struct bts *bts = this_cpu_ptr(&bts_cpu);

	if (bts->handle.event)
		bts_pmu.stop(bts->handle.event, PERF_EF_UPDATE);
	else
		bts_end(bts);
	/* The core PMU's samples of each branch */
	intel_pmu_disable_bts();
	/* bts_begin() fails from now on. */
	bts->usable = false;
}

/* CPUs that are still tracing would write into the memory of the next kernel. */
static void bts_shutdown(void *data)
{
	if (kexec_in_progress)
		on_each_cpu(bts_shutdown_cpu, NULL, true);
}

static const struct syscore_ops bts_syscore_ops = {
	.suspend	= bts_suspend,
	.resume		= bts_resume,
	.shutdown	= bts_shutdown,
};

static struct syscore bts_syscore = {
	.ops	= &bts_syscore_ops,
};

static int bts_online_state;

/**
 * bts_cpu_init - find the CPUs that can trace, now and later
 *
 * Return: 0, or an error of cpuhp_setup_state()
 */
int __init bts_cpu_init(void)
{
	int ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf/x86/intel/bts:online",
				    bts_cpu_online, bts_cpu_offline);

	if (ret < 0)
		return ret;
	bts_online_state = ret;
	register_syscore(&bts_syscore);
	return 0;
}

/**
 * bts_cpu_exit - undo bts_cpu_init()
 */
void __init bts_cpu_exit(void)
{
	unregister_syscore(&bts_syscore);
	cpuhp_remove_state(bts_online_state);
}
