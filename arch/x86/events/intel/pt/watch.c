// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output errors and full areas that raise no interrupt.
 *
 * An output error (SDM, "ToPA Errors", "Operational Errors") ends a trace without
 * an interrupt, and only IA32_RTIT_STATUS shows it. The driver reads the register
 * whenever it stops a trace, but the trace of a CPU may never be stopped. So each
 * CPU that traces reads it each second.
 *
 * The hardware interrupts when an area is full. But while a guest has the PMU for its
 * own (KVM's mediated vPMU), the guest gets each PMI. Then this work ends the trace and
 * wakes its reader, within a second.
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "pt.h"

#define PT_WATCH_INTERVAL	HZ

static void pt_watch(struct work_struct *work);
/* Not deferrable: the CPU that would do the work may be idle while others trace. */
static DECLARE_DELAYED_WORK(pt_watch_work, pt_watch);

/* Number of events of the PMU; the work runs while it is not 0. */
static atomic_t pt_watch_users = ATOMIC_INIT(0);

static void pt_watch_cpu(void *unused)
{
	pt_poll(this_cpu_ptr(&pt_cpu));
}

static void pt_watch(struct work_struct *work)
{
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu)
		if (READ_ONCE(per_cpu(pt_cpu, cpu).state) == PT_TRACING)
			smp_call_function_single(cpu, pt_watch_cpu, NULL, true);
	cpus_read_unlock();

	if (atomic_read(&pt_watch_users))
		schedule_delayed_work(&pt_watch_work, PT_WATCH_INTERVAL);
}

/**
 * pt_watch_get - look for output errors and full areas while an event exists
 *
 * Context: process.
 */
void pt_watch_get(void)
{
	if (atomic_inc_return(&pt_watch_users) == 1)
		schedule_delayed_work(&pt_watch_work, PT_WATCH_INTERVAL);
}

/**
 * pt_watch_put - undo pt_watch_get()
 *
 * Context: any.
 */
void pt_watch_put(void)
{
	atomic_dec(&pt_watch_users);
}
