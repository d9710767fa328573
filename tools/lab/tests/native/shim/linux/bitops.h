/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_BITOPS_H
#define SHIM_LINUX_BITOPS_H

#define __ffs(word)		((unsigned int)__builtin_ctzl(word))
#define test_bit(bit, word)	(*(word) >> (bit) & 1)

#endif
