/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_BITFIELD_H
#define SHIM_LINUX_BITFIELD_H

#define SHIM_SHIFT(mask)	__builtin_ctzll(mask)

#define FIELD_GET(mask, from) \
	((__typeof__(mask))(((from) & (mask)) >> SHIM_SHIFT(mask)))
#define FIELD_PREP(mask, value) \
	(((__typeof__(mask))(value) << SHIM_SHIFT(mask)) & (mask))

#endif
