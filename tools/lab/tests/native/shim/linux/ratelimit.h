/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_RATELIMIT_H
#define SHIM_LINUX_RATELIMIT_H

#include <stdbool.h>

#define DEFAULT_RATELIMIT_INTERVAL	0
#define DEFAULT_RATELIMIT_BURST		0

struct ratelimit_state {
};

#define DEFINE_RATELIMIT_STATE(name, interval, burst)	struct ratelimit_state name

static inline bool __ratelimit(struct ratelimit_state *state)
{
	return true;
}

#endif
