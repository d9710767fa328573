// SPDX-License-Identifier: GPL-2.0-only
/* Marsaglia's xorshift64*. */
#include "chance.h"

static u64 state = 1;

void random_begin(u64 seed)
{
	state = seed;
}

u64 random_below(u64 limit)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * 0x2545f4914f6cdd1dUL >> 16) % limit;
}

u64 random_up_to(u64 limit)
{
	switch (random_below(8)) {
	case 0:
		return 0;
	case 1:
		return limit;
	default:
		return random_below(limit + 1);
	}
}
