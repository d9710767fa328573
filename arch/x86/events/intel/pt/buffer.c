// SPDX-License-Identifier: GPL-2.0-only
/*
 * An AUX area as Processor Trace writes it: regions in tables of physical
 * addresses, ToPA, or a single range (Intel SDM, "Trace Output").
 *
 * Tables are full but for the last, so that the number of a region is that of
 * its table and its entry. Each table ends with a link to the next, the last
 * with one to the first::
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
 * Where a table can have but one region, there is one table whose region is
 * replaced when it is full.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "pt.h"

/* A chunk of the page allocator is one region. */
static_assert(MAX_PAGE_ORDER <= TOPA_MAX_ORDER);
/* The page of an area is a region's smallest size. */
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

static bool pt_has_one_region_tables(const struct pt_buffer *buf)
{
	return buf->per_table == 1;
}

/* The entry of a region in tables of many. */
static u64 *pt_entry(const struct pt_buffer *buf, unsigned int region)
{
	return &buf->tables[region / buf->per_table][region % buf->per_table];
}

static void pt_free_tables(struct pt_buffer *buf)
{
	while (buf->nr_tables)
		free_page((unsigned long)buf->tables[--buf->nr_tables]);
	kvfree(buf->tables);
	buf->tables = NULL;
}

static int pt_alloc_tables(struct pt_buffer *buf, unsigned int nr, int node)
{
	struct page *page;

	buf->tables = kvmalloc_node(array_size(nr, sizeof(*buf->tables)),
				    GFP_KERNEL, node);
	if (!buf->tables)
		return -ENOMEM;

	while (buf->nr_tables < nr) {
		page = alloc_pages_node(node, GFP_KERNEL | __GFP_ZERO, 0);
		if (!page) {
			pt_free_tables(buf);
			return -ENOMEM;
		}
		/* A table is found again by its address in a register. */
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

/* A table of one region; which one, is decided when it is used. */
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

	/* Hardware goes round in the one region: so it is the whole area. */
	if (buf->overwrite && buf->layout.nr > 1)
		return -ENOMEM;
	buf->per_table = 1;
	ret = pt_alloc_tables(buf, 1, node);
	if (!ret)
		pt_fill_one_region_table(buf);
	return ret;
}

/* Find the chunks that an area consists of. */
static int pt_make_layout(struct pt_buffer *buf, unsigned int nr_pages, int node)
{
	unsigned int page, nr = 0;
	u32 *first;

	for (page = 0; page < nr_pages; nr++)
		page += 1U << page_private(virt_to_page(buf->pages[page]));

	first = kvmalloc_node(array_size(nr + 1, sizeof(*first)), GFP_KERNEL, node);
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
 * Whether an area is written as a single range: it takes one register less to
 * set up, but does not interrupt, and neither does it stop. On some processors
 * it goes wrong beyond a page (errata TGL052, ADL037, RPL017); it is hard to say
 * on which, so where there is ToPA a page is the limit.
 */
static bool pt_is_single_range(const struct pt_buffer *buf)
{
	if (!pt_caps_get(&pt_pmu.caps, PT_CAP_single_range_output) ||
	    !buf->overwrite || buf->layout.nr > 1)
		return false;
	return pt_area_size(&buf->layout) == PAGE_SIZE ||
	       !pt_caps_get(&pt_pmu.caps, PT_CAP_topa_output);
}

static int pt_make_output(struct pt_buffer *buf, int node)
{
	if (pt_is_single_range(buf))
		return 0;
	/* Without tables hardware can go round only, and not in pieces. */
	if (!pt_caps_get(&pt_pmu.caps, PT_CAP_topa_output))
		return buf->overwrite ? -ENOMEM : -EOPNOTSUPP;
	return pt_make_tables(buf, node);
}

/**
 * pt_setup_aux - pmu::setup_aux(): prepare an AUX area for hardware
 * @event: whose area it is
 * @pages: addresses of its pages
 * @nr_pages: how many, a power of two
 * @overwrite: newest data win
 *
 * Context: process, may sleep.
 *
 * Return: the buffer; NULL: samples are to be taken of an area that is not in
 * overwrite mode, which interrupts while one is taken; or an error:
 *
 * * -ENOMEM: no memory, or it is in more pieces than hardware can use
 * * -EOPNOTSUPP: hardware has no tables, so it cannot stop for a reader
 */
void *pt_setup_aux(struct perf_event *event, void **pages, int nr_pages,
		   bool overwrite)
{
	int node = event->cpu < 0 ? NUMA_NO_NODE : cpu_to_node(event->cpu);
	struct pt_buffer *buf;
	int ret;

	if (event->attr.aux_sample_size && !overwrite)
		return NULL;

	buf = kzalloc_node(sizeof(*buf), GFP_KERNEL, node);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	buf->pages = pages;
	buf->overwrite = overwrite;
	/* Whoever traces to it, what was written before is elsewhere. */
	buf->psb_due = true;
	ret = pt_make_layout(buf, nr_pages, node);
	if (!ret)
		ret = pt_make_output(buf, node);
	if (!ret)
		return buf;

	kvfree(buf->layout.first);
	kfree(buf);
	return ERR_PTR(ret);
}

/**
 * pt_free_aux - pmu::free_aux()
 * @area: from pt_setup_aux()
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

/* Full-trace mode with tables of one region: it stops at the end of that. */
static void pt_aim_one_region(struct pt_buffer *buf)
{
	buf->marks.stop = buf->region;
	buf->marks.intr = buf->region;
	buf->marks.stop_at = buf->head - buf->offset +
			     pt_region_size(&buf->layout, buf->region);
	buf->tables[0][0] = pt_region_entry(buf, buf->region) |
			    TOPA_INT | TOPA_STOP;
}

/**
 * pt_aim - decide from where to where hardware writes
 * @buf: of the transaction
 * @handle: of the transaction
 *
 * Context: PT_BUSY, tracing is off.
 *
 * Return: false if nothing can be written, because the end of the region has not
 * been read yet
 */
bool pt_aim(struct pt_buffer *buf, const struct perf_output_handle *handle)
{
	const struct pt_layout *layout = &buf->layout;
	struct pt_marks marks;

	buf->head = handle->head;
	buf->region = pt_region_at(layout, buf->head);
	buf->offset = pt_offset_in(layout, buf->region, buf->head);
	if (buf->overwrite)
		return true;

	if (!pt_place_marks(layout, buf->head, handle->size, handle->wakeup, &marks))
		return false;
	if (pt_has_one_region_tables(buf))
		pt_aim_one_region(buf);
	else
		pt_set_marks(buf, &marks);
	return true;
}

/**
 * pt_output_base - IA32_RTIT_OUTPUT_BASE for where hardware is
 * @buf: of the transaction
 *
 * Return: the register
 */
u64 pt_output_base(const struct pt_buffer *buf)
{
	if (!buf->tables)
		return virt_to_phys(buf->pages[0]);
	if (pt_has_one_region_tables(buf))
		return virt_to_phys(buf->tables[0]);
	return virt_to_phys(buf->tables[buf->region / buf->per_table]);
}

/**
 * pt_output_ptrs - IA32_RTIT_OUTPUT_MASK_PTRS for where hardware is
 * @buf: of the transaction
 *
 * Return: the register
 */
u64 pt_output_ptrs(const struct pt_buffer *buf)
{
	u64 ptrs = FIELD_PREP(RTIT_PTRS_OFFSET, (u64)buf->offset);

	if (!buf->tables)
		return ptrs | FIELD_PREP(RTIT_PTRS_RANGE,
					 pt_area_size(&buf->layout) - 1);
	return ptrs | RTIT_PTRS_ONES |
	       FIELD_PREP(RTIT_PTRS_ENTRY, (u64)(buf->region % buf->per_table));
}

/**
 * pt_locate - find where hardware is
 * @buf: of the transaction
 * @base: IA32_RTIT_OUTPUT_BASE
 * @ptrs: IA32_RTIT_OUTPUT_MASK_PTRS
 */
void pt_locate(struct pt_buffer *buf, u64 base, u64 ptrs)
{
	unsigned int table, entry;

	buf->offset = FIELD_GET(RTIT_PTRS_OFFSET, ptrs);
	/* It cannot leave the one region that it has. */
	if (!buf->tables || pt_has_one_region_tables(buf))
		return;

	table = buf->nr_tables > 1 ?
		page_private(virt_to_page(phys_to_virt(base))) : 0;
	entry = FIELD_GET(RTIT_PTRS_ENTRY, ptrs);
	buf->region = table * buf->per_table + entry;
	/* At the link, the next table is where it goes on. */
	if (buf->region >= buf->layout.nr)
		buf->region = 0;
}
