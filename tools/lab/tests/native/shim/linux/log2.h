/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_LOG2_H
#define SHIM_LINUX_LOG2_H

#include <stdbool.h>

static inline bool is_power_of_2(unsigned long n)
{
	return __builtin_popcountl(n) == 1;
}

static inline int ilog2(unsigned long n)
{
	return 8 * (int)sizeof(n) - 1 - __builtin_clzl(n);
}

#endif
