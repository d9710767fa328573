/* SPDX-License-Identifier: GPL-2.0-only */
/* User space's errno.h reads this file as well: nothing but the numbers. */
#include <asm/errno.h>
