// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace of a CPU, of one process alone: CR3 filtering (Intel SDM, "Filtering
 * by CR3").
 *
 * The event of a task is started and stopped at each switch. That of a CPU runs
 * all the time, and hardware itself sees by CR3 whether the process does: then a
 * switch costs nothing, whatever threads the process has.
 *
 * CR3 names a page and not a process: so the event keeps the process's page
 * table, and nobody else can get that page as long as the event is there.
 */
#include <linux/bitfield.h>
#include <linux/cpufeature.h>
#include <linux/io.h>
#include <linux/mmu_context.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>

#include "pt.h"

/* perf_event_attr::config1 */
#define PT_CONFIG1_PROCESS	GENMASK_ULL(31, 0)

/* The memory of a process; it is kept, but what is in it may go. */
static struct mm_struct *pt_grab_process(pid_t pid)
{
	struct task_struct *task = find_get_task_by_vpid(pid);
	struct mm_struct *mm;

	if (!task)
		return NULL;
	mm = get_task_mm(task);
	put_task_struct(task);
	if (mm) {
		mmgrab(mm);
		mmput(mm);
	}
	return mm;
}

/**
 * pt_process_set - let an event be of the process that user space asks for
 * @event: a new one
 *
 * Page table isolation gives a process two values of CR3, linear address masking
 * changes the one it has; hardware compares with one.
 *
 * Context: process, may sleep.
 *
 * Return: 0, also if it asks for none; or an error:
 *
 * * -EINVAL: hardware has no such filter, or the event is a task's already
 * * -EOPNOTSUPP: the process has not one CR3
 * * -ESRCH: there is no such process
 */
int pt_process_set(struct perf_event *event)
{
	u64 asked = event->attr.config1;
	struct mm_struct *mm;

	if (!asked)
		return 0;
	if (asked & ~PT_CONFIG1_PROCESS || event->attach_state & PERF_ATTACH_TASK ||
	    !pt_caps_get(&pt_pmu.caps, PT_CAP_cr3_filtering))
		return -EINVAL;
	if (boot_cpu_has(X86_FEATURE_PTI))
		return -EOPNOTSUPP;

	mm = pt_grab_process(FIELD_GET(PT_CONFIG1_PROCESS, asked));
	if (!mm)
		return -ESRCH;
	if (mm_lam_cr3_mask(mm)) {
		mmdrop(mm);
		return -EOPNOTSUPP;
	}
	event->pmu_private = mm;
	event->hw.aux_config |= RTIT_CTL_CR3EN;
	return 0;
}

/**
 * pt_process_clear - undo pt_process_set()
 * @event: it is not used any more
 */
void pt_process_clear(struct perf_event *event)
{
	struct mm_struct *mm = event->pmu_private;

	if (mm)
		mmdrop(mm);
}

/**
 * pt_process_cr3 - IA32_RTIT_CR3_MATCH of an event that is of a process
 * @event: whose
 *
 * The CPU compares without the lowest bits: those have the PCID, which differs
 * from CPU to CPU.
 *
 * Return: the register
 */
u64 pt_process_cr3(const struct perf_event *event)
{
	const struct mm_struct *mm = event->pmu_private;

	return virt_to_phys(mm->pgd);
}
