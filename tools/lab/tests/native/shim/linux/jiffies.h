/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_JIFFIES_H
#define SHIM_LINUX_JIFFIES_H

/* Time goes on where a test says so. */
extern unsigned long jiffies;

#define time_is_before_jiffies(then)	((long)((then) - jiffies) < 0)

#endif
