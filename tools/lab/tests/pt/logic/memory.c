// SPDX-License-Identifier: GPL-2.0-only
/*
 * Physical memory of the tests: an address range of this process, of which only
 * what is touched takes memory. Chunks are dealt from its begin, and the pages
 * of tables from its end.
 */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"

#define NR_PAGES	(MEMORY_SIZE >> PAGE_SHIFT)
#define ALIGNMENT	(1UL << 27)

static char *memory;
static struct page *pages;
static u64 physical_base;
static unsigned long next_chunk, next_table;
int memory_node;
static unsigned int in_use, until_failure;

static void *reserve(size_t size)
{
	void *range = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (range == MAP_FAILED) {
		perror("logic: mmap");
		exit(2);
	}
	return range;
}

void memory_reset(u64 physical)
{
	if (!memory) {
		memory = reserve(MEMORY_SIZE + ALIGNMENT);
		memory += -(unsigned long)memory & (ALIGNMENT - 1);
		pages = reserve(NR_PAGES * sizeof(*pages));
	}
	physical_base = physical;
	next_chunk = 0;
	next_table = NR_PAGES;
	until_failure = 0;
}

void *memory_chunk(unsigned int order)
{
	unsigned long page = (next_chunk + (1UL << order) - 1) & ~((1UL << order) - 1);

	next_chunk = page + (1UL << order);
	pages[page].private = order;
	return memory + page * PAGE_SIZE;
}

void memory_fail(unsigned int nth)
{
	until_failure = nth;
}

unsigned int memory_in_use(void)
{
	return in_use;
}

static bool fails(void)
{
	if (until_failure && !--until_failure)
		return true;
	in_use++;
	return false;
}

bool memory_has(u64 physical, u64 size)
{
	return physical >= physical_base && size <= MEMORY_SIZE &&
	       physical - physical_base <= MEMORY_SIZE - size;
}

u64 virt_to_phys(const void *address)
{
	return physical_base + ((const char *)address - memory);
}

void *phys_to_virt(u64 address)
{
	return memory + (address - physical_base);
}

struct page *virt_to_page(const void *address)
{
	return &pages[((const char *)address - memory) >> PAGE_SHIFT];
}

void *page_address(const struct page *page)
{
	return memory + (page - pages) * PAGE_SIZE;
}

struct page *alloc_pages_node(int node, gfp_t gfp, unsigned int order)
{
	EXPECT(!order && gfp == (GFP_KERNEL_ACCOUNT | __GFP_ZERO));
	memory_node = node;
	if (fails())
		return NULL;
	next_table--;
	/* What was there before is still there, unless it is asked not to be. */
	memset(memory + next_table * PAGE_SIZE, gfp & __GFP_ZERO ? 0 : 0xff, PAGE_SIZE);
	pages[next_table].private = 0;
	return &pages[next_table];
}

void __free_page(struct page *page)
{
	EXPECT(page >= pages + next_table && !page->private);
	in_use--;
}

void *kzalloc_node(size_t size, gfp_t gfp, int node)
{
	EXPECT(gfp == GFP_KERNEL || gfp == GFP_KERNEL_ACCOUNT);
	memory_node = node;
	return fails() ? NULL : calloc(1, size);
}

void *kvmalloc_node(size_t size, gfp_t gfp, int node)
{
	/* More than any area of the tests needs */
	EXPECT(gfp == GFP_KERNEL_ACCOUNT && size < MEMORY_SIZE >> PAGE_SHIFT);
	return fails() ? NULL : malloc(size);
}

void kfree(const void *address)
{
	in_use -= !!address;
	free((void *)address);
}

void kvfree(const void *address)
{
	kfree(address);
}
