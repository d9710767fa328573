/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's KUnit tests, in user space. */
#ifndef KUNIT_H
#define KUNIT_H

/*
 * All cases of the suites whose names begin so; @where is told with each. A case that is
 * skipped has no result.
 */
void kunit_run(const char *suites, const char *where);

#endif
