/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Each access that may not be torn, and each barrier, is a place where an NMI may
 * come: see nmi.c.
 */
#ifndef SHIM_LINUX_COMPILER_H
#define SHIM_LINUX_COMPILER_H

void nmi_point(void);

#define barrier()	nmi_point()
#define wmb()		nmi_point()

#define READ_ONCE(x) ({							\
	nmi_point();							\
	__typeof__(x) shim_value = *(volatile __typeof__(x) *)&(x);	\
	nmi_point();							\
	shim_value; })

#define WRITE_ONCE(x, value) do {					\
	nmi_point();							\
	*(volatile __typeof__(x) *)&(x) = (value);			\
	nmi_point();							\
} while (0)

#define likely(x)	(x)
#define unlikely(x)	(x)

#endif
