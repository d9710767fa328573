// SPDX-License-Identifier: GPL-2.0-only
/*
 * AUX areas as branch trace store sees them.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "bts.h"

/* The hardware goes by linear addresses, so pages need not be contiguous. */
static void *bts_map(void **pages, unsigned int nr)
{
	/* As for the area itself, nothing is killed for it. */
	struct page **map = kvmalloc_array(nr, sizeof(*map), GFP_KERNEL |
					   __GFP_NORETRY | __GFP_NOWARN);
	unsigned int page;
	void *base;

	if (!map)
		return NULL;
	for (page = 0; page < nr; page++)
		map[page] = virt_to_page(pages[page]);
	base = vmap(map, nr, VM_MAP, PAGE_KERNEL);
	kvfree(map);
	return base;
}

/**
 * bts_setup_aux - pmu::setup_aux(): prepare an AUX area for hardware
 * @mapped: the event whose file is mapped
 * @pages: kernel address of each page
 * @nr_pages: number of pages, a power of two
 * @overwrite: the area is in overwrite mode
 *
 * Context: process, may sleep.
 *
 * Return: the struct bts_buffer; or -ENOMEM if there is no memory, or no range of
 * addresses of that size
 */
void *bts_setup_aux(struct perf_event *mapped, void **pages, int nr_pages,
		    bool overwrite)
{
	int node = mapped->cpu < 0 ? NUMA_NO_NODE : cpu_to_node(mapped->cpu);
	struct bts_buffer *buf;

	buf = kzalloc_node(sizeof(*buf), GFP_KERNEL_ACCOUNT, node);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	buf->size = (u64)nr_pages << PAGE_SHIFT;
	buf->overwrite = overwrite;
	buf->base = bts_map(pages, nr_pages);
	if (buf->base)
		return buf;

	kfree(buf);
	return ERR_PTR(-ENOMEM);
}

/**
 * bts_free_aux - pmu::free_aux()
 * @area: from bts_setup_aux(); no transaction is open
 *
 * Context: process, may sleep.
 */
void bts_free_aux(void *area)
{
	struct bts_buffer *buf = area;

	vunmap(buf->base);
	kfree(buf);
}
