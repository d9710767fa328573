/* SPDX-License-Identifier: GPL-2.0-only */
/* User space's limits.h reads this file as well. */
#include_next <linux/limits.h>

#ifndef U32_MAX
#define U32_MAX		((unsigned int)~0U)
#endif

#define U64_MAX		(~0UL)

#ifndef ULONG_MAX
#define ULONG_MAX	(~0UL)
#endif
