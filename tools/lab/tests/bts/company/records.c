// SPDX-License-Identifier: GPL-2.0-only
/* A branch that is known, some instructions, and the records of it in an area. */
#include "bts_company.h"

__asm__(".text\n"
	".globl step_once, step_from, step_to\n"
	"step_once:\n"
	"step_from:	jmp step_to\n"
	"	nop\n"
	"step_to:\n"
	".rept 8\n"
	"	nop\n"
	".endr\n"
	"	ret\n");

static bool is_user(__u64 ip)
{
	return (__s64)ip >= 0;
}

const struct branch *next_user_branch(const struct aux_event *trace, const struct branch *last)
{
	const struct branch *branch = last ? last + 1 : trace->area;
	const void *end = (const char *)trace->area + trace->page->aux_head;

	for (; (const void *)(branch + 1) <= end; branch++)
		if (is_user(branch->from) && is_user(branch->to))
			return branch;
	return NULL;
}

unsigned int recorded_steps(const struct aux_event *trace)
{
	const struct branch *branch = NULL;
	unsigned int count = 0;

	while ((branch = next_user_branch(trace, branch)))
		count += branch->from == (unsigned long)step_from &&
			 branch->to == (unsigned long)step_to;
	return count;
}
