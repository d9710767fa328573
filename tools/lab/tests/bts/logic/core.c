// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each record has a number, so that the reader notices what is lost, repeated, torn or
 * not whole.
 */
#include "core.h"

#include <stdlib.h>

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "perf_event.h"
#include "arith.h"
#include "bts.h"
#include "check.h"
#include "hw.h"
#include "nmi.h"

#define POISON	0x5a

struct perf_event core_event;
struct perf_buffer core_rb;
unsigned long jiffies = -1;
static int reserved, exclusive;
/* So many allocations succeed; -1: all. */
static int allocations = -1;

/* What is allocated, and nothing is written behind it. */
static unsigned int allocated;
#define GUARD	0x600dULL

static void *allocate(size_t size)
{
	u64 *memory;

	if (!allocations)
		return NULL;
	allocations--;
	allocated++;
	size = (size + 7) / 8;
	memory = calloc(size + 2, 8);
	memory[0] = size;
	memory[size + 1] = GUARD;
	return memory + 1;
}

static void release(u64 *memory)
{
	allocated--;
	EXPECT(memory[memory[-1]] == GUARD);
	free(memory - 1);
}

struct page *virt_to_page(const void *address)
{
	return (struct page *)address;
}

void *kzalloc_node(size_t size, gfp_t gfp, int node)
{
	return allocate(size);
}

void *kvmalloc_array(size_t count, size_t size, gfp_t gfp)
{
	return allocate(count * size);
}

void kfree(const void *memory)
{
	release((u64 *)memory);
}

void kvfree(const void *memory)
{
	release((u64 *)memory);
}

static int mapped;

void *vmap(struct page **pages, unsigned int nr, unsigned long flags, int prot)
{
	for (unsigned int i = 0; i < nr; i++)
		EXPECT((u8 *)pages[i] == core_rb.area + i * PAGE_SIZE);
	if (!allocations)
		return NULL;
	mapped++;
	return pages[0];
}

void vunmap(const void *address)
{
	EXPECT(address == core_rb.area && mapped--);
}

bool core_is_overwrite(void)
{
	return core_rb.overwrite;
}

bool core_takes(const void *at)
{
	u64 offset = (const u8 *)at - core_rb.area, room;

	if (!core_rb.open) {
		blame("a record without a transaction");
		return false;
	}
	if ((const u8 *)at < core_rb.area || offset + BTS_RECORD_SIZE > core_rb.size ||
	    offset % BTS_RECORD_SIZE) {
		blame("a record at offset %ld of the area", (long)offset);
		return false;
	}
	/* The newest data follow those before. */
	if (core_rb.overwrite && !hw.stored)
		EXPECT(offset == core_rb.head - core_rb.head % BTS_RECORD_SIZE ||
		       (!offset && core_rb.head >= bts_records_end(core_rb.size)));
	room = perf_aux_room(core_rb.head, core_rb.tail, core_rb.size);
	if (!core_rb.overwrite &&
	    ((offset - core_rb.head) & (core_rb.size - 1)) + BTS_RECORD_SIZE > room) {
		blame("an unread record is overwritten at %lu", offset);
		return false;
	}
	return true;
}

void *perf_aux_output_begin(struct perf_output_handle *handle, struct perf_event *event)
{
	struct perf_buffer *rb = event->rb;

	nmi_point();
	EXPECT(!hw.on);
	WRITE_ONCE(handle->event, NULL);
	if (event->pending_disable)
		return NULL;
	EXPECT(!rb->open);
	handle->rb = rb;
	handle->head = rb->head;
	handle->size = 0;
	handle->aux_flags = 0;
	if (!rb->overwrite) {
		handle->wakeup = rb->wakeup;
		handle->size = perf_aux_room(rb->head, rb->tail, rb->size);
		if (!handle->size) {
			event->pending_disable = 1;
			return NULL;
		}
	}
	hw.stored = 0;
	hw.lost = 0;
	rb->open = true;
	WRITE_ONCE(handle->event, event);
	nmi_point();
	return rb->priv;
}

void perf_aux_output_flag(struct perf_output_handle *handle, u64 flags)
{
	nmi_point();
	EXPECT(handle->event);
	handle->aux_flags |= flags;
}

int perf_aux_output_skip(struct perf_output_handle *handle, unsigned long size)
{
	struct perf_buffer *rb = handle->rb;

	nmi_point();
	EXPECT(!hw.on && !hw.stored);
	if (handle->size < size)
		return -ENOSPC;
	for (u64 i = 0; i < size; i++)
		EXPECT(!rb->area[(rb->head + i) & (rb->size - 1)]);
	rb->head += size;
	EXPECT(!((rb->head & (rb->size - 1)) % BTS_RECORD_SIZE));
	perf_aux_crossed(rb->head, &rb->wakeup, &rb->watermark);
	handle->wakeup = rb->wakeup;
	handle->size -= size;
	handle->head = rb->head;
	return 0;
}

void perf_aux_output_end(struct perf_output_handle *handle, unsigned long size)
{
	struct perf_buffer *rb = handle->rb;

	nmi_point();
	EXPECT(!hw.on && handle->event && rb->open);
	if (rb->overwrite) {
		EXPECT(size == rb->size || (!size && handle->aux_flags));
		EXPECT(handle->head < rb->size && !(handle->head % BTS_RECORD_SIZE));
		rb->head = handle->head;
	} else {
		EXPECT(size == hw.stored * BTS_RECORD_SIZE);
		/* What had no room is told, and nothing else is. */
		EXPECT(!hw.lost || handle->aux_flags & PERF_AUX_FLAG_TRUNCATED);
		rb->head += size;
		perf_aux_crossed(rb->head, &rb->wakeup, &rb->watermark);
	}
	rb->flags = handle->aux_flags;
	if (handle->aux_flags & PERF_AUX_FLAG_TRUNCATED) {
		rb->truncated++;
		rb->gaps[rb->nr_gaps++ % MAX_GAPS] = rb->head;
		handle->event->pending_disable = 1;
	}
	nmi_point();
	rb->open = false;
	WRITE_ONCE(handle->event, NULL);
	nmi_point();
}

void perf_aux_output_publish(struct perf_output_handle *handle, unsigned long size)
{
	struct perf_buffer *rb = handle->rb;

	EXPECT(!hw.on && handle->event && rb->open);
	EXPECT(size == (rb->overwrite ? 0 : hw.stored * BTS_RECORD_SIZE));
	if (rb->overwrite)
		EXPECT(rb->area + handle->head == (u8 *)cpu_hw_events[0].ds->bts_index);
	rb->head = rb->overwrite ? handle->head : rb->head + size;
	rb->published = true;
}

void *perf_get_aux(struct perf_output_handle *handle)
{
	return handle->event ? handle->rb->priv : NULL;
}

void perf_event_itrace_started(struct perf_event *event)
{
	event->itrace_started++;
}

int core_refuses_pmu, core_refuses_cpus, core_cpus;

int perf_pmu_register(struct pmu *pmu, const char *name, int type)
{
	pmu->type = 9;
	return core_refuses_pmu;
}

int x86_add_exclusive(unsigned int what)
{
	exclusive++;
	return 0;
}

void x86_del_exclusive(unsigned int what)
{
	EXPECT(exclusive-- > 0);
}

int x86_reserve_hardware(void)
{
	reserved++;
	return 0;
}

void x86_release_hardware(void)
{
	EXPECT(reserved-- > 0);
}

int core_denies;

int perf_allow_kernel(void)
{
	return core_denies;
}

int bts_cpu_init(void)
{
	core_cpus += !core_refuses_cpus;
	return core_refuses_cpus;
}

void bts_cpu_exit(void)
{
	core_cpus--;
}

static int core_map(unsigned int pages)
{
	void **page = malloc(pages * sizeof(*page));
	void *priv;

	core_rb.size = pages * PAGE_SIZE;
	core_rb.area = malloc(core_rb.size);
	memset(core_rb.area, POISON, core_rb.size);
	for (unsigned int i = 0; i < pages; i++)
		page[i] = core_rb.area + i * PAGE_SIZE;
	/* Without memory there is an error, and nothing is left. */
	for (int succeed = 0; succeed < 4; succeed++) {
		allocations = succeed;
		priv = bts_pmu.setup_aux(&core_event, page, pages, core_rb.overwrite);
		if (!IS_ERR(priv))
			break;
		EXPECT(IS_ERR(priv) && PTR_ERR(priv) == -ENOMEM && !mapped && !allocated);
	}
	allocations = -1;
	free(page);
	core_rb.priv = priv;
	return IS_ERR(priv) ? PTR_ERR(priv) : 0;
}

int core_begin(unsigned int pages, bool overwrite, u64 watermark, bool kernel)
{
	int ret;

	hw_reset();
	memset(bts_cpu, 0, sizeof(bts_cpu));
	bts_cpu[0].usable = true;
	memset(&core_event, 0, sizeof(core_event));
	memset(&core_rb, 0, sizeof(core_rb));
	core_event.attr.type = bts_pmu.type;
	core_event.attr.exclude_kernel = !kernel;
	core_event.pmu = &bts_pmu;
	core_event.cpu = -1;
	x86_pmu.bts_active = false;
	EXPECT(bts_pmu.event_init(&core_event) == -ENOMEM && !reserved && !exclusive);
	x86_pmu.bts_active = true;
	ret = bts_pmu.event_init(&core_event);
	core_rb.overwrite = overwrite;
	core_event.rb = &core_rb;
	ret = ret ?: core_map(pages);
	core_rb.watermark = watermark ?: core_rb.size / 2;
	core_rb.wakeup = core_rb.watermark;
	return ret;
}

void core_end(void)
{
	bts_pmu.free_aux(core_rb.priv);
	core_event.destroy(&core_event);
	EXPECT(!mapped && !reserved && !exclusive && !allocated);
	free(core_rb.area);
}

bool core_in(void)
{
	return !core_event.pending_disable && !bts_pmu.add(&core_event, PERF_EF_START);
}

void core_out(void)
{
	bts_pmu.del(&core_event, 0);
}

static u64 word_at(u64 position)
{
	u64 word;

	memcpy(&word, core_rb.area + (position & (core_rb.size - 1)), sizeof(word));
	return word;
}

static bool is_gap(u64 position)
{
	for (unsigned int i = 0; i < core_rb.nr_gaps && i < MAX_GAPS; i++)
		if (core_rb.gaps[i] == position)
			return true;
	return false;
}

void core_read(u64 bytes)
{
	u64 end = core_rb.tail + min(bytes, core_rb.head - core_rb.tail);
	struct perf_buffer *rb = &core_rb;

	while (rb->tail < end && !is_blamed()) {
		u64 left = rb->size - (rb->tail & (rb->size - 1)), number;

		rb->in_gap |= is_gap(rb->tail);
		/* A buffer that had another area before begins in the middle of a record. */
		if ((rb->tail & (rb->size - 1)) % BTS_RECORD_SIZE) {
			EXPECT(!core_rb.area[rb->tail & (rb->size - 1)]);
			rb->tail++;
			continue;
		}
		/* Behind the last whole record there is nothing but zeros. */
		if (left < BTS_RECORD_SIZE) {
			EXPECT(!word_at(rb->tail));
			rb->tail += 8;
			continue;
		}
		number = word_at(rb->tail);
		if (number) {
			EXPECT(word_at(rb->tail + 8) == ~number && !word_at(rb->tail + 16));
			if (rb->next && number != rb->next &&
			    (number < rb->next || !rb->in_gap))
				blame("record %lu where %lu is expected", number, rb->next);
			rb->next = number + 1;
			rb->in_gap = false;
		} else {
			EXPECT(!word_at(rb->tail + 8) && !word_at(rb->tail + 16));
		}
		rb->tail += BTS_RECORD_SIZE;
	}
	core_event.pending_disable = 0;
}

void core_check(bool in)
{
	const struct bts *bts = &bts_cpu[0];
	const struct debug_store *ds = cpu_hw_events[0].ds;

	hw_deliver();
	if (!in) {
		EXPECT(bts->state == BTS_IDLE && !hw.on && hw_is_restored());
		EXPECT(!core_rb.open);
		EXPECT(core_event.hw.state == (PERF_HES_STOPPED | PERF_HES_UPTODATE));
		return;
	}
	if (!core_rb.open) {
		EXPECT(bts->state == BTS_IDLE && core_event.pending_disable);
		EXPECT(core_event.hw.state == (PERF_HES_STOPPED | PERF_HES_UPTODATE));
		return;
	}
	EXPECT(bts->state == BTS_TRACING && hw.on && !core_event.hw.state);
	EXPECT(core_event.itrace_started);
	EXPECT(hw.os == !core_event.attr.exclude_kernel);
	EXPECT(hw.btint == !core_rb.overwrite);
	if (!core_rb.overwrite && ds->bts_index >= ds->bts_interrupt_threshold)
		blame("an interrupt is lost");
}
