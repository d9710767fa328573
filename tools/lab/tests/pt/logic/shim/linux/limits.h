/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_LIMITS_H
#define SHIM_LINUX_LIMITS_H

#include_next <linux/limits.h>

#define U64_MAX		(~0ULL)

#endif
