/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_BUG_H
#define SHIM_LINUX_BUG_H

#include <linux/types.h>

/* Each time, not once: a test that does not expect it fails. */
void shim_warn_on(const char *condition);

#define WARN_ON_ONCE(condition) ({					\
	bool shim_is = (condition);					\
	if (shim_is)							\
		shim_warn_on(#condition);				\
	shim_is; })

#endif
