// SPDX-License-Identifier: GPL-2.0-only
#include "kunit.h"

#include <stdlib.h>
#include <string.h>

#include <kunit/test.h>

static struct kunit_suite *suites;
/* One that runs; jumps do not change it. */
static struct kunit test;

void kunit_add(struct kunit_suite *suite)
{
	suite->next = suites;
	suites = suite;
}

/* One allocation a case is enough so far. */
void *kunit_zalloc(struct kunit *test, size_t size)
{
	free(test->memory);
	test->memory = calloc(1, size);
	return test->memory;
}

static void run_case(const struct kunit_suite *suite, const struct kunit_case *one,
		     const char *where)
{
	test = (struct kunit){ };
	if (!setjmp(test.end)) {
		if (suite->init && suite->init(&test))
			blame("the case could not begin");
		else
			one->run_case(&test);
	}
	free(test.memory);
	if (!test.skipped)
		verdict("%s.%s%s", suite->name, one->name, where);
}

void kunit_run(const char *names, const char *where)
{
	for (struct kunit_suite *suite = suites; suite; suite = suite->next)
		if (!strncmp(suite->name, names, strlen(names)))
			for (struct kunit_case *one = suite->test_cases; one->run_case; one++)
				run_case(suite, one, where);
}
