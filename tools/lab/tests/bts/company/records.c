// SPDX-License-Identifier: GPL-2.0-only
/* A branch that is known, and the records of it in an area. */
#include "bts_company.h"

extern const char step_from[], step_to[];

__asm__(".text\n"
	".globl step_once\n"
	"step_once:\n"
	"step_from:	jmp step_to\n"
	"	nop\n"
	"step_to:	ret\n");

unsigned int recorded_steps(const struct aux_event *trace)
{
	const struct branch *branch = trace->area;
	const void *end = (const char *)trace->area + trace->page->aux_head;
	unsigned int count = 0;

	for (; (const void *)(branch + 1) <= end; branch++)
		count += branch->from == (unsigned long)step_from &&
			 branch->to == (unsigned long)step_to;
	return count;
}
