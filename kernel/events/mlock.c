// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting of the pages that perf buffers lock.
 *
 * Each user has an allowance of perf_event_mlock_kb per CPU. Pages beyond it are
 * pinned memory of the process and count against RLIMIT_MEMLOCK. struct
 * perf_mlock remembers which user and which mm were charged, and how much, so
 * that exactly this is given back, whichever process unmaps the buffer last.
 */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/spinlock.h>

#include "mlock.h"

/*
 * Serializes charges. Two buffers that are mapped at the same time then cannot
 * use the same allowance, and a charge that is refused is never visible.
 */
static DEFINE_SPINLOCK(perf_mlock_lock);

static unsigned long perf_mlock_allowance(void)
{
	unsigned long kib = sysctl_perf_event_mlock;

	return (kib >> (PAGE_SHIFT - 10)) * num_online_cpus();
}

/* Other subsystems change pinned_vm as well, and without this lock. */
static bool perf_mlock_pin(struct mm_struct *mm, unsigned long pages,
			   unsigned long limit)
{
	s64 pinned = atomic64_read(&mm->pinned_vm);

	do {
		if (pinned + pages > limit)
			return false;
	} while (!atomic64_try_cmpxchg(&mm->pinned_vm, &pinned, pinned + pages));
	return true;
}

static bool perf_mlock_try(struct perf_mlock *charge, unsigned long pages,
			   unsigned long limit)
{
	unsigned long allowance = perf_mlock_allowance();
	atomic_long_t *gifts = &charge->user->perf_mlock;
	bool charged;

	spin_lock(&perf_mlock_lock);
	charge->gift = perf_mlock_gift(pages, atomic_long_read(gifts), allowance);
	charge->pinned = pages - charge->gift;
	charged = perf_mlock_pin(charge->mm, charge->pinned, limit);
	if (charged)
		atomic_long_add(charge->gift, gifts);
	spin_unlock(&perf_mlock_lock);
	return charged;
}

/**
 * perf_mlock_charge - charge pages to current's user and mm
 * @charge: says who paid; to be passed to perf_mlock_uncharge()
 * @pages: number of pages; to be charged before they are allocated
 *
 * Context: process.
 *
 * Return: 0. If the pages exceed both the allowance and RLIMIT_MEMLOCK, and the
 * process has no privilege (CAP_IPC_LOCK, or perf_event_paranoid < 0): -EPERM, and
 * nothing is charged.
 */
int perf_mlock_charge(struct perf_mlock *charge, unsigned long pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	bool charged;

	charge->user = current_user();
	charge->mm = current->mm;

	charged = perf_mlock_try(charge, pages, limit);
	/* capable() may be audited: ask only if the answer matters. */
	if (!charged && (!perf_is_paranoid() || capable(CAP_IPC_LOCK)))
		charged = perf_mlock_try(charge, pages, ULONG_MAX);
	if (!charged) {
		*charge = (struct perf_mlock) { };
		return -EPERM;
	}

	get_uid(charge->user);
	mmgrab(charge->mm);
	return 0;
}

/**
 * perf_mlock_uncharge - give back what perf_mlock_charge() charged
 * @charge: from perf_mlock_charge(), or zeroed; zeroed on return
 *
 * Context: process; any process may call this.
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
