// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMU of branch trace store (BTS): the processor writes a record of each taken
 * branch to memory (Intel SDM, "BTS and DS Save Area").
 */
#define pr_fmt(fmt) "Intel BTS: " fmt

#include <linux/cpufeature.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <asm/intel_ds.h>

#include "../../perf_event.h"
#include "bts.h"

DEFINE_PER_CPU(struct bts, bts_cpu);

static void bts_pmu_start(struct perf_event *trace, int flags)
{
	struct bts *bts = this_cpu_ptr(&bts_cpu);
	struct hw_perf_event *hw = &trace->hw;

	/*
	 * Another event traces: see bts_pmu_add(). Or the area has become full, and
	 * the group of the event was throttled since: the store is sealed until perf
	 * stops the event, and holds nothing that could be saved.
	 */
	if (READ_ONCE(bts->state) != BTS_IDLE || bts->sealed)
		return;

	hw->state = 0;
	if (!bts_begin(bts, trace)) {
		hw->state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
		return;
	}
	perf_event_itrace_started(trace);
	bts_leave_busy(bts);
}

static void bts_pmu_stop(struct perf_event *trace, int flags)
{
	struct bts *bts = this_cpu_ptr(&bts_cpu);

	if (!bts->handle.event || bts->handle.event == trace)
		bts_end(bts);
	trace->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int bts_pmu_add(struct perf_event *trace, int flags)
{
	struct cpu_hw_events *cpuc = this_cpu_ptr(&cpu_hw_events);
	struct bts *bts = this_cpu_ptr(&bts_cpu);
	struct hw_perf_event *hw = &trace->hw;

	/*
	 * This PMU and samples of each branch exclude each other, and the PMU is
	 * exclusive, so a context has one event of it. But some kernels keep hardware
	 * events in a second context. A group there, led by a hardware event, may have
	 * an event of this PMU as a member.
	 */
	if (READ_ONCE(bts->state) != BTS_IDLE || bts->sealed ||
	    test_bit(INTEL_PMC_IDX_FIXED_BTS, cpuc->active_mask))
		return -EBUSY;

	hw->state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (!(flags & PERF_EF_START))
		return 0;
	bts_pmu_start(trace, 0);
	/* An error would let perf try again at each tick. */
	if (!bts->usable)
		return 0;
	if (!(hw->state & PERF_HES_STOPPED))
		return 0;
	/* The core does not stop an event that it could not add. */
	bts_end(bts);
	return -EINVAL;
}

static void bts_pmu_del(struct perf_event *trace, int flags)
{
	bts_pmu_stop(trace, PERF_EF_UPDATE);
}

/* Nothing is counted. */
static void bts_pmu_read(struct perf_event *trace)
{
}

static void bts_pmu_destroy(struct perf_event *trace)
{
	x86_release_hardware();
	x86_del_exclusive(x86_lbr_exclusive_bts);
}

/*
 * The debug store is that of the core PMU, which has it while there are events. So is the
 * buffer where branches go once the store is sealed.
 */
static int bts_reserve(void)
{
	int ret;

	if (x86_add_exclusive(x86_lbr_exclusive_bts))
		return -EBUSY;

	ret = x86_reserve_hardware();
	if (ret)
		goto del;
	if (x86_pmu.bts_active)
		return 0;

	ret = -ENOMEM;
	x86_release_hardware();
del:
	x86_del_exclusive(x86_lbr_exclusive_bts);
	return ret;
}

static int bts_pmu_init(struct perf_event *trace)
{
	const struct perf_event_attr *attr = &trace->attr;
	int ret;

	if (attr->type != bts_pmu.type)
		return -ENOENT;

	/*
	 * Branches into the kernel show its addresses, whatever is excluded. Not checked
	 * for inherited events: the user who opened the event was checked.
	 */
	ret = trace->parent ? 0 : perf_allow_kernel();
	if (ret)
		return ret;
	if ((attr->exclude_kernel || attr->exclude_user) &&
	    !boot_cpu_has(X86_FEATURE_DSCPL))
		return -EOPNOTSUPP;
	/* A task that has the event may fork while the CPU comes online. */
	if (!trace->parent && trace->cpu >= 0 && cpu_online(trace->cpu) &&
	    !per_cpu(bts_cpu, trace->cpu).usable)
		return -ENODEV;

	ret = bts_reserve();
	if (ret)
		return ret;
	trace->hw.config = (attr->exclude_kernel ? 0 : ARCH_PERFMON_EVENTSEL_OS) |
			   (attr->exclude_user ? 0 : ARCH_PERFMON_EVENTSEL_USR);
	trace->destroy = bts_pmu_destroy;
	return 0;
}

struct pmu bts_pmu = {
	.capabilities	= PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE |
			  PERF_PMU_CAP_AUX_ANY_SIZE,
	.task_ctx_nr	= perf_sw_context,
	.event_init	= bts_pmu_init,
	.add		= bts_pmu_add,
	.del		= bts_pmu_del,
	.start		= bts_pmu_start,
	.stop		= bts_pmu_stop,
	.read		= bts_pmu_read,
	.setup_aux	= bts_setup_aux,
	.free_aux	= bts_free_aux,
};

/**
 * intel_bts_disable_local - the NMI of the core PMU begins
 *
 * Context: NMI.
 */
void intel_bts_disable_local(void)
{
	bts_hold(this_cpu_ptr(&bts_cpu));
}

/**
 * intel_bts_enable_local - the NMI of the core PMU ends
 *
 * Context: NMI.
 */
void intel_bts_enable_local(void)
{
	bts_release(this_cpu_ptr(&bts_cpu));
}

/**
 * intel_bts_interrupt - look whether the NMI is of branch trace store
 *
 * Context: NMI, between intel_bts_disable_local() and intel_bts_enable_local().
 *
 * Return: 1 if it is, else 0
 */
int intel_bts_interrupt(void)
{
	return bts_interrupt(this_cpu_ptr(&bts_cpu));
}

/**
 * cpu_emergency_stop_bts - stop tracing on this CPU of a crashed kernel
 *
 * Context: NMI.
 */
void cpu_emergency_stop_bts(void)
{
	bts_stop_for_good(this_cpu_ptr(&bts_cpu));
}

/*
 * The hardware writes to linear addresses while user code runs, when page table
 * isolation has unmapped the kernel's.
 */
static bool __init bts_is_isolated(void)
{
	bool isolated = boot_cpu_has(X86_FEATURE_PTI);

	if (isolated)
		pr_info("not used, because of page table isolation\n");
	return isolated;
}

static int __init bts_init(void)
{
	int ret;

	/* The core PMU of version 1 has another NMI handler. */
	if (!x86_pmu.bts || x86_pmu.version < 2 ||
	    !boot_cpu_has(X86_FEATURE_DTES64) || bts_is_isolated())
		return -ENODEV;

	ret = bts_cpu_init();
	if (ret)
		return ret;
	ret = perf_pmu_register(&bts_pmu, "intel_bts", -1);
	if (ret)
		bts_cpu_exit();
	return ret;
}
arch_initcall(bts_init);
