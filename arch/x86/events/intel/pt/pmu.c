// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMU of Intel Processor Trace.
 */
#define pr_fmt(fmt) "Intel PT: " fmt

#include <linux/cpufeature.h>
#include <linux/init.h>
#include <linux/kvm_types.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <asm/intel_pt.h>

#include "../../perf_event.h"
#include "config.h"
#include "pt.h"

struct pt_pmu pt_pmu;
DEFINE_PER_CPU(struct pt, pt_cpu);

/* Let the hardware do what the event wants now, if it traces this event. */
static void pt_apply(struct pt *pt, struct perf_event *trace)
{
	/* An interrupted change looks at aux_paused again before it ends. */
	if (pt->handle.event == trace && pt_enter_busy(pt))
		pt_leave_busy(pt);
}

static void pt_pmu_start(struct perf_event *trace, int flags)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);
	struct hw_perf_event *hw = &trace->hw;

	/* The caller has cleared hw_perf_event::aux_paused. */
	if (flags & PERF_EF_RESUME) {
		pt_apply(pt, trace);
		return;
	}

	/* Another event traces, which was added after this one had lost its area. */
	if (READ_ONCE(pt->state) != PT_IDLE)
		return;

	if (hw->addr_filters)
		perf_event_addr_filters_sync(trace);
	hw->state = 0;
	if (pt_begin(pt, trace))
		pt_leave_busy(pt);
	else
		hw->state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static void pt_pmu_stop(struct perf_event *trace, int flags)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);
	struct hw_perf_event *hw = &trace->hw;

	/* The caller has set hw_perf_event::aux_paused. */
	if (flags & PERF_EF_PAUSE) {
		pt_apply(pt, trace);
		return;
	}

	/*
	 * A PMI may end the transaction and set STOPPED and UPTODATE. If the PMI
	 * interrupts this assignment, its UPTODATE is lost. So UPTODATE is set
	 * below if no transaction is open.
	 */
	hw->state |= PERF_HES_STOPPED;
	if (pt->handle.event != trace || !pt_enter_busy(pt)) {
		if (!pt->handle.event)
			hw->state |= PERF_HES_UPTODATE;
		return;
	}
	pt_end(pt);
	hw->state |= PERF_HES_UPTODATE;
}

static int pt_pmu_add(struct perf_event *trace, int flags)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);
	struct hw_perf_event *hw = &trace->hw;

	/*
	 * The PMU is exclusive, so a context has one event of it. But some kernels keep
	 * hardware events in a second context. A group there, led by a hardware event,
	 * may have an event of this PMU as a member.
	 */
	if (READ_ONCE(pt->state) != PT_IDLE)
		return -EBUSY;

	hw->state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (!(flags & PERF_EF_START))
		return 0;
	pt_pmu_start(trace, 0);
	/* An error would let perf try again at each tick. */
	if (pt->unusable)
		return 0;
	return hw->state & PERF_HES_STOPPED ? -EINVAL : 0;
}

static void pt_pmu_del(struct perf_event *trace, int flags)
{
	pt_pmu_stop(trace, PERF_EF_UPDATE);
}

/* There is no count; look for an error or a full area that raised no PMI. */
static void pt_pmu_read(struct perf_event *trace)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);

	if (pt->handle.event == trace)
		pt_poll(pt);
}

/**
 * pt_pmu_snapshot - pmu::snapshot_aux(): copy the newest data into a sample
 * @trace: the event
 * @record: the sample
 * @size: number of bytes
 *
 * Context: on the CPU of the event, possibly in NMI.
 *
 * Return: number of bytes copied; 0 if this NMI interrupted a change of the trace
 */
static long pt_pmu_snapshot(struct perf_event *trace,
			    struct perf_output_handle *record,
			    unsigned long size)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);
	long copied = 0;
	u64 head;

	if (pt->handle.event != trace || !pt_enter_busy(pt))
		return 0;

	head = pt_read_head(pt, perf_get_aux(&pt->handle));
	/* perf_output_copy_aux() takes positions modulo the size of the area. */
	copied = perf_output_copy_aux(&pt->handle, record, head - size, head);
	pt_check_gap(pt);
	pt_leave_busy(pt);
	return copied;
}

static void pt_pmu_destroy(struct perf_event *trace)
{
	pt_watch_put();
	pt_filters_free(trace);
	x86_del_exclusive(x86_lbr_exclusive_pt);
}

static int pt_pmu_init(struct perf_event *trace)
{
	struct perf_event_attr *attr = &trace->attr;
	int ret = -ENOENT;

	if (pt_pmu.pmu.type != attr->type)
		return ret;
	/* A task that has the event may fork while the CPU comes online. */
	if (!trace->parent && trace->cpu >= 0 &&
	    per_cpu(pt_cpu, trace->cpu).unusable)
		return -ENODEV;

	ret = pt_config_check(attr->config, &pt_pmu.caps, pt_pmu.needs_branches);
	if (ret)
		return ret;
	/* IA32_RTIT_CTL; TraceEn is set when the event has started once. */
	trace->hw.aux_config = pt_config_ctl(attr->config, !attr->exclude_user,
					     !attr->exclude_kernel);

	if (x86_add_exclusive(x86_lbr_exclusive_pt))
		return -EBUSY;
	ret = pt_filters_alloc(trace);
	if (ret) {
		x86_del_exclusive(x86_lbr_exclusive_pt);
		return ret;
	}
	pt_watch_get();
	trace->destroy = pt_pmu_destroy;
	return 0;
}

/**
 * intel_pt_validate_cap - get a capability from the words of CPUID leaf 14H
 * @caps: EAX, EBX, ECX and EDX of each of the PT_CPUID_LEAVES sub-leaves
 * @cap: the capability
 *
 * Return: the value of the field
 */
u32 intel_pt_validate_cap(u32 *caps, enum pt_capabilities cap)
{
	/* struct pt_caps contains nothing but these words. */
	static_assert(sizeof(struct pt_caps) == PT_CPUID_WORDS * sizeof(u32));
	return pt_caps_get((const struct pt_caps *)caps, cap);
}
EXPORT_SYMBOL_FOR_KVM(intel_pt_validate_cap);

/**
 * intel_pt_validate_hw_cap - get a capability of this machine
 * @cap: the capability
 *
 * Return: the value that all CPUs have in common
 */
u32 intel_pt_validate_hw_cap(enum pt_capabilities cap)
{
	return pt_caps_get(&pt_pmu.caps, cap);
}
EXPORT_SYMBOL_FOR_KVM(intel_pt_validate_hw_cap);

/**
 * is_intel_pt_event - check whether an event belongs to this PMU
 * @trace: any event
 *
 * Return: 1 or 0
 */
int is_intel_pt_event(struct perf_event *trace)
{
	return trace->pmu == &pt_pmu.pmu;
}

/* Hardware that cannot use several regions needs a contiguous area. */
static int pt_area_capabilities(void)
{
	return pt_caps_get(&pt_pmu.caps, PT_CAP_topa_multiple_entries) ?
	       PERF_PMU_CAP_AUX_PREFER_LARGE : PERF_PMU_CAP_AUX_NO_SG;
}

static int __init pt_init(void)
{
	int ret;

	if (!boot_cpu_has(X86_FEATURE_INTEL_PT))
		return -ENODEV;

	ret = pt_cpu_init();
	if (ret)
		return ret;

	pt_sysfs_init();
	pt_pmu.pmu = (struct pmu) {
		.capabilities	= PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE |
				  PERF_PMU_CAP_AUX_PAUSE |
				  PERF_PMU_CAP_AUX_ANY_SIZE |
				  pt_area_capabilities(),
		.attr_groups	= pt_attr_groups,
		.task_ctx_nr	= perf_sw_context,
		.event_init	= pt_pmu_init,
		.add		= pt_pmu_add,
		.del		= pt_pmu_del,
		.start		= pt_pmu_start,
		.stop		= pt_pmu_stop,
		.read		= pt_pmu_read,
		.setup_aux	= pt_setup_aux,
		.free_aux	= pt_free_aux,
		.snapshot_aux	= pt_pmu_snapshot,
		.addr_filters_validate = pt_filters_validate,
		.addr_filters_sync = pt_filters_sync,
		.nr_addr_filters = pt_filters_max(),
	};
	ret = perf_pmu_register(&pt_pmu.pmu, "intel_pt", -1);
	if (ret)
		pt_cpu_exit();
	return ret;
}
arch_initcall(pt_init);
