/* SPDX-License-Identifier: GPL-2.0-only */
/* The harness of all tests of AUX areas. */
#ifndef AUX_HARNESS_H
#define AUX_HARNESS_H

#include "../kselftest_harness.h"
#include "aux_util.h"

/* The same, but that the fixture may be a macro, as aux_variants.h has it. */
#define AUX_VARIANT(fixture)			FIXTURE_VARIANT(fixture)
#define AUX_VARIANT_ADD(fixture, variant)	FIXTURE_VARIANT_ADD(fixture, variant)

/* Of the program, not of a test, which is a child of it */
static pid_t aux_main_pid;

/*
 * Without any of the PMUs, nothing is tested, and the program says so. If it has arguments, it may
 * be asked for a list of its tests, or for help.
 */
__attribute__((constructor)) static void aux_begin(void)
{
	aux_main_pid = getpid();
	if (aux_has_pmu() || aux_has_arguments())
		return;
	printf("TAP version 13\n1..0 # SKIP no PMU that is tested: CONFIG_PERF_AUX_SYNTH is one\n");
	exit(KSFT_SKIP);
}

/* A program all of whose tests were skipped says by its status that nothing was tested. */
__attribute__((destructor)) static void aux_end(void)
{
	if (getpid() != aux_main_pid || !ksft_test_num() ||
	    ksft_cnt.ksft_xskip != ksft_test_num())
		return;
	fflush(NULL);
	_exit(KSFT_SKIP);
}

#endif
