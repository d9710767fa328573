// SPDX-License-Identifier: GPL-2.0-only
/* pages.c: chunks, failures at each page, sizes that are refused. */
#include "check.h"

static struct pmu pmu;
static struct perf_aux aux;

static int alloc(unsigned long pages, unsigned int order)
{
	aux = (struct perf_aux){ .nr_pages = pages, .pmu = &pmu };
	return perf_aux_alloc_pages(&aux, min(order, (unsigned int)ilog2(pages)), world.node_wanted);
}

/* Each chunk is contiguous, no larger than there is, and its first page says how large. */
static bool chunks_are_right(unsigned long pages, unsigned int most)
{
	unsigned long at = 0;

	if (aux.nr_pages != pages)
		return false;
	while (at < pages) {
		struct page *first = virt_to_page(aux.pages[at]);
		unsigned int order = first->has_private ? first->private : 0;

		/* Nothing smaller while the largest is there and fits. */
		if (order != min(most, (unsigned int)ilog2(pages - at)))
			return false;
		for (unsigned long i = 0; i < 1UL << order; i++)
			if (virt_to_page(aux.pages[at + i]) != first + i || first[i].refs != 1 ||
			    (i && first[i].has_private))
				return false;
		at += 1UL << order;
	}
	return true;
}

static void test_chunks(void)
{
	bool good = true, clean = true;

	for (unsigned int there = 0; there <= MAX_PAGE_ORDER; there++) {
		for (unsigned int order = 0; order <= MAX_PAGE_ORDER; order++) {
			for (unsigned long pages = 1; pages <= 2048; pages *= 2) {
				world_begin();
				world.node_wanted = pages & 0x55 ? 3 : NUMA_NO_NODE;
				world.order_there = there;
				good = good && !alloc(pages, order) &&
				       chunks_are_right(pages, min(there, order));
				if (good)
					perf_aux_free_pages(&aux);
				clean = clean && !pages_used() && !aux.pages && !aux.nr_pages;
			}
		}
	}
	point(good, "pages: chunks as large as wanted and there");
	point(clean, "pages: all of them are freed");
}

static void test_failures(void)
{
	bool good = true;

	for (long left = 0; left < 64; left++) {
		world_begin();
		world.pages_left = left;
		good = good && alloc(64, 3) == -ENOMEM && world_clean() && !aux.pages;
	}
	world_begin();
	world.pages_left = 64;
	good = good && !alloc(64, 3);
	perf_aux_free_pages(&aux);
	point(good, "pages: none is kept if one is missing");

	for (int after = 0; after < 8; after++) {
		world_begin();
		world.signal_after = after;
		good = good && alloc(64, 3) == -EINTR && world_clean() && !aux.pages;
	}
	point(good, "pages: a fatal signal ends it");
	world_begin();
	world.no_vmalloc = true;
	point(alloc(64, 3) == -ENOMEM && world_clean(), "pages: no array of them");
}

static void test_sizes(void)
{
	unsigned long most = (PAGE_SIZE << MAX_PAGE_ORDER) / sizeof(void *);

	world_begin();
	world.pages_left = 0;
	point(alloc(totalram_pages() + 1, 0) == -ENOMEM && world.pages_left == 0,
	      "pages: more than there is");
	/* With a size that is allowed, a signal is what comes first. */
	world.signal_after = 0;
	point(alloc(most, 0) == -EINTR, "pages: as many as a driver supports");
	world.signal_after = 0;
	point(alloc(most + 1, 0) == -ENOMEM, "pages: one more than a driver supports");
	pmu.capabilities = PERF_PMU_CAP_AUX_ANY_SIZE;
	world.signal_after = 0;
	point(alloc(most * 2, 0) == -EINTR, "pages: a driver that supports any size");
	world.signal_after = 0;
	point(alloc(totalram_pages(), 0) == -EINTR, "pages: all that there are");
	world.signal_after = 0;
	point(alloc(totalram_pages() + 1, 0) == -ENOMEM, "pages: but one more");
	pmu.capabilities = 0;
}

void test_pages(unsigned long steps)
{
	test_chunks();
	test_failures();
	test_sizes();
}
