/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes, as far as the driver asks for them; process.c has them. */
#ifndef SHIM_LINUX_SCHED_H
#define SHIM_LINUX_SCHED_H

typedef int pid_t;

struct mm_struct {
	void *pgd;
	unsigned long lam;
	int count;
};

struct task_struct {
	struct mm_struct *mm;
	int count;
};

struct task_struct *find_get_task_by_vpid(pid_t pid);

#endif
