/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KERNEL_EVENTS_MLOCK_H
#define _KERNEL_EVENTS_MLOCK_H

struct mm_struct;
struct user_struct;

/**
 * struct perf_mlock - who pays for the pages of a buffer
 * @user: whose allowance pays, referenced; NULL: nothing is charged
 * @mm: whose pinned pages grow, referenced
 * @gift: pages that the user's allowance pays for
 * @pinned: pages that count against RLIMIT_MEMLOCK of the process
 */
struct perf_mlock {
	struct user_struct	*user;
	struct mm_struct	*mm;
	unsigned long		gift;
	unsigned long		pinned;
};

int perf_mlock_charge(struct perf_mlock *charge, unsigned long pages);
void perf_mlock_uncharge(struct perf_mlock *charge);

#endif /* _KERNEL_EVENTS_MLOCK_H */
