/* SPDX-License-Identifier: GPL-2.0-only */
/* Work that is done when a test lets time go on: machine_later(). */
#ifndef SHIM_LINUX_WORKQUEUE_H
#define SHIM_LINUX_WORKQUEUE_H

#include <linux/types.h>

#define HZ	250

struct work_struct {
	void (*function)(struct work_struct *work);
};

struct delayed_work {
	struct work_struct work;
};

#define DECLARE_DELAYED_WORK(name, what) \
	struct delayed_work name = { .work.function = what }

bool schedule_delayed_work(struct delayed_work *work, unsigned long delay);

#endif
