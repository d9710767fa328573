// SPDX-License-Identifier: GPL-2.0-only
/* Capabilities: where CPUID has them, and what CPUs have in common. */
#include <string.h>

#include "caps.h"
#include "check.h"
#include "machine.h"

/* Of CPUID leaf 14H with all bits set (Intel SDM, CPUID) */
static const struct {
	const char *name;
	u32 most;
	/* index of the word, and a value of it that makes the capability 1 */
	u8 word;
	u32 one;
	/* of 5 and 3, what do both have: 3 as a number, 1 as bits */
	bool number;
} known[PT_NR_CAPS] = {
	{ "max_subleaf", 0xffffffff, 0, 1, true },
	{ "cr3_filtering", 1, 1, 1 << 0, false },
	{ "psb_cyc", 1, 1, 1 << 1, false },
	{ "ip_filtering", 1, 1, 1 << 2, false },
	{ "mtc", 1, 1, 1 << 3, false },
	{ "ptwrite", 1, 1, 1 << 4, false },
	{ "power_event_trace", 1, 1, 1 << 5, false },
	{ "event_trace", 1, 1, 1 << 7, false },
	{ "tnt_disable", 1, 1, 1 << 8, false },
	{ "topa_output", 1, 2, 1 << 0, false },
	{ "topa_multiple_entries", 1, 2, 1 << 1, false },
	{ "single_range_output", 1, 2, 1 << 2, false },
	{ "output_subsys", 1, 2, 1 << 3, false },
	{ "payloads_lip", 1, 2, 1U << 31, false },
	{ "num_address_ranges", 7, 4, 1 << 0, true },
	{ "mtc_periods", 0xffff, 4, 1 << 16, false },
	{ "cycle_thresholds", 0xffff, 5, 1 << 0, false },
	{ "psb_periods", 0xffff, 5, 1 << 16, false },
};

static void test_values(void)
{
	struct pt_caps all, none = { }, one;
	unsigned int cap, other;

	memset(&all, 0xff, sizeof(all));
	for (cap = 0; cap < PT_NR_CAPS; cap++) {
		EXPECT(!strcmp(pt_caps_name(cap), known[cap].name));
		EXPECT(pt_caps_get(&all, cap) == known[cap].most);
		EXPECT(pt_caps_get(&none, cap) == 0);
		one = none;
		one.word[known[cap].word] = known[cap].one;
		for (other = 0; other < PT_NR_CAPS; other++)
			EXPECT(pt_caps_get(&one, other) == (cap == other));
	}
	verdict("caps: the name, the place and the size of each");
}

/* The capability alone, with a value that fits in it. */
static struct pt_caps only(unsigned int cap, u32 value)
{
	struct pt_caps caps = { };

	caps.word[known[cap].word] = known[cap].one * (value & known[cap].most);
	return caps;
}

static void test_common(void)
{
	struct pt_caps caps, other;
	unsigned int cap;
	u32 want;

	for (cap = 0; cap < PT_NR_CAPS; cap++) {
		if (cap == PT_CAP_payloads_lip)
			continue;
		caps = only(cap, 5);
		EXPECT(pt_caps_meet(&caps, &(struct pt_caps){ }) && !pt_caps_get(&caps, cap));
		caps = only(cap, 5);
		EXPECT(pt_caps_meet(&caps, &caps));
		EXPECT(pt_caps_get(&caps, cap) == (5 & known[cap].most));

		want = known[cap].most == 1 || !known[cap].number ? 1 : 3;
		caps = only(cap, 5);
		other = only(cap, 3);
		EXPECT(pt_caps_meet(&caps, &other) && pt_caps_get(&caps, cap) == want);
		caps = only(cap, 5);
		EXPECT(pt_caps_meet(&other, &caps) && pt_caps_get(&other, cap) == want);
	}
	verdict("caps: what two CPUs have in common, of each");
}

/* Other packets are no less and no more. */
static void test_format(void)
{
	struct pt_caps lip = only(PT_CAP_payloads_lip, 1), rip = { }, both;

	both = lip;
	EXPECT(!pt_caps_meet(&both, &rip));
	both = rip;
	EXPECT(!pt_caps_meet(&both, &lip));
	both = lip;
	EXPECT(pt_caps_meet(&both, &lip) && pt_caps_get(&both, PT_CAP_payloads_lip));
	EXPECT(pt_caps_cover(&lip, &lip) && pt_caps_cover(&rip, &rip));
	EXPECT(!pt_caps_cover(&lip, &rip) && !pt_caps_cover(&rip, &lip));
	verdict("caps: CPUs that write different packets have nothing in common");
}

static void test_cover(void)
{
	struct pt_caps all = caps_all(), less, more, needed;
	unsigned int cap;

	EXPECT(pt_caps_cover(&all, &all));
	EXPECT(pt_caps_cover(&all, &(struct pt_caps){ }));
	for (cap = 0; cap < PT_NR_CAPS; cap++) {
		if (cap == PT_CAP_payloads_lip)
			continue;
		less = all;
		caps_clear(&less, cap);
		EXPECT(!pt_caps_cover(&less, &all));
		EXPECT(pt_caps_cover(&all, &less));

		if (known[cap].most == 1)
			continue;
		needed = only(cap, 3);
		less = only(cap, 2);
		more = only(cap, 7);
		EXPECT(!pt_caps_cover(&less, &needed) && pt_caps_cover(&more, &needed));
		/* 4 is more than 3, but not the same bits. */
		less = only(cap, 4);
		EXPECT(pt_caps_cover(&less, &needed) == known[cap].number);
	}
	verdict("caps: a CPU that lacks any of them does not cover the others");
}

void test_caps(void)
{
	test_values();
	test_common();
	test_format();
	test_cover();
}
