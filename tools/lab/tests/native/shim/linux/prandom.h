/* SPDX-License-Identifier: GPL-2.0-only */
/* Random numbers are those of the program, whose seed is told on its command line. */
#ifndef SHIM_LINUX_PRANDOM_H
#define SHIM_LINUX_PRANDOM_H

#include "chance.h"

struct rnd_state { };

#define prandom_seed_state(state, seed)	((void)(state))
#define prandom_u32_state(state)	((void)(state), (u32)random_below(1UL << 32))

#endif
