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

/* records.c: a function with a branch, and how often that is in an area that is not full */
void step_once(void);
unsigned int recorded_steps(const struct aux_event *trace);

/* beside.c; @coexist: Intel PT and this can be on together */
void test_pt(bool coexist, pid_t child);
void test_samples_of_branches(pid_t child);
/* fork.c */
void test_fork(void);
/* step.c */
void test_block_step(void);

#endif
