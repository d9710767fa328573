// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address filters: IP ranges in which hardware traces, or whose first
 * instruction ends the trace (Intel SDM, "Filtering by IP").
 *
 * Hardware compares addresses, user space and perf's core know files: the core
 * says for each filter where its file is mapped, if it is.
 */
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/processor.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "pt.h"

/**
 * pt_filters_most - how many ranges an event may have
 *
 * CPUID could tell of more than there are registers for.
 *
 * Return: a number
 */
unsigned int pt_filters_most(void)
{
	return min_t(u32, PT_MAX_RANGES,
		     pt_caps_get(&pt_pmu.caps, PT_CAP_num_address_ranges));
}

/**
 * pt_filters_alloc - make room for the filters that an event may get
 * @event: a new one; a child has its parent's, until it is told of its own
 *
 * Context: process, may sleep.
 *
 * Return: 0 or -ENOMEM
 */
int pt_filters_alloc(struct perf_event *event)
{
	int node = event->cpu < 0 ? NUMA_NO_NODE : cpu_to_node(event->cpu);
	struct pt_filters *own, *parents;

	if (!pt_filters_most())
		return 0;

	own = kzalloc_node(sizeof(*own), GFP_KERNEL, node);
	event->hw.addr_filters = own;
	if (!own)
		return -ENOMEM;
	if (event->parent) {
		parents = event->parent->hw.addr_filters;
		*own = *parents;
	}
	return 0;
}

/**
 * pt_filters_free - undo pt_filters_alloc()
 * @event: whose filters go; it is not used any more
 */
void pt_filters_free(struct perf_event *event)
{
	struct pt_filters *own = event->hw.addr_filters;

	kfree(own);
}

/**
 * pt_filters_validate - pmu::addr_filters_validate(): what hardware can do
 * @filters: that user space asks for
 *
 * Return: 0, or -EOPNOTSUPP: more ranges than there are; a single address; or a
 * start, for hardware can stop at an address and not begin at one
 */
int pt_filters_validate(struct list_head *filters)
{
	unsigned int left = pt_filters_most();
	struct perf_addr_filter *filter;

	list_for_each_entry(filter, filters, entry) {
		if (!left-- || !filter->size ||
		    filter->action == PERF_ADDR_FILTER_ACTION_START)
			return -EOPNOTSUPP;
	}
	return 0;
}

/* No code is ever in the last page: errors that are pointers point there. */
#define PT_NOWHERE	(-PAGE_SIZE)

/* The nearest canonical addresses: no other can be executed, or be written. */
static unsigned long pt_canonical_from(unsigned long addr)
{
	u8 bits = boot_cpu_data.x86_virt_bits;

	if (!IS_ENABLED(CONFIG_X86_64) || __is_canonical_address(addr, bits))
		return addr;
	return -BIT_ULL(bits - 1);
}

static unsigned long pt_canonical_to(unsigned long addr)
{
	u8 bits = boot_cpu_data.x86_virt_bits;

	if (!IS_ENABLED(CONFIG_X86_64) || __is_canonical_address(addr, bits))
		return addr;
	return BIT_ULL(bits - 1) - 1;
}

static void pt_set_nowhere(struct pt_filters *filters, unsigned int nr)
{
	filters->a[nr] = PT_NOWHERE;
	filters->b[nr] = PT_NOWHERE;
}

static void pt_set_range(struct pt_filters *filters, unsigned int nr,
			 unsigned long start, unsigned long size)
{
	unsigned long most = ULONG_MAX - start;

	filters->a[nr] = pt_canonical_from(start);
	filters->b[nr] = pt_canonical_to(start + min(size - 1, most));
	/* All of it is where no address is. */
	if (filters->b[nr] < filters->a[nr])
		pt_set_nowhere(filters, nr);
}

/**
 * pt_filters_sync - pmu::addr_filters_sync(): take over where filters are
 * @event: perf_event::addr_filter_ranges has changed
 *
 * A filter whose file is not mapped must not match, and must not be left out
 * either: without any, hardware traces everything. Where a filter and a mapping
 * just touch, the core tells of a range without a byte.
 *
 * Context: on the CPU of the event, which is being started.
 */
void pt_filters_sync(struct perf_event *event)
{
	struct pt_filters *own = event->hw.addr_filters;
	const struct perf_addr_filter_range *mapped;
	struct perf_addr_filter *wanted;
	unsigned int nr = 0;
	u64 config;

	if (!own)
		return;

	own->ctl = 0;
	mapped = event->addr_filter_ranges;
	list_for_each_entry(wanted, &perf_event_addr_filters(event)->list, entry) {
		if (mapped[nr].size)
			pt_set_range(own, nr, mapped[nr].start, mapped[nr].size);
		else
			pt_set_nowhere(own, nr);

		config = wanted->action == PERF_ADDR_FILTER_ACTION_FILTER ?
			 RTIT_ADDR_FILTER : RTIT_ADDR_STOP;
		own->ctl |= config << (RTIT_CTL_ADDR0_OFFSET +
				       nr * RTIT_ADDR_CFG_BITS);
		nr++;
	}
	own->nr = nr;
}
