// SPDX-License-Identifier: GPL-2.0-only
/*
 * What Processor Trace can do, as CPUID leaf 14H enumerates it (Intel SDM,
 * "Detection of Intel Processor Trace and Capability Enumeration").
 *
 * Nothing here needs a kernel; the file is compiled and tested in user space too.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "caps.h"

/**
 * enum pt_cap_kind - what two CPUs of a system have in common
 * @PT_CAP_COUNT: the smaller number
 * @PT_CAP_BITS: the bits that both have
 * @PT_CAP_FORMAT: how packets are written; there is nothing in common unless
 *	both do the same
 */
enum pt_cap_kind {
	PT_CAP_COUNT,
	PT_CAP_BITS,
	PT_CAP_FORMAT,
};

enum pt_cap_reg {
	EAX0, EBX0, ECX0, EDX0,
	EAX1, EBX1,
};

static const struct pt_cap_field {
	const char		*name;
	enum pt_cap_reg		reg;
	u32			mask;
	enum pt_cap_kind	kind;
} pt_cap_fields[PT_NR_CAPS] = {
#define FIELD(cap, reg, mask, kind) \
	[PT_CAP_##cap] = { #cap, reg, mask, kind }
	FIELD(max_subleaf,		EAX0, GENMASK(31, 0),	PT_CAP_COUNT),
	FIELD(cr3_filtering,		EBX0, BIT(0),		PT_CAP_BITS),
	FIELD(psb_cyc,			EBX0, BIT(1),		PT_CAP_BITS),
	FIELD(ip_filtering,		EBX0, BIT(2),		PT_CAP_BITS),
	FIELD(mtc,			EBX0, BIT(3),		PT_CAP_BITS),
	FIELD(ptwrite,			EBX0, BIT(4),		PT_CAP_BITS),
	FIELD(power_event_trace,	EBX0, BIT(5),		PT_CAP_BITS),
	FIELD(event_trace,		EBX0, BIT(7),		PT_CAP_BITS),
	FIELD(tnt_disable,		EBX0, BIT(8),		PT_CAP_BITS),
	FIELD(topa_output,		ECX0, BIT(0),		PT_CAP_BITS),
	FIELD(topa_multiple_entries,	ECX0, BIT(1),		PT_CAP_BITS),
	FIELD(single_range_output,	ECX0, BIT(2),		PT_CAP_BITS),
	FIELD(output_subsys,		ECX0, BIT(3),		PT_CAP_BITS),
	FIELD(payloads_lip,		ECX0, BIT(31),		PT_CAP_FORMAT),
	FIELD(num_address_ranges,	EAX1, GENMASK(2, 0),	PT_CAP_COUNT),
	FIELD(mtc_periods,		EAX1, GENMASK(31, 16),	PT_CAP_BITS),
	FIELD(cycle_thresholds,		EBX1, GENMASK(15, 0),	PT_CAP_BITS),
	FIELD(psb_periods,		EBX1, GENMASK(31, 16),	PT_CAP_BITS),
#undef FIELD
};

/**
 * pt_caps_get - the value of a capability
 * @caps: of a CPU
 * @cap: which
 *
 * Return: a number, a set of bits, or 0 and 1
 */
u32 pt_caps_get(const struct pt_caps *caps, enum pt_capabilities cap)
{
	const struct pt_cap_field *field = &pt_cap_fields[cap];

	return (caps->word[field->reg] & field->mask) >> __ffs(field->mask);
}

/**
 * pt_caps_name - the name of a capability in sysfs
 * @cap: which
 *
 * Return: the name
 */
const char *pt_caps_name(enum pt_capabilities cap)
{
	return pt_cap_fields[cap].name;
}

/* What is left of a field where another CPU has its own. */
static u32 pt_cap_common(const struct pt_cap_field *field, u32 one, u32 other)
{
	one &= field->mask;
	other &= field->mask;
	/* A mask is contiguous: fields compare as their values do. */
	return field->kind == PT_CAP_COUNT ? min(one, other) : one & other;
}

/**
 * pt_caps_cover - whether a CPU can do all that others can
 * @caps: of the CPU
 * @needed: what the others have in common
 *
 * Return: whether what is configured for the others works there, and means the
 * same
 */
bool pt_caps_cover(const struct pt_caps *caps, const struct pt_caps *needed)
{
	const struct pt_cap_field *field;

	for (field = pt_cap_fields; field < pt_cap_fields + PT_NR_CAPS; field++) {
		u32 have = caps->word[field->reg], need = needed->word[field->reg];

		if (field->kind == PT_CAP_FORMAT && (have ^ need) & field->mask)
			return false;
		if (pt_cap_common(field, have, need) != (need & field->mask))
			return false;
	}
	return true;
}

/**
 * pt_caps_meet - reduce capabilities to those that another CPU has as well
 * @caps: to be reduced
 * @other: of the other CPU
 *
 * Return: false if there can be none, because the packets differ
 */
bool pt_caps_meet(struct pt_caps *caps, const struct pt_caps *other)
{
	const struct pt_cap_field *field;

	for (field = pt_cap_fields; field < pt_cap_fields + PT_NR_CAPS; field++) {
		u32 *word = &caps->word[field->reg], others = other->word[field->reg];

		if (field->kind == PT_CAP_FORMAT && (*word ^ others) & field->mask)
			return false;
		*word = (*word & ~field->mask) | pt_cap_common(field, *word, others);
	}
	return true;
}
