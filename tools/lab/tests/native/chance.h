/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers for test programs that run on the host: the same ones in each run. */
#ifndef CHANCE_H
#define CHANCE_H

#include <linux/types.h>

/* Another sequence; @seed is not 0. */
void random_begin(u64 seed);
/* A random number below @limit, which is not 0. */
u64 random_below(u64 limit);
/* One up to @limit; 0 and @limit are frequent: the ends are where faults are. */
u64 random_up_to(u64 limit);

#endif
