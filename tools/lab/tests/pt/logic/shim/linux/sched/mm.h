/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_SCHED_MM_H
#define SHIM_LINUX_SCHED_MM_H

#include <linux/sched.h>

/* Users of what is in the memory, and of its page table, count alike here. */
struct mm_struct *get_task_mm(struct task_struct *task);
void mmput(struct mm_struct *mm);
void mmgrab(struct mm_struct *mm);
void mmdrop(struct mm_struct *mm);

#endif
