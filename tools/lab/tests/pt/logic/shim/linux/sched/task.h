/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_SCHED_TASK_H
#define SHIM_LINUX_SCHED_TASK_H

#include <linux/sched.h>

void put_task_struct(struct task_struct *task);

#endif
