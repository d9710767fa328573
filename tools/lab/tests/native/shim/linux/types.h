/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's short names of types. */
#ifndef SHIM_LINUX_TYPES_H
#define SHIM_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>

typedef __u8 u8;
typedef __u32 u32;
/* As printf() has it, not <asm/types.h>: size and sign are the same. */
typedef unsigned long u64;

_Static_assert(sizeof(u64) == 8, "the tests are made for a 64-bit machine");

#endif
