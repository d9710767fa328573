/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of the debug store that is about branches. */
#ifndef SHIM_ASM_INTEL_DS_H
#define SHIM_ASM_INTEL_DS_H

#include <linux/types.h>

struct debug_store {
	u64 bts_buffer_base;
	u64 bts_index;
	u64 bts_absolute_maximum;
	u64 bts_interrupt_threshold;
};

#endif
