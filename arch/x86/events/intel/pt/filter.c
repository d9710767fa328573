// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address filters: IP ranges in which the hardware traces, or at which it stops
 * (Intel SDM, "Filtering by IP").
 *
 * Users give offsets in files. For each filter, perf's core determines the
 * address range at which the file is mapped.
 */
#include <kunit/visibility.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/processor.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "pt.h"

/**
 * pt_filters_max - maximum number of ranges of an event
 *
 * The CPUID field could express more than there are registers in the SDM.
 *
 * Return: the number
 */
unsigned int pt_filters_max(void)
{
	return min_t(u32, PT_MAX_RANGES,
		     pt_caps_get(&pt_pmu.caps, PT_CAP_num_address_ranges));
}
EXPORT_SYMBOL_IF_KUNIT(pt_filters_max);

/**
 * pt_filters_alloc - allocate the filters of an event
 * @event: a new event; a child starts with a copy of its parent's filters
 *
 * Context: process, may sleep.
 *
 * Return: 0 or -ENOMEM
 */
int pt_filters_alloc(struct perf_event *event)
{
	int node = event->cpu < 0 ? NUMA_NO_NODE : cpu_to_node(event->cpu);
	struct pt_filters *own, *parents;

	if (!pt_filters_max())
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
 * @event: an event that is not used any more
 */
void pt_filters_free(struct perf_event *event)
{
	struct pt_filters *own = event->hw.addr_filters;

	kfree(own);
}

/**
 * pt_filters_validate - pmu::addr_filters_validate()
 * @filters: the filters that the user asks for
 *
 * Return: 0, or -EOPNOTSUPP for more ranges than the hardware has, for a single
 * address, and for "start": the hardware can stop at an address, but not start
 */
int pt_filters_validate(struct list_head *filters)
{
	unsigned int left = pt_filters_max();
	struct perf_addr_filter *filter;

	list_for_each_entry(filter, filters, entry) {
		if (!left-- || !filter->size ||
		    filter->action == PERF_ADDR_FILTER_ACTION_START)
			return -EOPNOTSUPP;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(pt_filters_validate);

/* The last page never has code, because ERR_PTR() values point there. */
#define PT_NOWHERE	(-PAGE_SIZE)

/* ADDRn_A and _B must be canonical: take the nearest address inside the range. */
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
	/* The range has no canonical address. */
	if (filters->b[nr] < filters->a[nr])
		pt_set_nowhere(filters, nr);
}

/**
 * pt_filters_sync - pmu::addr_filters_sync(): apply new address ranges
 * @event: its perf_event::addr_filter_ranges has changed
 *
 * A filter whose file is not mapped gets a range that never matches. It cannot be
 * omitted, because without any range the hardware traces everything.
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
EXPORT_SYMBOL_IF_KUNIT(pt_filters_sync);
