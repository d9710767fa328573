// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address filters of Intel PT; run in a guest, as root. Prints TAP. With "no-overlay",
 * overlayfs is left out.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "filters.h"

#define DIRECTORY	"/dev/shm/filters"
#define STRINGS		1000

int main(int argc, char **argv)
{
	aux_use("intel_pt");
	if (argc > 2 && !strcmp(argv[1], "become"))
		become(argc, argv);
	while (argc > 1 && strcmp(argv[1], "no-overlay"))
		aux_work(1000);
	/* What was said is not said again by children. */
	setlinebuf(stdout);
	if (mkdir(DIRECTORY, 0755))
		err(1, "%s", DIRECTORY);
	/* Registers are read on the CPU of the trace. */
	aux_pin(0, 0);
	test_errors();
	test_random(STRINGS);
	test_mapped(DIRECTORY);
	if (argc == 1)
		test_overlay(DIRECTORY);
	test_exec(DIRECTORY);
	test_churn(DIRECTORY);
	return end_points();
}
