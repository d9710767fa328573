/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit, as far as tests of the kernel's use it that are compiled here as well: kunit.c runs
 * them, and each case is a verdict.
 */
#ifndef SHIM_KUNIT_TEST_H
#define SHIM_KUNIT_TEST_H

#include <setjmp.h>
#include <stddef.h>

#include <linux/errno.h>
#include <linux/types.h>

#include "verdict.h"

struct kunit {
	void *priv;
	void *memory;
	bool skipped;
	jmp_buf end;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
};

struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	struct kunit_case *test_cases;
	struct kunit_suite *next;
};

/* Before main() */
void kunit_add(struct kunit_suite *suite);
/* Zeroed, and freed when the case ends; here @flags are not looked at. */
void *kunit_zalloc(struct kunit *test, size_t size);
#define kunit_kzalloc(test, size, flags)	kunit_zalloc(test, size)

#define KUNIT_CASE(name)	{ name, #name }
#define kunit_test_suite(suite)	\
	static void __attribute__((constructor)) add_##suite(void) { kunit_add(&suite); } \
	_Static_assert(1, #suite)
#define MODULE_INFO(tag, text)		_Static_assert(1, text)
#define MODULE_DESCRIPTION(text)	_Static_assert(1, text)
#define MODULE_LICENSE(text)		_Static_assert(1, text)

#define kunit_skip(test, why)	((test)->skipped = true, longjmp((test)->end, 1))

#define KUNIT_EXPECT_TRUE_MSG(test, good, format, ...) do {			\
	if (!(good))								\
		blame("%s:%d: %s: " format, __FILE__, __LINE__, #good, ##__VA_ARGS__); \
} while (0)
#define KUNIT_EXPECT_EQ_MSG(test, left, right, ...) \
	KUNIT_EXPECT_TRUE_MSG(test, (left) == (right), __VA_ARGS__)
#define KUNIT_EXPECT_TRUE(test, good)		KUNIT_EXPECT_TRUE_MSG(test, good, "")
#define KUNIT_EXPECT_FALSE(test, bad)		KUNIT_EXPECT_TRUE(test, !(bad))
#define KUNIT_EXPECT_EQ(test, left, right)	KUNIT_EXPECT_TRUE(test, (left) == (right))
#define KUNIT_EXPECT_GT(test, left, right)	KUNIT_EXPECT_TRUE(test, (left) > (right))

#define KUNIT_ASSERT_EQ_MSG(test, left, right, ...) do {			\
	KUNIT_EXPECT_EQ_MSG(test, left, right, __VA_ARGS__);			\
	if (is_blamed())							\
		longjmp((test)->end, 1);					\
} while (0)
#define KUNIT_ASSERT_TRUE(test, good)		KUNIT_ASSERT_EQ_MSG(test, !!(good), true, "")
#define KUNIT_ASSERT_FALSE(test, bad)		KUNIT_ASSERT_TRUE(test, !(bad))
#define KUNIT_ASSERT_NOT_NULL(test, pointer)	KUNIT_ASSERT_TRUE(test, pointer)
#define KUNIT_ASSERT_EQ(test, left, right)	KUNIT_ASSERT_TRUE(test, (left) == (right))
#define KUNIT_ASSERT_NE(test, left, right)	KUNIT_ASSERT_TRUE(test, (left) != (right))
#define KUNIT_ASSERT_LE(test, left, right)	KUNIT_ASSERT_TRUE(test, (left) <= (right))
#define KUNIT_ASSERT_GE(test, left, right)	KUNIT_ASSERT_TRUE(test, (left) >= (right))
#define KUNIT_ASSERT_GT(test, left, right)	KUNIT_ASSERT_TRUE(test, (left) > (right))

#endif
