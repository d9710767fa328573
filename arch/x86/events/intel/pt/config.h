/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_event_attr::config of Processor Trace: which values are valid, and the
 * value of IA32_RTIT_CTL for them.
 *
 * The bits are those of the register, except bit 0. There, the register has
 * TraceEn, which the driver controls, and the configuration has PT_CONFIG_PT:
 * without it branches are always traced, which is what the first version of the
 * uABI did; with it, BranchEn decides.
 *
 * This file calls no kernel function, so that user-space tests can compile it.
 */
#ifndef _INTEL_PT_CONFIG_H
#define _INTEL_PT_CONFIG_H

#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/kernel.h>

#include <asm/msr-index.h>

#include "caps.h"

#define PT_CONFIG_PT	RTIT_CTL_TRACEEN

/* Bits that all CPUs support */
#define PT_CONFIG_BASIC	(PT_CONFIG_PT | RTIT_CTL_TSC_EN | RTIT_CTL_DISRETC | \
			 RTIT_CTL_BRANCH_EN)

/**
 * struct pt_term - bits of the configuration that depend on a capability
 * @bits: the bits
 * @cap: the capability; not 0 if the bits are supported
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

/* All bits that a CPU supports. */
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
 * Each period must be one that the CPU supports. 0 is always valid, as the value
 * of a period that is not used; for MTC only if MTC packets are not requested.
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
 * pt_config_check - check the configuration of an event
 * @config: perf_event_attr::config
 * @caps: capabilities of the CPUs
 * @always_branches: PT_QUIRK_ALWAYS_BRANCHES
 *
 * An unsupported value would cause a #GP when the event starts.
 *
 * Return: 0 or -EINVAL
 */
static inline int pt_config_check(u64 config, const struct pt_caps *caps,
				  bool always_branches)
{
	bool branches = config & RTIT_CTL_BRANCH_EN;

	if (config & ~pt_config_known(caps) ||
	    !pt_config_periods_valid(config, caps))
		return -EINVAL;

	/* FUP packets for PTW packets, without the latter */
	if (config & RTIT_CTL_FUP_ON_PTW && !(config & RTIT_CTL_PTW_EN))
		return -EINVAL;

	if (config & PT_CONFIG_PT)
		return always_branches && !branches ? -EINVAL : 0;
	return branches ? -EINVAL : 0;
}

/**
 * pt_config_ctl - compute IA32_RTIT_CTL for a configuration
 * @config: perf_event_attr::config, valid
 * @user: trace user space
 * @kernel: trace the kernel
 *
 * Return: the value of the register without TraceEn, output and filters
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
