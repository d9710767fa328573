/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _INTEL_PT_CAPS_H
#define _INTEL_PT_CAPS_H

#include <linux/types.h>

/* used by <asm/intel_pt.h> */
struct perf_event;

#include <asm/intel_pt.h>

#define PT_CPUID_WORDS	(PT_CPUID_LEAVES * PT_CPUID_REGS_NUM)
#define PT_NR_CAPS	(PT_CAP_psb_periods + 1)

/**
 * struct pt_caps - CPUID leaf 14H of a CPU, or what several CPUs have in common
 * @word: EAX, EBX, ECX and EDX of each sub-leaf
 */
struct pt_caps {
	u32 word[PT_CPUID_WORDS];
};

u32 pt_caps_get(const struct pt_caps *caps, enum pt_capabilities cap);
const char *pt_caps_name(enum pt_capabilities cap);
bool pt_caps_cover(const struct pt_caps *caps, const struct pt_caps *needed);
bool pt_caps_meet(struct pt_caps *caps, const struct pt_caps *other);

#endif /* _INTEL_PT_CAPS_H */
