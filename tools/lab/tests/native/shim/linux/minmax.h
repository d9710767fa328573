/* SPDX-License-Identifier: GPL-2.0-only */
/* As in the kernel, both operands must have one type, or min_t() names it. */
#ifndef SHIM_LINUX_MINMAX_H
#define SHIM_LINUX_MINMAX_H

#define SHIM_CHOOSE(a, op, b) ({			\
	__typeof__(a) shim_a = (a);			\
	__typeof__(b) shim_b = (b);			\
	(void)(&shim_a == &shim_b);			\
	shim_a op shim_b ? shim_a : shim_b; })

#define min(a, b)		SHIM_CHOOSE(a, <, b)
#define max(a, b)		SHIM_CHOOSE(a, >, b)
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define min3(a, b, c) ({				\
	__typeof__(a) shim_least = min(a, b);		\
	min(shim_least, c); })

#endif
