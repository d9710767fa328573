/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages of the tests are contiguous, and mapped where they are. */
#ifndef SHIM_LINUX_VMALLOC_H
#define SHIM_LINUX_VMALLOC_H

#define VM_MAP		1
#define PAGE_KERNEL	1

void *vmap(struct page **pages, unsigned int nr, unsigned long flags, int prot);
void vunmap(const void *address);

#endif
