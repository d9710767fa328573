/* SPDX-License-Identifier: GPL-2.0-only */
#define VISIBLE_IF_KUNIT
#define EXPORT_SYMBOL_IF_KUNIT(symbol)	_Static_assert(1, #symbol)
