// SPDX-License-Identifier: GPL-2.0-only
/*
 * An AUX PMU without hardware, to measure what the AUX core costs its drivers,
 * and to behave as other drivers do.
 *
 * Without config1 it behaves as a tracer: a transaction is open while the event
 * runs, and "writes" config bytes. Nothing is really written: what the pages
 * hold does not matter here.
 *
 * With config1 it opens and closes that many transactions, of config bytes each,
 * when the event is started with a count of 0, and is idle from then on. The
 * event's count is then what they took by the CPU's cycle counter, which counts
 * instructions where the machine has such a clock; it stays 0 if one of them did
 * not do as config2 says.
 *
 * Full-trace mode only.
 */
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/timex.h>

#include "aux_bench.h"

struct bench_area {
	void	**addresses;
	int	count;
};

static DEFINE_PER_CPU(struct perf_output_handle, bench_output);

static void *bench_setup_aux(struct perf_event *event, void **addresses, int count,
			     bool overwrite)
{
	struct bench_area *area = overwrite ? NULL : kmalloc(sizeof(*area), GFP_KERNEL);

	if (area)
		*area = (struct bench_area) { .addresses = addresses, .count = count };
	return area;
}

static void bench_free_aux(void *area)
{
	kfree(area);
}

static void bench_touch(struct bench_area *area)
{
	int i;

	for (i = 0; i < area->count; i++)
		*(u8 *)area->addresses[i] = 1;
}

static void bench_end(struct perf_output_handle *output)
{
	u64 size = min_t(u64, output->event->attr.config, output->size);

	perf_aux_output_end(output, size);
}

static u64 bench_pair(struct perf_output_handle *output,
		      struct perf_event *event, unsigned int *opened)
{
	u64 ticks;

	aux_bench_mark(event->attr.config2 >> AUX_BENCH_ROW_SHIFT);
	ticks = get_cycles();
	if (perf_aux_output_begin(output, event)) {
		bench_end(output);
		++*opened;
	}
	ticks = get_cycles() - ticks;
	aux_bench_mark(AUX_BENCH_NONE);
	return ticks;
}

static void bench_measure(struct perf_event *event)
{
	unsigned int pairs = event->attr.config1, opened = 0, expected = pairs;
	u64 sum = 0, empty;
	unsigned int i;

	empty = get_cycles();
	empty = get_cycles() - empty;
	for (i = 0; i < pairs; i++)
		sum += bench_pair(this_cpu_ptr(&bench_output), event, &opened) - empty;

	if (event->attr.config2 & AUX_BENCH_FULL)
		expected = 0;
	local64_set(&event->count, opened == expected ? sum : 0);
}

/* So long a driver may go on in its interrupt after the end of a transaction. */
#define BENCH_AFTER_USEC	100

static void bench_after(struct irq_work *work)
{
	struct perf_output_handle *output = this_cpu_ptr(&bench_output);
	struct bench_area *area = perf_get_aux(output);

	if (!area)
		return;
	bench_end(output);
	udelay(BENCH_AFTER_USEC);
	bench_touch(area);
}

/* Initialized at run time: modules have no relocations in per-CPU data. */
static DEFINE_PER_CPU(struct irq_work, bench_after_work);

static void bench_start(struct perf_event *event, int mode)
{
	struct perf_output_handle *output = this_cpu_ptr(&bench_output);

	event->hw.state = 0;
	if (!event->attr.config1)
		event->pmu_private = perf_aux_output_begin(output, event);
	else if (!local64_read(&event->count))
		bench_measure(event);
	if (event->attr.config2 & AUX_BENCH_LATE && perf_get_aux(output))
		bench_end(output);
}

static void bench_stop(struct perf_event *event, int mode)
{
	struct perf_output_handle *output = this_cpu_ptr(&bench_output);

	if (event->hw.state & PERF_HES_STOPPED)
		return;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (event->attr.config2 & AUX_BENCH_LATE && event->pmu_private)
		bench_touch(event->pmu_private);
	event->pmu_private = NULL;
	if (event->attr.config2 & AUX_BENCH_AFTER && perf_get_aux(output)) {
		irq_work_queue(this_cpu_ptr(&bench_after_work));
		return;
	}
	if (!(event->attr.config2 & AUX_BENCH_KEEP) && perf_get_aux(output))
		bench_end(output);
}

static int bench_add(struct perf_event *event, int mode)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (mode & PERF_EF_START)
		bench_start(event, mode);
	return 0;
}

static void bench_del(struct perf_event *event, int mode)
{
	struct perf_output_handle *output = this_cpu_ptr(&bench_output);

	bench_stop(event, PERF_EF_UPDATE);
	if (perf_get_aux(output))
		bench_end(output);
}

static void bench_read(struct perf_event *event)
{
	/* The count is set while the event is started. */
}

static struct pmu bench_pmu;

static int bench_event_init(struct perf_event *event)
{
	return event->attr.type == bench_pmu.type ? 0 : -ENOENT;
}

static struct pmu bench_pmu = {
	.module		= THIS_MODULE,
	.capabilities	= PERF_PMU_CAP_EXCLUSIVE,
	.task_ctx_nr	= perf_sw_context,
	.event_init	= bench_event_init,
	.add		= bench_add,
	.del		= bench_del,
	.start		= bench_start,
	.stop		= bench_stop,
	.read		= bench_read,
	.setup_aux	= bench_setup_aux,
	.free_aux	= bench_free_aux,
};

static int __init bench_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(bench_after_work, cpu) = IRQ_WORK_INIT_HARD(bench_after);
	return perf_pmu_register(&bench_pmu, "aux_bench", -1);
}
module_init(bench_init);

static void __exit bench_exit(void)
{
	perf_pmu_unregister(&bench_pmu);
}
module_exit(bench_exit);

MODULE_DESCRIPTION("AUX PMU without hardware, for benchmarks and tests");
MODULE_LICENSE("GPL");
