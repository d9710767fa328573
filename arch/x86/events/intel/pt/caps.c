// SPDX-License-Identifier: GPL-2.0-only
/*
 * Capabilities of Processor Trace: CPUID leaf 14H (Intel SDM, "Detection of Intel
 * Processor Trace and Capability Enumeration").
 *
 * This file calls no kernel function, so that user-space tests can compile it.
 */
#include <kunit/visibility.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "caps.h"

/**
 * enum pt_field_kind - how to combine a field of two CPUs
 * @PT_FIELD_COUNT: a number; the smaller one counts
 * @PT_FIELD_BITS: a set of bits; those that both have count
 * @PT_FIELD_FORMAT: a format of packets; both must have the same
 */
enum pt_field_kind {
	PT_FIELD_COUNT,
	PT_FIELD_BITS,
	PT_FIELD_FORMAT,
};

enum pt_cap_reg {
	EAX0, EBX0, ECX0, EDX0,
	EAX1, EBX1,
};

static const struct pt_cap_field {
	const char		*name;
	enum pt_cap_reg		reg;
	u32			mask;
	enum pt_field_kind	kind;
} pt_cap_fields[PT_NR_CAPS] = {
#define FIELD(cap, reg, mask, kind) \
	[PT_CAP_##cap] = { #cap, reg, mask, kind }
	FIELD(max_subleaf,		EAX0, GENMASK(31, 0),	PT_FIELD_COUNT),
	FIELD(cr3_filtering,		EBX0, BIT(0),		PT_FIELD_BITS),
	FIELD(psb_cyc,			EBX0, BIT(1),		PT_FIELD_BITS),
	FIELD(ip_filtering,		EBX0, BIT(2),		PT_FIELD_BITS),
	FIELD(mtc,			EBX0, BIT(3),		PT_FIELD_BITS),
	FIELD(ptwrite,			EBX0, BIT(4),		PT_FIELD_BITS),
	FIELD(power_event_trace,	EBX0, BIT(5),		PT_FIELD_BITS),
	FIELD(event_trace,		EBX0, BIT(7),		PT_FIELD_BITS),
	FIELD(tnt_disable,		EBX0, BIT(8),		PT_FIELD_BITS),
	FIELD(topa_output,		ECX0, BIT(0),		PT_FIELD_BITS),
	FIELD(topa_multiple_entries,	ECX0, BIT(1),		PT_FIELD_BITS),
	FIELD(single_range_output,	ECX0, BIT(2),		PT_FIELD_BITS),
	FIELD(output_subsys,		ECX0, BIT(3),		PT_FIELD_BITS),
	FIELD(payloads_lip,		ECX0, BIT(31),		PT_FIELD_FORMAT),
	FIELD(num_address_ranges,	EAX1, GENMASK(2, 0),	PT_FIELD_COUNT),
	FIELD(mtc_periods,		EAX1, GENMASK(31, 16),	PT_FIELD_BITS),
	FIELD(cycle_thresholds,		EBX1, GENMASK(15, 0),	PT_FIELD_BITS),
	FIELD(psb_periods,		EBX1, GENMASK(31, 16),	PT_FIELD_BITS),
#undef FIELD
};

/**
 * pt_caps_get - get the value of a capability
 * @caps: capabilities of a CPU
 * @cap: the capability
 *
 * Return: the value of the field
 */
u32 pt_caps_get(const struct pt_caps *caps, enum pt_capabilities cap)
{
	const struct pt_cap_field *field = &pt_cap_fields[cap];

	return (caps->word[field->reg] & field->mask) >> __ffs(field->mask);
}
EXPORT_SYMBOL_IF_KUNIT(pt_caps_get);

/**
 * pt_caps_name - get the name of a capability in sysfs
 * @cap: the capability
 *
 * Return: the name
 */
const char *pt_caps_name(enum pt_capabilities cap)
{
	return pt_cap_fields[cap].name;
}

/* The value of a field that two CPUs have in common. */
static u32 pt_cap_common(const struct pt_cap_field *field, u32 one, u32 other)
{
	one &= field->mask;
	other &= field->mask;
	/* Masks are contiguous, so unshifted fields compare like their values. */
	return field->kind == PT_FIELD_COUNT ? min(one, other) : one & other;
}

/**
 * pt_caps_cover - check whether a CPU has all capabilities of the others
 * @caps: capabilities of the CPU
 * @needed: the capabilities that the others have in common
 *
 * Return: true if each configuration of the others works on this CPU and means
 * the same there
 */
bool pt_caps_cover(const struct pt_caps *caps, const struct pt_caps *needed)
{
	const struct pt_cap_field *field;

	for (field = pt_cap_fields; field < pt_cap_fields + PT_NR_CAPS; field++) {
		u32 have = caps->word[field->reg], need = needed->word[field->reg];

		if (field->kind == PT_FIELD_FORMAT && (have ^ need) & field->mask)
			return false;
		if (pt_cap_common(field, have, need) != (need & field->mask))
			return false;
	}
	return true;
}

/**
 * pt_caps_meet - reduce capabilities to those that another CPU has, too
 * @caps: the capabilities; updated
 * @other: capabilities of the other CPU
 *
 * Return: false if the CPUs write packets of different formats
 */
bool pt_caps_meet(struct pt_caps *caps, const struct pt_caps *other)
{
	const struct pt_cap_field *field;

	for (field = pt_cap_fields; field < pt_cap_fields + PT_NR_CAPS; field++) {
		u32 *word = &caps->word[field->reg], others = other->word[field->reg];

		if (field->kind == PT_FIELD_FORMAT && (*word ^ others) & field->mask)
			return false;
		*word = (*word & ~field->mask) | pt_cap_common(field, *word, others);
	}
	return true;
}
