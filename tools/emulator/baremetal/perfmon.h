/* SPDX-License-Identifier: GPL-2.0-only */
/* The registers of the performance monitor (SDM volume 3, "Performance Monitoring"). */
#ifndef PERFMON_H
#define PERFMON_H

#include "pt.h"

#define MSR_PMC(n)		(0xc1 + (n))
#define MSR_EVNTSEL(n)		(0x186 + (n))
#define MSR_FIXED_CTR(n)	(0x309 + (n))
#define MSR_PERF_CAPABILITIES	0x345
#define MSR_FIXED_CTR_CTRL	0x38d
#define MSR_PEBS_ENABLE		0x3f1
#define MSR_PEBS_DATA_CFG	0x3f2
#define MSR_RELOAD_PMC(n)	(0x14c1 + (n))

#define EVNTSEL_USR		BIT(16)
#define EVNTSEL_OS		BIT(17)
#define EVNTSEL_INT		BIT(20)
#define EVNTSEL_EN		BIT(22)
#define EVNTSEL_ADAPTIVE	BIT(34)
#define EVENT_CYCLES		0x003c
#define EVENT_REF_CYCLES	0x013c
#define EVENT_INSTRUCTIONS	0x00c0
#define EVENT_BRANCHES		0x00c4
#define EVENT_BRANCHES_TAKEN	0x20c4

#define FIXED_OS		BIT(0)
#define FIXED_USR		BIT(1)
#define FIXED_PMI		BIT(3)
#define FIXED_CTRL(n, flags)	((flags) << (4 * (n)))
#define GLOBAL_PMC(n)		BIT(n)
#define GLOBAL_FIXED(n)		BIT(32 + (n))

#define MISC_NO_PEBS		BIT(12)
#define DEBUG_STORE		((struct debug_store *)ARENA)

/* The DS management area: eight bytes each, those of branch records first. */
struct debug_store {
	u64 branches[4];
	u64 base, index, maximum, threshold, reset[11];
};

/* Numbers of counters, and the bits that they have. */
extern u32 counters, fixed;
extern u64 counter_mask, fixed_mask;

/* Returns the version of the performance monitor, 0: there is none. */
u32 perfmon_init(void);
/* All counters off and zero, no overflow in the status. */
void perfmon_reset(void);

#endif
