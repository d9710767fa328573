/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_BTS_LINUX_MM_H
#define SHIM_BTS_LINUX_MM_H

#include <stdlib.h>

#include <linux/types.h>

#include <asm/page.h>

#define GFP_KERNEL		1
#define GFP_KERNEL_ACCOUNT	1
#define __GFP_NORETRY		2
#define __GFP_NOWARN		4
#define NUMA_NO_NODE		(-1)

struct page;

static inline struct page *virt_to_page(const void *address)
{
	return (struct page *)address;
}

void *kzalloc_node(size_t size, int gfp, int node);
void *kvmalloc_array(size_t nr, size_t size, int gfp);
void kfree(const void *memory);
void kvfree(const void *memory);

#endif
