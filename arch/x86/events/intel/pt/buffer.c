// SPDX-License-Identifier: GPL-2.0-only
/*
 * AUX areas as the hardware sees them: regions in tables of physical addresses
 * (ToPA), or a single range (Intel SDM, "Trace Output").
 *
 * All tables but the last are full, so a region's number is its table times the
 * regions of a table, plus its entry. Each table ends with a link to the next,
 * the last one with a link to the first::
 *
 *	table 0                         table 1
 *	+--------------------------+    +--------------------------+
 *	| region 0                 |    | region 511               |
 *	| region 1             INT |    | region 512               |
 *	| ...                      |    | END      table 0       ----> table 0
 *	| region 510      INT STOP |    |                          |
 *	| END      table 1       ------>|                          |
 *	+--------------------------+    +--------------------------+
 *
 * If the hardware supports only one region in a table, there is one table, whose
 * region is replaced when it is full.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "output.h"
#include "pt.h"

/* A chunk of the page allocator is one region. */
static_assert(MAX_PAGE_ORDER <= TOPA_MAX_ORDER);
/* A page is the smallest region. */
static_assert(PAGE_SHIFT == TOPA_REGION_SHIFT);

static unsigned int pt_region_order(const struct pt_buffer *buf, unsigned int region)
{
	return __ffs(pt_region_size(&buf->layout, region)) - TOPA_REGION_SHIFT;
}

static u64 pt_region_entry(const struct pt_buffer *buf, unsigned int region)
{
	return topa_region(virt_to_phys(buf->pages[buf->layout.first[region]]),
			   pt_region_order(buf, region));
}

/* The entry of a region, in tables that have several regions. */
static u64 *pt_entry(const struct pt_buffer *buf, unsigned int region)
{
	return &buf->tables[region / buf->per_table][region % buf->per_table];
}

static void pt_free_tables(struct pt_buffer *buf)
{
	struct page *page;

	while (buf->nr_tables) {
		page = virt_to_page(buf->tables[--buf->nr_tables]);
		set_page_private(page, 0);
		__free_page(page);
	}
	kvfree(buf->tables);
	buf->tables = NULL;
}

static int pt_alloc_tables(struct pt_buffer *buf, unsigned int nr, int node)
{
	struct page *page;

	buf->tables = kvmalloc_node(array_size(nr, sizeof(*buf->tables)),
				    GFP_KERNEL_ACCOUNT, node);
	if (!buf->tables)
		return -ENOMEM;

	while (buf->nr_tables < nr) {
		page = alloc_pages_node(node, GFP_KERNEL_ACCOUNT | __GFP_ZERO, 0);
		if (!page) {
			pt_free_tables(buf);
			return -ENOMEM;
		}
		/* pt_locate() finds the number by the table's address. */
		set_page_private(page, buf->nr_tables);
		buf->tables[buf->nr_tables++] = page_address(page);
	}
	return 0;
}

static void pt_fill_tables(struct pt_buffer *buf)
{
	unsigned int region, table, used, last = buf->nr_tables - 1;

	for (region = 0; region < buf->layout.nr; region++)
		*pt_entry(buf, region) = pt_region_entry(buf, region);

	for (table = 0; table < buf->nr_tables; table++) {
		used = min(buf->per_table,
			   buf->layout.nr - table * buf->per_table);
		buf->tables[table][used] =
			topa_link(virt_to_phys(buf->tables[table == last ? 0 : table + 1]));
	}
}

/* The table of one region; pt_set_output() replaces the region. */
static void pt_fill_one_region_table(struct pt_buffer *buf)
{
	buf->tables[0][0] = pt_region_entry(buf, 0);
	buf->tables[0][1] = topa_link(virt_to_phys(buf->tables[0]));
}

static int pt_make_tables(struct pt_buffer *buf, int node)
{
	int ret;

	if (pt_caps_get(&pt_pmu.caps, PT_CAP_topa_multiple_entries)) {
		buf->per_table = TOPA_TABLE_ENTRIES - 1;
		ret = pt_alloc_tables(buf, DIV_ROUND_UP(buf->layout.nr,
							buf->per_table), node);
		if (!ret)
			pt_fill_tables(buf);
		return ret;
	}

	/* The hardware wraps in its one region, which must be the whole area. */
	if (buf->overwrite && buf->layout.nr > 1)
		return -ENOMEM;
	buf->per_table = 1;
	ret = pt_alloc_tables(buf, 1, node);
	if (!ret)
		pt_fill_one_region_table(buf);
	return ret;
}

/* One region for each chunk; private data of its first page is the order. */
static int pt_make_layout(struct pt_buffer *buf, unsigned int nr_pages, int node)
{
	unsigned int page, nr = 0;
	u32 *first;

	for (page = 0; page < nr_pages; nr++)
		page += 1U << page_private(virt_to_page(buf->pages[page]));

	first = kvmalloc_node(array_size(nr + 1, sizeof(*first)), GFP_KERNEL_ACCOUNT, node);
	if (!first)
		return -ENOMEM;

	for (page = 0, nr = 0; page < nr_pages; nr++) {
		first[nr] = page;
		page += 1U << page_private(virt_to_page(buf->pages[page]));
	}
	first[nr] = nr_pages;
	buf->layout = (struct pt_layout) { .first = first, .nr = nr };
	return 0;
}

/*
 * A single range needs no table, but it does not interrupt and does not stop. Some
 * processors write wrong data if it is larger than a page (errata TGL052, ADL037,
 * RPL017). So it is used in overwrite mode, for areas of one page.
 */
static bool pt_is_single_range(const struct pt_buffer *buf)
{
	return pt_caps_get(&pt_pmu.caps, PT_CAP_single_range_output) &&
	       buf->overwrite && pt_area_size(&buf->layout) == PAGE_SIZE;
}

/**
 * pt_setup_aux - pmu::setup_aux(): prepare an AUX area for hardware
 * @event: the event whose file is mapped
 * @pages: kernel address of each page
 * @nr_pages: number of pages, a power of two
 * @overwrite: the area is in overwrite mode
 *
 * Context: process, may sleep.
 *
 * Return: the struct pt_buffer; NULL if the event wants samples of an area that is
 * not in overwrite mode; or an error:
 *
 * * -ENOMEM: out of memory, or the area has more chunks than the hardware can use
 */
void *pt_setup_aux(struct perf_event *event, void **pages, int nr_pages,
		   bool overwrite)
{
	int node = event->cpu < 0 ? NUMA_NO_NODE : cpu_to_node(event->cpu);
	struct pt_buffer *buf;
	int ret;

	if (event->attr.aux_sample_size && !overwrite)
		return NULL;

	buf = kzalloc_node(sizeof(*buf), GFP_KERNEL_ACCOUNT, node);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	buf->pages = pages;
	buf->overwrite = overwrite;
	/* The first trace in this area has no predecessor here. */
	buf->psb_due = true;
	ret = pt_make_layout(buf, nr_pages, node);
	if (!ret && !pt_is_single_range(buf))
		ret = pt_make_tables(buf, node);
	if (!ret)
		return buf;

	kvfree(buf->layout.first);
	kfree(buf);
	return ERR_PTR(ret);
}

/**
 * pt_free_aux - pmu::free_aux()
 * @area: from pt_setup_aux(); no transaction is open
 *
 * Context: process, may sleep.
 */
void pt_free_aux(void *area)
{
	struct pt_buffer *buf = area;

	pt_free_tables(buf);
	kvfree(buf->layout.first);
	kfree(buf);
}

static void pt_mark(struct pt_buffer *buf, unsigned int region, u64 marks)
{
	u64 *entry = pt_entry(buf, region);

	*entry = (*entry & ~(TOPA_STOP | TOPA_INT)) | marks;
}

static void pt_set_marks(struct pt_buffer *buf, const struct pt_marks *marks)
{
	if (buf->marked && marks->stop == buf->marks.stop &&
	    marks->intr == buf->marks.intr) {
		buf->marks = *marks;
		return;
	}

	if (buf->marked) {
		pt_mark(buf, buf->marks.intr, 0);
		pt_mark(buf, buf->marks.stop, 0);
	}
	pt_mark(buf, marks->intr, TOPA_INT);
	pt_mark(buf, marks->stop, TOPA_INT | TOPA_STOP);
	buf->marks = *marks;
	buf->marked = true;
}

/*
 * Full-trace mode with a table of one region: stop at the end of the region. As
 * until stays 0, these marks never hold for another transaction.
 */
static void pt_set_one_region(struct pt_buffer *buf)
{
	buf->marks.stop = buf->region;
	buf->marks.intr = buf->region;
	buf->marks.stop_at = buf->head - buf->offset +
			     pt_region_size(&buf->layout, buf->region);
	buf->tables[0][0] = pt_region_entry(buf, buf->region) |
			    TOPA_INT | TOPA_STOP;
}

/**
 * pt_set_output - prepare the position and the ToPA tables for a transaction
 * @buf: the area; head, region and offset are set
 * @handle: the transaction
 *
 * In full-trace mode, marks the regions at which the hardware interrupts and stops.
 * pt_load() writes the registers.
 *
 * Context: PT_BUSY, TraceEn is clear.
 *
 * Return: false if there is no room up to the end of a region
 */
bool pt_set_output(struct pt_buffer *buf,
		   const struct perf_output_handle *handle)
{
	const struct pt_layout *layout = &buf->layout;
	struct pt_marks marks;

	buf->head = handle->head;
	/* Most traces continue where they stopped. */
	if (pt_offset_in(layout, buf->region, buf->head) >=
	    pt_region_size(layout, buf->region))
		buf->region = pt_region_at(layout, buf->head);
	buf->offset = pt_offset_in(layout, buf->region, buf->head);
	if (buf->overwrite || pt_marks_hold(&buf->marks, buf->head, handle->size,
					    handle->wakeup))
		return true;

	if (!pt_place_marks(layout, buf->head, handle->size, handle->wakeup, &marks))
		return false;
	if (pt_has_one_region_tables(buf))
		pt_set_one_region(buf);
	else
		pt_set_marks(buf, &marks);
	return true;
}
