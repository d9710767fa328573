/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages and memory, which each test has of its own. */
#ifndef SHIM_LINUX_GFP_H
#define SHIM_LINUX_GFP_H

#include <stddef.h>

#include <linux/bitops.h>
#include <linux/types.h>

typedef unsigned int gfp_t;

#define GFP_KERNEL		1
#define GFP_KERNEL_ACCOUNT	2
#define __GFP_ZERO		4
#define __GFP_NORETRY		8
#define __GFP_NOWARN		16
#define MAX_PAGE_ORDER		10
#define NUMA_NO_NODE		(-1)

struct page {
	unsigned long private, index;
	void *mapping;
	bool has_private;
	int refs, entries;
};

struct page *alloc_pages_node(int node, gfp_t gfp, unsigned int order);
void __free_page(struct page *page);

void *kzalloc_node(size_t size, gfp_t gfp, int node);
void *kvmalloc_node(size_t size, gfp_t gfp, int node);
void *kvmalloc_array(size_t count, size_t size, gfp_t gfp);
void kfree(const void *memory);
void kvfree(const void *memory);

static inline size_t array_size(size_t count, size_t size)
{
	return count * size;
}

#endif
