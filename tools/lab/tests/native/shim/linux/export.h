/* SPDX-License-Identifier: GPL-2.0-only */
#define EXPORT_SYMBOL_GPL(symbol)	_Static_assert(1, #symbol)
