/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_INIT_H
#define SHIM_LINUX_INIT_H

#define __init
#define __initconst
/* Called by the tests, for each set of capabilities again. */
#define arch_initcall(function)	int shim_initcall(void) { return function(); }

int shim_initcall(void);

#endif
