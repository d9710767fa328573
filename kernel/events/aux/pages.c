// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of AUX areas: zeroed, on the node of the CPU that writes them, in chunks
 * as large as the PMU can use and the allocator can provide.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "aux.h"

/*
 * Charged to the memory control group of the process that maps the area.
 * __GFP_NORETRY: fail instead of reclaiming hard, and kill nothing.
 */
#define AUX_GFP		(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN | \
			 __GFP_NORETRY)

/* 2 GiB with pages of 4 KiB; see PERF_PMU_CAP_AUX_ANY_SIZE */
#define AUX_MAX_PAGES	((PAGE_SIZE << MAX_PAGE_ORDER) / sizeof(void *))

/*
 * Allocate a chunk of at most *order, and set *order to what was available, so
 * that larger chunks are not tried again.
 *
 * The first page of a chunk holds the order as its private data, for drivers.
 */
static struct page *aux_alloc_chunk(int node, unsigned int *order)
{
	struct page *page;

	for (; *order; --*order) {
		page = alloc_pages_node(node, AUX_GFP, *order);
		if (page) {
			split_page(page, *order);
			SetPagePrivate(page);
			set_page_private(page, *order);
			return page;
		}
	}
	return alloc_pages_node(node, AUX_GFP, 0);
}

/* split_page() has given each page of a chunk its own reference. */
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
 * perf_aux_alloc_pages - allocate the pages of an area
 * @aux: the area; nr_pages is set by the caller, pages by this function
 * @max_order: order of the largest chunk that the PMU can use, at most that of
 *	the area; as both are powers of two, chunks fill the area exactly
 * @node: node of the CPU that will write, or NUMA_NO_NODE
 *
 * Context: process, may sleep; a fatal signal ends it early.
 *
 * Return: 0, -ENOMEM or -EINTR; after an error, nothing is allocated
 */
int perf_aux_alloc_pages(struct perf_aux *aux, unsigned int max_order, int node)
{
	unsigned long nr_pages = aux->nr_pages;
	int ret;

	aux->nr_pages = 0;
	/* Reclaim nothing for a size that is not possible. */
	if (nr_pages > totalram_pages())
		return -ENOMEM;
	/* Most drivers kmalloc() an array of this length and index it by int. */
	if (!(aux->pmu->capabilities & PERF_PMU_CAP_AUX_ANY_SIZE) &&
	    nr_pages > AUX_MAX_PAGES)
		return -ENOMEM;

	aux->pages = kvmalloc_node(array_size(nr_pages, sizeof(*aux->pages)),
				   AUX_GFP, node);
	if (!aux->pages)
		return -ENOMEM;

	ret = aux_fill(aux, nr_pages, max_order, node);
	if (ret)
		perf_aux_free_pages(aux);
	return ret;
}

/* Number of pages freed between two calls of cond_resched() */
#define AUX_FREE_BATCH	1024

/**
 * perf_aux_free_pages - drop the area's references on its pages
 * @aux: an area without a transaction
 *
 * Context: process, may sleep.
 */
void perf_aux_free_pages(struct perf_aux *aux)
{
	unsigned long i;

	for (i = 0; i < aux->nr_pages; i++) {
		aux_free_page(aux->pages[i]);
		if (!(i % AUX_FREE_BATCH))
			cond_resched();
	}
	kvfree(aux->pages);
	aux->pages = NULL;
	aux->nr_pages = 0;
}
