/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_ASM_IO_H
#define SHIM_ASM_IO_H

#include <linux/types.h>

u64 virt_to_phys(const void *address);
void *phys_to_virt(u64 address);

#endif
