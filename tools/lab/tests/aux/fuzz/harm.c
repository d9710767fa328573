// SPDX-License-Identifier: GPL-2.0-only
/*
 * In place of aux_fuzz_run.c and aux_fuzz_check.c: steps do harm, or end the program as if
 * the machine had ended, if among them is what the environment names:
 *
 *	HARM	operations that must stand in this order, with spaces between them
 *	CRASH	1: the program ends then
 *	KASAN	1: that is what says so, of another function each time
 *	FAULT	1: it is a page fault, of another address than the first time
 *
 * Of the first of them choice 2 must be odd. If it is missing, what is left does another harm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aux_fuzz.h"

/* Numbers are others each time. */
static const char *say(const char *function)
{
	static unsigned int times;
	static char text[128];

	times++;
	snprintf(text, sizeof(text), "WARNING: CPU: %u PID: %d at harm.c:1 %s+0x%x/0x20",
		 times % 2, getpid(), function, times);
	return text;
}

static const char *say_fault(void)
{
	return "BUG: unable to handle page fault for address: ffffc90000000000";
}

static const char *say_kasan(void)
{
	static unsigned int times;
	static char text[128];

	snprintf(text, sizeof(text), "BUG: KASAN: slab-use-after-free in harm_%c+0x10/0x20",
		 'a' + times++ % 26);
	return text;
}

static int does_harm(const struct fuzz_list *list)
{
	char *rest = strdup(getenv("HARM")), *wanted = strsep(&rest, " ");
	int first = 1;

	for (size_t i = 0; i < list->count && wanted; i++) {
		const struct fuzz_step *step = &list->steps[i];

		if (step->op == FUZZ_BEGIN || strcmp(fuzz_op(step->op)->name, wanted))
			continue;
		if (first && !(step->choices[2] & 1))
			continue;
		first = 0;
		wanted = strsep(&rest, " ");
	}
	return !wanted;
}

static bool has(const struct fuzz_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct fuzz_step *step = &list->steps[i];

		if (step->op != FUZZ_BEGIN && !strcmp(fuzz_op(step->op)->name, name))
			return true;
	}
	return false;
}

void fuzz_prepare(void)
{
}

const char *fuzz_run_in_child(const struct fuzz_list *list, struct fuzz_shared *shared)
{
	const char *wanted = getenv("HARM");
	char first[32];

	(void)shared;
	snprintf(first, sizeof(first), "%.*s", (int)strcspn(wanted, " "), wanted);
	if (!does_harm(list))
		return strchr(wanted, ' ') && !has(list, first) ? say("another") : NULL;
	if (getenv("CRASH"))
		_exit(99);
	if (getenv("FAULT"))
		return say_fault();
	return getenv("KASAN") ? say_kasan() : say("harm");
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
