// SPDX-License-Identifier: GPL-2.0-only
/* KUnit tests of perf_event_attr::config: what is taken on which CPU, and what becomes of it. */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/kernel.h>

#include "../config.h"

/* The uABI's, see the format directory in sysfs */
#define PT		BIT_ULL(0)
#define CYC		BIT_ULL(1)
#define PWR_EVT		BIT_ULL(4)
#define FUP_ON_PTW	BIT_ULL(5)
#define MTC		BIT_ULL(9)
#define TSC		BIT_ULL(10)
#define NORETCOMP	BIT_ULL(11)
#define PTW		BIT_ULL(12)
#define BRANCH		BIT_ULL(13)
#define MTC_PERIOD(n)	((u64)(n) << 14)
#define CYC_THRESH(n)	((u64)(n) << 19)
#define PSB_PERIOD(n)	((u64)(n) << 24)
#define EVENT		BIT_ULL(31)
#define NOTNT		BIT_ULL(55)
#define ALL_TERMS	(PT | CYC | PWR_EVT | FUP_ON_PTW | MTC | TSC | NORETCOMP | PTW | \
			 BRANCH | MTC_PERIOD(15) | CYC_THRESH(15) | PSB_PERIOD(15) | \
			 EVENT | NOTNT)

#define USR		BIT_ULL(3)
#define OS		BIT_ULL(2)

/* The SDM's places of capabilities in CPUID leaf 14H, by the names in sysfs */
static const struct {
	unsigned int word;
	u32 bits;
} caps[] = {
#define PSB_CYC			BIT(0)
	{ 1, 0x2 },
#define CYCLE_THRESHOLDS	BIT(1)
	{ 5, 0x0000ffff },
#define PSB_PERIODS		BIT(2)
	{ 5, 0xffff0000 },
#define MTC_PACKETS		BIT(3)
	{ 1, 0x8 },
#define MTC_PERIODS		BIT(4)
	{ 4, 0xffff0000 },
#define PTWRITE			BIT(5)
	{ 1, 0x10 },
#define POWER_EVENT_TRACE	BIT(6)
	{ 1, 0x20 },
#define EVENT_TRACE		BIT(7)
	{ 1, 0x80 },
#define TNT_DISABLE		BIT(8)
	{ 1, 0x100 },
};

/* Periods: psb_periods 0x3f, cycle_thresholds 0x3ff, mtc_periods 0x249 */
static const struct pt_caps all = {
	.word = { 1, 0x1bf, 0xf, 0, 0x02490004, 0x003f03ff },
};

/* What needs which capabilities */
static const struct {
	u64 config;
	unsigned int needs;
} terms[] = {
	{ 0, 0 },
	{ PT, 0 },
	{ PT | BRANCH, 0 },
	{ TSC, 0 },
	{ PT | BRANCH | TSC | NORETCOMP, 0 },
	{ CYC, PSB_CYC },
	{ CYC_THRESH(1), PSB_CYC | CYCLE_THRESHOLDS },
	{ CYC | CYC_THRESH(9), PSB_CYC | CYCLE_THRESHOLDS },
	{ PSB_PERIOD(1), PSB_CYC | PSB_PERIODS },
	{ PSB_PERIOD(5), PSB_CYC | PSB_PERIODS },
	{ MTC, MTC_PACKETS | MTC_PERIODS },
	{ MTC_PERIOD(3), MTC_PACKETS | MTC_PERIODS },
	{ MTC | MTC_PERIOD(9), MTC_PACKETS | MTC_PERIODS },
	{ PTW, PTWRITE },
	{ PTW | FUP_ON_PTW, PTWRITE },
	{ PT | BRANCH | PTW, PTWRITE },
	{ PWR_EVT, POWER_EVENT_TRACE },
	{ EVENT, EVENT_TRACE },
	{ NOTNT, TNT_DISABLE },
};

static int check(u64 config)
{
	return pt_config_check(config, &all, false);
}

static void each_term_without_each_capability(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(terms); i++) {
		struct pt_caps needed = { };

		KUNIT_EXPECT_EQ_MSG(test, check(terms[i].config), 0, "term %u", i);
		for (unsigned int cap = 0; cap < ARRAY_SIZE(caps); cap++) {
			bool needs = terms[i].needs & BIT(cap);
			struct pt_caps less = all;

			less.word[caps[cap].word] &= ~caps[cap].bits;
			KUNIT_EXPECT_EQ_MSG(test, pt_config_check(terms[i].config, &less, false),
					    needs ? -EINVAL : 0, "term %u without %u", i, cap);
			if (needs)
				needed.word[caps[cap].word] |=
					all.word[caps[cap].word] & caps[cap].bits;
		}
		KUNIT_EXPECT_EQ_MSG(test, pt_config_check(terms[i].config, &needed, false), 0,
				    "term %u with what it needs", i);
	}
}

/* The filters' and TraceEn's neighbours are among them. */
static void bits_that_are_no_term(struct kunit *test)
{
	for (unsigned int bit = 0; bit < 64; bit++)
		if (!(ALL_TERMS & BIT_ULL(bit)))
			KUNIT_EXPECT_EQ_MSG(test, check(PT | BRANCH | BIT_ULL(bit)), -EINVAL,
					    "bit %u", bit);
}

static void each_period(struct kunit *test)
{
	for (unsigned int n = 0; n < 16; n++) {
		int mtc = n % 3 || n > 9 ? -EINVAL : 0;

		KUNIT_EXPECT_EQ(test, check(PSB_PERIOD(n)), n < 6 ? 0 : -EINVAL);
		KUNIT_EXPECT_EQ(test, check(CYC | CYC_THRESH(n)), n < 10 ? 0 : -EINVAL);
		KUNIT_EXPECT_EQ(test, check(MTC | MTC_PERIOD(n)), mtc);
		KUNIT_EXPECT_EQ(test, check(MTC_PERIOD(n)), mtc);
	}
}

static void terms_that_make_no_sense_together(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, check(FUP_ON_PTW), -EINVAL);
	KUNIT_EXPECT_EQ(test, check(BRANCH), -EINVAL);
}

/* Broadwell */
static void branches_that_are_always_traced(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pt_config_check(0, &all, true), 0);
	KUNIT_EXPECT_EQ(test, pt_config_check(PT, &all, true), -EINVAL);
	KUNIT_EXPECT_EQ(test, pt_config_check(PT | BRANCH, &all, true), 0);
	KUNIT_EXPECT_EQ(test, pt_config_check(BRANCH, &all, true), -EINVAL);
}

static void the_register(struct kunit *test)
{
	u64 more = CYC | PWR_EVT | FUP_ON_PTW | MTC | TSC | NORETCOMP | PTW | MTC_PERIOD(3) |
		   CYC_THRESH(2) | PSB_PERIOD(4) | EVENT | NOTNT;

	KUNIT_EXPECT_EQ(test, pt_config_ctl(0, true, true), BRANCH | USR | OS);
	KUNIT_EXPECT_EQ(test, pt_config_ctl(TSC, true, false), TSC | BRANCH | USR);
	KUNIT_EXPECT_EQ(test, pt_config_ctl(PT, false, true), OS);
	KUNIT_EXPECT_EQ(test, pt_config_ctl(PT | BRANCH, false, false), BRANCH);
	KUNIT_EXPECT_EQ(test, pt_config_ctl(PT | more, true, false), more | USR);
}

static struct kunit_case config_cases[] = {
	KUNIT_CASE(each_term_without_each_capability),
	KUNIT_CASE(bits_that_are_no_term),
	KUNIT_CASE(each_period),
	KUNIT_CASE(terms_that_make_no_sense_together),
	KUNIT_CASE(branches_that_are_always_traced),
	KUNIT_CASE(the_register),
	{}
};

static struct kunit_suite config_suite = {
	.name		= "perf_pt_config",
	.test_cases	= config_cases,
};

kunit_test_suite(config_suite);
