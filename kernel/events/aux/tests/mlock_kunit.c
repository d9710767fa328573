// SPDX-License-Identifier: GPL-2.0-only
/* KUnit tests of what a user's allowance of locked pages pays for. */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>

#include "../../mlock.h"

static const struct {
	const char *name;
	unsigned long pages, used, allowance;
	unsigned long want;
} gifts[] = {
	{ "all of it", 100, 0, 258, 100 },
	{ "all that there is", 258, 0, 258, 258 },
	{ "one more page is pinned", 259, 0, 258, 258 },
	{ "the rest of it", 100, 200, 258, 58 },
	{ "the last page", 100, 257, 258, 1 },
	{ "nothing is left", 100, 258, 258, 0 },
	{ "it was lowered since", 100, 300, 258, 0 },
	{ "there is none", 100, 0, 0, 0 },
	{ "no pages", 0, 10, 258, 0 },
	{ "the most", ULONG_MAX, 1, ULONG_MAX, ULONG_MAX - 1 },
};

static void gift(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(gifts); i++)
		KUNIT_EXPECT_EQ_MSG(test, perf_mlock_gift(gifts[i].pages, gifts[i].used,
							  gifts[i].allowance),
				    gifts[i].want, "%s", gifts[i].name);
}

static struct kunit_case mlock_cases[] = {
	KUNIT_CASE(gift),
	{}
};

static struct kunit_suite mlock_suite = {
	.name		= "perf_mlock",
	.test_cases	= mlock_cases,
};

kunit_test_suite(mlock_suite);
