/* SPDX-License-Identifier: GPL-2.0-only */
#define SZ_1M		(1UL << 20)
