/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_MM_H
#define SHIM_LINUX_MM_H

#include <linux/gfp.h>

#include <asm/page.h>

struct page *virt_to_page(const void *address);
void *page_address(const struct page *page);

int page_is_ram(unsigned long pfn);

static inline unsigned long page_private(const struct page *page)
{
	return page->private;
}

static inline void set_page_private(struct page *page, unsigned long value)
{
	page->private = value;
}

#endif
