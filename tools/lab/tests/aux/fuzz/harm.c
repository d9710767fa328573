// SPDX-License-Identifier: GPL-2.0-only
/*
 * In place of aux_fuzz_run.c and aux_fuzz_check.c: steps do harm, or end the program as if
 * the machine had ended, if among them is what the environment names:
 *
 *	HARM	operations that must stand in this order, with spaces between them
 *	CRASH	1: the program ends then
 *
 * Of the first of them choice 2 must be odd.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aux_fuzz.h"

const char *const fuzz_pmus[] = { NULL };

static int does_harm(const struct fuzz_list *list)
{
	char *rest = strdup(getenv("HARM")), *wanted = strsep(&rest, " ");
	int first = 1;

	for (size_t i = 0; i < list->count && wanted; i++) {
		const struct fuzz_step *step = &list->steps[i];

		if (step->op == FUZZ_BEGIN || strcmp(stress_ops[step->op].name, wanted))
			continue;
		if (first && !(step->choices[2] & 1))
			continue;
		first = 0;
		wanted = strsep(&rest, " ");
	}
	return !wanted;
}

void fuzz_prepare(void)
{
}

const char *fuzz_run_in_child(const struct fuzz_list *list, struct fuzz_shared *shared)
{
	(void)shared;
	if (!does_harm(list))
		return NULL;
	if (getenv("CRASH"))
		_exit(99);
	return "BUG: KASAN: slab-use-after-free in harm+0x10/0x20";
}

void fuzz_check_start(void)
{
}

const char *fuzz_check(void)
{
	return NULL;
}

const char *fuzz_check_memory(void)
{
	return NULL;
}

bool fuzz_same(const char *one, const char *other)
{
	return !strcmp(one, other);
}
