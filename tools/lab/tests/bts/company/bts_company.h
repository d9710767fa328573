/* SPDX-License-Identifier: GPL-2.0-only */
/* Branch trace store beside other users of the performance monitor. */
#ifndef BTS_COMPANY_H
#define BTS_COMPANY_H

#include <linux/types.h>
#include <stdbool.h>
#include <sys/types.h>

#include "../../pt/company/company.h"

/* Of each branch (SDM, "64-bit branch trace records") */
struct branch {
	__u64 from, to, flags;
};

/* records.c: a function with a branch from step_from to step_to */
void step_once(void);
extern const char step_from[], step_to[];
/* How often that is in an area that is not full */
unsigned int recorded_steps(const struct aux_event *trace);
/* The first branch in such an area within user space, or the one after @last; NULL: none. */
const struct branch *next_user_branch(const struct aux_event *trace, const struct branch *last);

/* beside.c; @coexist: Intel PT and this can be on together */
void test_pt(bool coexist, pid_t child);
void test_samples_of_branches(pid_t child);
/* fork.c */
void test_fork(void);
/* step.c */
void test_block_step(void);

#endif
