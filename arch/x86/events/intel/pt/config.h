/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_event_attr::config of Processor Trace: which values a CPU can do, and
 * IA32_RTIT_CTL for them.
 *
 * Its bits are those of the register, but for TraceEn, which is the driver's.
 * In its place stands PT_CONFIG_PT: without it branches are always traced, as
 * the first drivers did; with it BranchEn says whether they are.
 *
 * Nothing here needs a kernel; the file is compiled and tested in user space too.
 */
#ifndef _INTEL_PT_CONFIG_H
#define _INTEL_PT_CONFIG_H

#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/kernel.h>

#include <asm/msr-index.h>

#include "caps.h"

#define PT_CONFIG_PT	RTIT_CTL_TRACEEN

/* Terms that any CPU can do */
#define PT_CONFIG_BASIC	(PT_CONFIG_PT | RTIT_CTL_TSC_EN | RTIT_CTL_DISRETC | \
			 RTIT_CTL_BRANCH_EN)

/**
 * struct pt_term - bits of the configuration that need a capability
 * @bits: of which any may be set
 * @cap: where that is not 0
 */
struct pt_term {
	u64			bits;
	enum pt_capabilities	cap;
};

static const struct pt_term pt_terms[] = {
	{ RTIT_CTL_CYCLEACC | RTIT_CTL_CYC_THRESH | RTIT_CTL_PSB_FREQ,
	  PT_CAP_psb_cyc },
	{ RTIT_CTL_MTC_EN | RTIT_CTL_MTC_RANGE, PT_CAP_mtc },
	{ RTIT_CTL_PTW_EN | RTIT_CTL_FUP_ON_PTW, PT_CAP_ptwrite },
	{ RTIT_CTL_PWR_EVT_EN, PT_CAP_power_event_trace },
	{ RTIT_CTL_EVENT_EN, PT_CAP_event_trace },
	{ RTIT_CTL_NOTNT, PT_CAP_tnt_disable },
};

/* The bits of the configuration that a CPU can do. */
static inline u64 pt_config_known(const struct pt_caps *caps)
{
	u64 known = PT_CONFIG_BASIC;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pt_terms); i++)
		if (pt_caps_get(caps, pt_terms[i].cap))
			known |= pt_terms[i].bits;
	return known;
}

/*
 * Whether each period is one that the CPU can do. 0 is what a register holds
 * whose period nobody set; of MTC only a CPU that has it at all is asked.
 */
static inline bool pt_config_periods_valid(u64 config, const struct pt_caps *caps)
{
	u32 cyc = pt_caps_get(caps, PT_CAP_cycle_thresholds) | BIT(0);
	u32 psb = pt_caps_get(caps, PT_CAP_psb_periods) | BIT(0);
	u32 mtc = pt_caps_get(caps, PT_CAP_mtc_periods);

	if (!(config & (RTIT_CTL_MTC_EN | RTIT_CTL_MTC_RANGE)))
		mtc = BIT(0);
	return cyc & BIT(FIELD_GET(RTIT_CTL_CYC_THRESH, config)) &&
	       psb & BIT(FIELD_GET(RTIT_CTL_PSB_FREQ, config)) &&
	       mtc & BIT(FIELD_GET(RTIT_CTL_MTC_RANGE, config));
}

/**
 * pt_config_check - whether an event's configuration is one that works
 * @config: perf_event_attr::config
 * @caps: of the CPUs
 * @always_branches: a quirk, see pt_quirks
 *
 * What a CPU does not know would be a #GP at the first switch to the task.
 *
 * Return: 0 or -EINVAL, as the uABI has it for all of them
 */
static inline int pt_config_check(u64 config, const struct pt_caps *caps,
				  bool always_branches)
{
	bool branches = config & RTIT_CTL_BRANCH_EN;

	if (config & ~pt_config_known(caps) ||
	    !pt_config_periods_valid(config, caps))
		return -EINVAL;

	/* An IP for each PTWRITE that is not traced */
	if (config & RTIT_CTL_FUP_ON_PTW && !(config & RTIT_CTL_PTW_EN))
		return -EINVAL;

	if (config & PT_CONFIG_PT)
		return always_branches && !branches ? -EINVAL : 0;
	return branches ? -EINVAL : 0;
}

/**
 * pt_config_ctl - IA32_RTIT_CTL for a configuration
 * @config: perf_event_attr::config, checked
 * @user: trace user space
 * @kernel: trace the kernel
 *
 * Return: the register, but for the output, filters and TraceEn
 */
static inline u64 pt_config_ctl(u64 config, bool user, bool kernel)
{
	u64 ctl = config & ~PT_CONFIG_PT;

	if (!(config & PT_CONFIG_PT))
		ctl |= RTIT_CTL_BRANCH_EN;
	if (user)
		ctl |= RTIT_CTL_USR;
	if (kernel)
		ctl |= RTIT_CTL_OS;
	return ctl;
}

#endif /* _INTEL_PT_CONFIG_H */
