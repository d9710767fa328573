/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_PFN_H
#define SHIM_LINUX_PFN_H

#include <asm/page.h>

#define PHYS_PFN(address)	((unsigned long)((address) >> PAGE_SHIFT))

#endif
