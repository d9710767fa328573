// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel Processor Trace as a PMU.
 */
#include <linux/cpufeature.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <asm/intel_pt.h>

#include "../../perf_event.h"
#include "config.h"
#include "pt.h"

struct pt_pmu pt_pmu;

/* Change what the event of this CPU does, if it is this one. */
static void pt_resettle(struct pt *pt, struct perf_event *trace)
{
	/* Who is at it already will see what the event wants. */
	if (pt->handle.event == trace && pt_take(pt))
		pt_settle(pt);
}

static void pt_pmu_start(struct perf_event *trace, int flags)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);
	struct hw_perf_event *hw = &trace->hw;
	bool open = !(hw->state & PERF_HES_UPTODATE);

	/* hw_perf_event::aux_paused says what is wanted. */
	if (flags & PERF_EF_RESUME) {
		pt_resettle(pt, trace);
		return;
	}

	/* Stopped without an update, it has its transaction still. */
	if (open) {
		hw->state = 0;
		pt_resettle(pt, trace);
		return;
	}

	if (hw->addr_filters)
		perf_event_addr_filters_sync(trace);
	hw->state = 0;
	if (pt_begin(pt, trace))
		pt_settle(pt);
	else
		hw->state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static void pt_pmu_stop(struct perf_event *trace, int flags)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);
	struct pt_buffer *buf;

	if (flags & PERF_EF_PAUSE) {
		pt_resettle(pt, trace);
		return;
	}

	trace->hw.state |= PERF_HES_STOPPED;
	/* Without a transaction all that it wrote has been told already. */
	if (pt->handle.event != trace || !pt_take(pt))
		return;

	/* In overwrite mode it may be sampled until it is stopped for good. */
	buf = perf_get_aux(&pt->handle);
	if (!(flags & PERF_EF_UPDATE) && buf->overwrite) {
		pt_settle(pt);
		return;
	}
	pt_end(pt);
	trace->hw.state |= PERF_HES_UPTODATE;
}

static int pt_pmu_add(struct perf_event *trace, int flags)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);

	if (pt->lacking)
		return -ENODEV;
	/* Events are exclusive, so perf has no other here; it would be forgotten. */
	if (READ_ONCE(pt->state) != PT_IDLE)
		return -EBUSY;

	trace->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (!(flags & PERF_EF_START))
		return 0;
	pt_pmu_start(trace, 0);
	return trace->hw.state & PERF_HES_STOPPED ? -EINVAL : 0;
}

static void pt_pmu_del(struct perf_event *trace, int flags)
{
	pt_pmu_stop(trace, PERF_EF_UPDATE);
}

/*
 * Nothing is counted. But in a trace that nothing ever stops, who reads it may be
 * the first who finds that it has ended.
 */
static void pt_pmu_read(struct perf_event *trace)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);

	if (pt->handle.event == trace)
		pt_look(pt);
}

/**
 * pt_pmu_snapshot - pmu::snapshot_aux(): copy the newest data to a sample
 * @trace: the event
 * @record: the sample
 * @size: bytes
 *
 * Context: NMI possibly, on the CPU of the event.
 *
 * Return: bytes copied; 0 if the trace is being changed by who was interrupted
 */
static long pt_pmu_snapshot(struct perf_event *trace,
			    struct perf_output_handle *record,
			    unsigned long size)
{
	struct pt *pt = this_cpu_ptr(&pt_cpu);
	long copied = 0;
	u64 head;

	if (pt->handle.event != trace || !pt_take(pt))
		return 0;

	head = pt_read_head(pt);
	/* Modulo the size of the area, which is a power of two. */
	copied = perf_output_copy_aux(&pt->handle, record, head - size, head);
	pt_check(pt);
	pt_settle(pt);
	return copied;
}

static void pt_pmu_destroy(struct perf_event *trace)
{
	pt_filters_free(trace);
	pt_process_clear(trace);
	x86_del_exclusive(x86_lbr_exclusive_pt);
}

static int pt_pmu_init(struct perf_event *trace)
{
	struct perf_event_attr *attr = &trace->attr;
	int ret = -ENOENT;

	if (pt_pmu.pmu.type != attr->type)
		return ret;
	if (trace->cpu >= 0 && per_cpu(pt_cpu, trace->cpu).lacking)
		return -ENODEV;

	ret = pt_config_check(attr->config, &pt_pmu.caps,
			      pt_pmu.quirks & PT_QUIRK_ALWAYS_BRANCHES);
	if (ret)
		return ret;
	/* IA32_RTIT_CTL; TraceEn is set from the first start on. */
	trace->hw.aux_config = pt_config_ctl(attr->config, !attr->exclude_user,
					     !attr->exclude_kernel);

	if (x86_add_exclusive(x86_lbr_exclusive_pt))
		return -EBUSY;
	ret = pt_filters_alloc(trace);
	if (!ret)
		ret = pt_process_set(trace);
	if (ret) {
		pt_filters_free(trace);
		x86_del_exclusive(x86_lbr_exclusive_pt);
		return ret;
	}
	trace->destroy = pt_pmu_destroy;
	return 0;
}

/**
 * intel_pt_validate_cap - a capability out of CPUID leaf 14H
 * @caps: PT_CPUID_LEAVES times EAX, EBX, ECX and EDX
 * @cap: which
 *
 * Return: its value
 */
u32 intel_pt_validate_cap(u32 *caps, enum pt_capabilities cap)
{
	/* struct pt_caps has nothing else. */
	static_assert(sizeof(struct pt_caps) == PT_CPUID_WORDS * sizeof(u32));
	return pt_caps_get((const struct pt_caps *)caps, cap);
}
EXPORT_SYMBOL_GPL(intel_pt_validate_cap);

/**
 * intel_pt_validate_hw_cap - a capability of this machine
 * @cap: which
 *
 * Return: its value, of what all CPUs have in common
 */
u32 intel_pt_validate_hw_cap(enum pt_capabilities cap)
{
	return pt_caps_get(&pt_pmu.caps, cap);
}
EXPORT_SYMBOL_GPL(intel_pt_validate_hw_cap);

/**
 * is_intel_pt_event - whether an event is a trace of this PMU
 * @trace: any
 *
 * Return: not 0 if it is
 */
int is_intel_pt_event(struct perf_event *trace)
{
	return trace->pmu == &pt_pmu.pmu;
}

/* How areas are allocated: in one piece, where hardware cannot use more. */
static int pt_area_capabilities(void)
{
	if (pt_caps_get(&pt_pmu.caps, PT_CAP_topa_output) &&
	    pt_caps_get(&pt_pmu.caps, PT_CAP_topa_multiple_entries))
		return PERF_PMU_CAP_AUX_PREFER_LARGE;
	return PERF_PMU_CAP_AUX_NO_SG;
}

static int __init pt_init(void)
{
	int ret;

	if (!boot_cpu_has(X86_FEATURE_INTEL_PT))
		return -ENODEV;

	ret = pt_cpu_init();
	if (ret)
		return ret;

	if (!pt_caps_get(&pt_pmu.caps, PT_CAP_topa_output) &&
	    !pt_caps_get(&pt_pmu.caps, PT_CAP_single_range_output)) {
		pr_warn("Intel PT: no output to memory on these CPUs\n");
		return -ENODEV;
	}

	pt_sysfs_init();
	pt_pmu.pmu = (struct pmu) {
		.capabilities	= PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE |
				  PERF_PMU_CAP_AUX_PAUSE |
				  PERF_PMU_CAP_AUX_HUGE |
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
		.nr_addr_filters = pt_filters_most(),
	};
	return perf_pmu_register(&pt_pmu.pmu, "intel_pt", -1);
}
arch_initcall(pt_init);
