/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_RCUPDATE_H
#define SHIM_LINUX_RCUPDATE_H

#define rcu_read_lock()			((void)0)
#define rcu_read_unlock()		((void)0)

#endif
