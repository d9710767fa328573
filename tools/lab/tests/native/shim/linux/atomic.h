/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_ATOMIC_H
#define SHIM_LINUX_ATOMIC_H

typedef struct {
	int counter;
} atomic_t;

#define ATOMIC_INIT(value)	{ (value) }

static inline int atomic_read(const atomic_t *number)
{
	return number->counter;
}

static inline int atomic_inc_return(atomic_t *number)
{
	return ++number->counter;
}

static inline void atomic_dec(atomic_t *number)
{
	number->counter--;
}

#endif
