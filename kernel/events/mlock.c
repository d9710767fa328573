// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting of the pages that perf's buffers lock.
 *
 * Each user has an allowance, perf_event_mlock_kb for each CPU; what is beyond
 * it counts as pinned by the process, against RLIMIT_MEMLOCK. Who was charged
 * is remembered with the pages, so that exactly that is given back, whichever
 * process unmaps them last.
 */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>

#include "aux/arith.h"
#include "mlock.h"

static unsigned long perf_mlock_allowance(void)
{
	unsigned long kib = sysctl_perf_event_mlock;

	return (kib >> (PAGE_SHIFT - 10)) * num_online_cpus();
}

/**
 * perf_mlock_charge - account for pages before they are allocated
 * @charge: remembers who paid; give it to perf_mlock_uncharge()
 * @pages: how many
 *
 * Charges current's user and mm. Context: process.
 *
 * Charging comes first and is taken back on a failure, so two mappings that
 * are made at the same time cannot both slip below a limit.
 *
 * Return: 0, or -EPERM beyond RLIMIT_MEMLOCK
 */
int perf_mlock_charge(struct perf_mlock *charge, unsigned long pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	unsigned long used;

	charge->user = get_current_user();
	charge->mm = current->mm;
	mmgrab(charge->mm);

	used = atomic_long_add_return(pages, &charge->user->perf_mlock);
	charge->pinned = perf_mlock_split(used, perf_mlock_allowance(), pages);
	charge->gift = pages - charge->pinned;
	atomic_long_sub(charge->pinned, &charge->user->perf_mlock);

	if (atomic64_add_return(charge->pinned, &charge->mm->pinned_vm) > limit &&
	    perf_is_paranoid() && !capable(CAP_IPC_LOCK)) {
		perf_mlock_uncharge(charge);
		return -EPERM;
	}
	return 0;
}

/**
 * perf_mlock_uncharge - give back what perf_mlock_charge() took
 * @charge: what was charged, if anything
 *
 * Context: process; the caller may be any process.
 */
void perf_mlock_uncharge(struct perf_mlock *charge)
{
	if (!charge->user)
		return;

	atomic_long_sub(charge->gift, &charge->user->perf_mlock);
	atomic64_sub(charge->pinned, &charge->mm->pinned_vm);
	mmdrop(charge->mm);
	free_uid(charge->user);
	*charge = (struct perf_mlock) { };
}
