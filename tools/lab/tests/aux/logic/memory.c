// SPDX-License-Identifier: GPL-2.0-only
/* Pages, page tables, and what limits both. */
#include <stdlib.h>

#include "check.h"

#define PAGES	(1UL << 14)

static struct page pages[PAGES];
static unsigned char memory[PAGES][PAGE_SIZE] __attribute__((aligned(4096)));
static unsigned long next_page;
static long used, arrays;

int sysctl_perf_event_mlock = 516;

void memory_begin(void)
{
	memset(pages, 0, sizeof(pages));
	next_page = 0;
	used = 0;
	arrays = 0;
}

long pages_used(void)
{
	return used;
}

long arrays_used(void)
{
	return arrays;
}

struct page *alloc_pages_node(int node, gfp_t gfp, unsigned int order)
{
	unsigned long count = 1UL << order, i;

	must(gfp == (GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN | __GFP_NORETRY),
	     "pages are zeroed, accounted, and not looked for too long");
	must(node == world.node_wanted, "pages are of the node of the CPU");
	if (order > world.order_there || world.pages_left < (long)count)
		return NULL;

	next_page = (next_page + count - 1) / count * count;
	if (next_page + count > PAGES)
		next_page = 0;
	for (i = 0; i < count; i++) {
		must(!pages[next_page + i].refs, "there are pages left for the test");
		/* Without split_page() the first one has the only reference. */
		pages[next_page + i] = (struct page){ .refs = !i };
	}
	memset(memory[next_page], 0, count * PAGE_SIZE);
	world.pages_left -= count;
	used += count;
	next_page += count;
	return &pages[next_page - count];
}

void split_page(struct page *page, unsigned int order)
{
	for (unsigned long i = 1; i < 1UL << order; i++)
		page[i].refs = 1;
}

void __free_page(struct page *page)
{
	must(page->refs > 0, "a page is freed once");
	must(!page->entries, "a page that is freed is not mapped");
	must(!page->has_private && !page->private, "a page that is freed has no private data");
	page->refs--;
	used--;
}

void *page_address(const struct page *page)
{
	return memory[page - pages];
}

struct page *virt_to_page(const void *addr)
{
	unsigned long at = ((const unsigned char *)addr - memory[0]) / PAGE_SIZE;

	must(at < PAGES, "an address is that of a page");
	return &pages[at];
}

void *kvmalloc_node(size_t size, gfp_t gfp, int node)
{
	must(gfp == (GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN | __GFP_NORETRY),
	     "the array of pages is accounted, and kills nothing");
	if (world.no_vmalloc)
		return NULL;
	arrays++;
	return malloc(size ?: 1);
}

void kvfree(const void *p)
{
	arrays -= !!p;
	free((void *)p);
}

unsigned long totalram_pages(void)
{
	return 1UL << 21;
}

int get_order(unsigned long size)
{
	unsigned long count = (size + PAGE_SIZE - 1) >> PAGE_SHIFT;

	return count <= 1 ? 0 : ilog2(count - 1) + 1;
}

bool fatal_signal_pending(void *task)
{
	return world.signal_after >= 0 && !world.signal_after--;
}

bool capable(int what)
{
	must(what == CAP_IPC_LOCK, "CAP_IPC_LOCK is asked for");
	world.asked_capable++;
	return world.capable;
}

/* What is mapped: each page table entry. */
static struct {
	const struct vm_area_struct *vma;
	unsigned long addr;
	struct page *page;
} entries[1 << 14];
static unsigned int nr_entries;

void unmap_all(void)
{
	nr_entries = 0;
}

/* As the core does, before it calls close(), or after mmap() has failed. */
void zap_special_vma_range(struct vm_area_struct *vma, unsigned long addr, unsigned long size)
{
	unsigned int kept = 0;

	must(addr == vma->vm_start && addr + size == vma->vm_end, "all of a VMA is unmapped");
	for (unsigned int i = 0; i < nr_entries; i++) {
		if (entries[i].vma == vma)
			entries[i].page->entries--;
		else
			entries[kept++] = entries[i];
	}
	nr_entries = kept;
}

unsigned int entries_mapped(void)
{
	return nr_entries;
}

struct page *page_at(const struct vm_area_struct *vma, unsigned long addr)
{
	for (unsigned int i = 0; i < nr_entries; i++)
		if (entries[i].vma == vma && entries[i].addr == addr)
			return entries[i].page;
	return NULL;
}

unsigned long page_to_pfn(const struct page *page)
{
	return page - pages;
}

vm_fault_t vmf_insert_pfn_prot(struct vm_area_struct *vma, unsigned long addr,
			       unsigned long pfn, pgprot_t prot)
{
	must(!(prot & VM_WRITE) && prot & VM_SHARED, "user space may read, and not write");
	must(vma->vm_flags & VM_PFNMAP && vma->vm_flags & VM_IO, "no part of the kernel refers to it");
	must(addr >= vma->vm_start && addr < vma->vm_end, "what is mapped is within the VMA");
	if (addr == world.insert_fails_at)
		return VM_FAULT_OOM;
	must(!page_at(vma, addr), "a page is mapped once");
	entries[nr_entries].vma = vma;
	entries[nr_entries].addr = addr;
	entries[nr_entries++].page = &pages[pfn];
	pages[pfn].entries++;
	return VM_FAULT_NOPAGE;
}
