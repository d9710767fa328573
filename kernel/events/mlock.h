/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KERNEL_EVENTS_MLOCK_H
#define _KERNEL_EVENTS_MLOCK_H

#include <linux/minmax.h>

struct mm_struct;
struct user_struct;

/**
 * struct perf_mlock - what the pages of a buffer are charged to
 * @user: the user whose allowance is used (referenced), or NULL if nothing is
 *	charged
 * @mm: the mm whose pinned_vm is increased (referenced)
 * @gift: number of pages that the user's allowance pays for
 * @pinned: number of pages that count against RLIMIT_MEMLOCK
 */
struct perf_mlock {
	struct user_struct	*user;
	struct mm_struct	*mm;
	unsigned long		gift;
	unsigned long		pinned;
};

/**
 * perf_mlock_gift - how many pages a user's allowance pays for
 * @pages: number of pages that are about to be locked
 * @used: number of pages that the allowance pays for already
 * @allowance: number of pages; the administrator may have lowered it below @used
 *
 * Return: number of pages; the others are pinned memory of the process
 */
static inline unsigned long perf_mlock_gift(unsigned long pages, unsigned long used,
					    unsigned long allowance)
{
	return used < allowance ? min(pages, allowance - used) : 0;
}

int perf_mlock_charge(struct perf_mlock *charge, unsigned long pages);
void perf_mlock_uncharge(struct perf_mlock *charge);

#endif /* _KERNEL_EVENTS_MLOCK_H */
