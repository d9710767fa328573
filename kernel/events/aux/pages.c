// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of the AUX area: zeroed, near to the CPU that writes them, in chunks
 * as large as the PMU can use and the allocator has.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "aux.h"

/*
 * Large chunks are a favour: the allocator shall not try hard. Single pages
 * are what it takes, but no reason to kill a process.
 */
#define AUX_GFP_CHUNK	(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_NORETRY)
#define AUX_GFP_PAGE	(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | \
			 __GFP_RETRY_MAYFAIL)

/* 2 GiB with pages of 4 KiB */
#define AUX_MAX_PAGES	((PAGE_SIZE << MAX_PAGE_ORDER) / sizeof(void *))

/*
 * A chunk of at most *order, which becomes what was to be had: a size that
 * the allocator has run out of is not asked for again.
 *
 * PMUs recognize a chunk by its first page, whose private data is its order.
 */
static struct page *aux_alloc_chunk(int node, unsigned int *order)
{
	struct page *page;

	for (; *order; --*order) {
		page = alloc_pages_node(node, AUX_GFP_CHUNK, *order);
		if (page) {
			split_page(page, *order);
			SetPagePrivate(page);
			set_page_private(page, *order);
			return page;
		}
	}
	return alloc_pages_node(node, AUX_GFP_PAGE, 0);
}

/* Each page has a reference of its own by now, whatever chunk it came from. */
static void aux_free_page(void *addr)
{
	struct page *page = virt_to_page(addr);

	if (PagePrivate(page)) {
		set_page_private(page, 0);
		ClearPagePrivate(page);
	}
	__free_page(page);
}

static int aux_fill(struct perf_aux *aux, unsigned long nr_pages,
		    unsigned int max_order, int node)
{
	unsigned int order = max_order;
	struct page *page;
	unsigned long i;

	while (aux->nr_pages < nr_pages) {
		if (fatal_signal_pending(current))
			return -EINTR;

		order = min_t(unsigned int, order,
			      ilog2(nr_pages - aux->nr_pages));
		page = aux_alloc_chunk(node, &order);
		if (!page)
			return -ENOMEM;

		for (i = 0; i < 1UL << order; i++)
			aux->pages[aux->nr_pages++] = page_address(page + i);
		cond_resched();
	}
	return 0;
}

/**
 * perf_aux_alloc_pages - the pages of an area
 * @aux: the area; nr_pages says how many, pages is set
 * @max_order: the largest chunk that is of use
 * @node: where the writer runs, or NUMA_NO_NODE
 *
 * Context: process, may sleep; a fatal signal ends it early.
 *
 * Return: 0, -ENOMEM, -EINTR; nothing stays allocated after an error
 */
int perf_aux_alloc_pages(struct perf_aux *aux, unsigned int max_order, int node)
{
	unsigned long nr_pages = aux->nr_pages;
	int ret;

	aux->nr_pages = 0;
	/* Nothing is reclaimed for what can never be. */
	if (nr_pages > totalram_pages())
		return -ENOMEM;
	/* Most drivers allocate as many pointers, and count in int. */
	if (!(aux->pmu->capabilities & PERF_PMU_CAP_AUX_HUGE) &&
	    nr_pages > AUX_MAX_PAGES)
		return -ENOMEM;

	aux->pages = kvmalloc_node(array_size(nr_pages, sizeof(*aux->pages)),
				   GFP_KERNEL | __GFP_NOWARN, node);
	if (!aux->pages)
		return -ENOMEM;

	ret = aux_fill(aux, nr_pages, max_order, node);
	if (ret)
		perf_aux_free_pages(aux);
	return ret;
}

/**
 * perf_aux_free_pages - drop the area's references on its pages
 * @aux: the area; no transaction is open
 *
 * Context: process, may sleep.
 */
void perf_aux_free_pages(struct perf_aux *aux)
{
	unsigned long i;

	for (i = 0; i < aux->nr_pages; i++) {
		aux_free_page(aux->pages[i]);
		if (!(i % SZ_1K))
			cond_resched();
	}
	kvfree(aux->pages);
	aux->pages = NULL;
	aux->nr_pages = 0;
}
