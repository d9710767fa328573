/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CONFIG_DEBUG_PERF_AUX: check that no CPU leaves a PMU disabled.
 *
 * perf disables a PMU while it changes which of its events run. These changes nest:
 * a PMU has a count on each CPU of how often it is disabled. Events may be disabled in
 * the middle, for example because an AUX area is full. If a change does not enable a PMU
 * that it disabled, this PMU counts nothing on the CPU until the machine is rebooted, not
 * even for events that are opened later.
 */
#ifndef _KERNEL_EVENTS_AUX_DEBUG_H
#define _KERNEL_EVENTS_AUX_DEBUG_H

#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/percpu.h>

/*
 * Sum of the counts of all PMUs; changed by its CPU with interrupts off, or by code that
 * an interrupt leaves as it found it.
 */
DECLARE_PER_CPU(int, perf_debug_disabled);

#ifdef CONFIG_DEBUG_PERF_AUX

static inline void perf_debug_pmu_disable(void)
{
	this_cpu_inc(perf_debug_disabled);
}

/* @count: how often the PMU is disabled, before it is enabled once */
static inline void perf_debug_pmu_enable(int count)
{
	WARN_ONCE(count <= 0, "perf: a PMU is enabled that is not disabled\n");
	this_cpu_dec(perf_debug_disabled);
}

static inline int perf_debug_begin(void)
{
	return this_cpu_read(perf_debug_disabled);
}

static inline void perf_debug_end(const int *before)
{
	int now = this_cpu_read(perf_debug_disabled);

	WARN_ONCE(now != *before, "perf: PMUs are disabled %d times, and were %d times before\n",
		  now, *before);
}

/* No change goes on while the CPU switches to another task. */
static inline void perf_debug_switch(void)
{
	int now = this_cpu_read(perf_debug_disabled);

	WARN_ONCE(now, "perf: PMUs are disabled %d times between two switches\n", now);
}

/*
 * The last declaration of a function that runs on one CPU: warn if it does not leave PMUs
 * disabled as often as they were when it began.
 */
#define perf_debug_check() \
	int disabled_before __cleanup(perf_debug_end) = perf_debug_begin()

#else /* !CONFIG_DEBUG_PERF_AUX */

static inline void perf_debug_pmu_disable(void) { }
static inline void perf_debug_pmu_enable(int count) { }
static inline void perf_debug_switch(void) { }
#define perf_debug_check() do { } while (0)

#endif /* CONFIG_DEBUG_PERF_AUX */

#endif /* _KERNEL_EVENTS_AUX_DEBUG_H */
