// SPDX-License-Identifier: GPL-2.0-only
/*
 * A model of perf's core that keeps account of each byte: no unread one may be
 * overwritten, the driver must tell of all that hardware wrote, and of nothing
 * else.
 */
#include "core.h"

#include <stdlib.h>

#include <linux/err.h>

#include <asm/msr-index.h>

#include "perf_event.h"
#include "arith.h"
#include "check.h"
#include "hw.h"
#include "machine.h"
#include "memory.h"
#include "nmi.h"
#include "pt.h"
#include "sink.h"

/* A prime number: no two laps of an area look alike. */
#define PATTERN		65521
/* Areas larger than that are not looked into. */
#define SMALL		(1UL << 22)

/* The transaction of each CPU. */
static struct perf_buffer *open_buffer[SHIM_CPUS];

/* The byte of a trace at a position, which is not 0. */
static u8 pattern(u64 position)
{
	return 1 + (position % PATTERN * 2654435761UL >> 13) % 255;
}

static u8 *area_byte(const struct perf_aux *aux, u64 position)
{
	u64 offset = position & (aux->size - 1);

	return (u8 *)aux->pages[offset >> PAGE_SHIFT] + (offset & (PAGE_SIZE - 1));
}

static void sink_byte(struct perf_aux *aux, u64 physical)
{
	u8 *byte = area_byte(aux, aux->position);

	if (virt_to_phys(byte) != physical)
		blame("byte %lu goes to %lx, not to %lx", aux->position, physical,
		      virt_to_phys(byte));
	*byte = pattern(aux->position);
	aux->padding[aux->position++ & (aux->size - 1)] = false;
}

void sink_output(u64 physical, u64 bytes)
{
	struct perf_buffer *rb = open_buffer[shim_cpu];
	struct perf_aux *aux = &rb->aux;

	if (!rb) {
		blame("hardware writes without a transaction");
		return;
	}
	if (!aux->overwrite && aux->position + bytes - aux->tail > aux->size)
		blame("an unread byte is overwritten: %lu more at %lu, tail is %lu",
		      bytes, aux->position, aux->tail);
	if (!aux->padding) {
		if (virt_to_phys(area_byte(aux, aux->position)) != physical)
			blame("position %lu goes to %lx", aux->position, physical);
		aux->position += bytes;
		return;
	}
	while (bytes-- && !is_blamed())
		sink_byte(aux, physical++);
}

void sink_enabled(void)
{
	struct perf_buffer *rb = open_buffer[shim_cpu];

	if (!rb)
		blame("TraceEn is set without a transaction");
	else if (rb->aux.cut && hw_this()->status & RTIT_STATUS_BYTECNT)
		blame("it goes on without PSB");
	else
		rb->aux.cut = false;
}

/* The driver's trace is off; what is on may be a trace of the firmware's, where it traces nothing. */
static bool is_off(void)
{
	return !hw_enabled() || per_cpu(pt_cpu, shim_cpu).unusable;
}

void *perf_aux_output_begin(struct perf_output_handle *handle, struct perf_event *event)
{
	struct perf_aux *aux = &event->rb->aux;

	nmi_point();
	EXPECT(is_off());
	WRITE_ONCE(handle->event, NULL);
	if (event->pending_disable)
		return NULL;
	EXPECT(!aux->writer && !open_buffer[shim_cpu]);

	handle->rb = event->rb;
	handle->head = aux->head;
	handle->size = 0;
	handle->aux_flags = 0;
	if (!aux->overwrite) {
		handle->wakeup = aux->wakeup;
		handle->size = perf_aux_room(aux->head, aux->tail, aux->size);
		if (!handle->size) {
			event->pending_disable = 1;
			aux->cut = true;
			return NULL;
		}
	}
	aux->due = false;
	aux->writer = event;
	open_buffer[shim_cpu] = event->rb;
	WRITE_ONCE(handle->event, event);
	nmi_point();
	return aux->priv;
}

void perf_aux_output_flag(struct perf_output_handle *handle, u64 flags)
{
	nmi_point();
	EXPECT(handle->event);
	handle->aux_flags |= flags;
}

/* The driver says that it has filled up what was left of a region. */
static void take_padding(struct perf_aux *aux, u64 bytes)
{
	EXPECT(!pt_caps_get(&pt_pmu.caps, PT_CAP_topa_multiple_entries));
	EXPECT(bytes <= 512);
	EXPECT(aux->position + bytes - aux->tail <= aux->size);
	for (; bytes && !is_blamed(); bytes--) {
		EXPECT(!*area_byte(aux, aux->position));
		aux->padding[aux->position++ & (aux->size - 1)] = true;
	}
	EXPECT(!(aux->position & (PAGE_SIZE - 1)));
}

/* Full-trace mode: what the driver tells, is what there is. */
static void take_data(struct perf_aux *aux, u64 bytes)
{
	u64 end = aux->head + bytes;

	if (end < aux->position)
		blame("%lu bytes at %lu are lost", aux->position - end, end);
	else if (end > aux->position)
		take_padding(aux, end - aux->position);
	aux->head = end;
	perf_aux_crossed(aux->head, &aux->wakeup, &aux->watermark);
}

void perf_aux_output_end(struct perf_output_handle *handle, unsigned long size)
{
	struct perf_aux *aux = &handle->rb->aux;

	nmi_point();
	EXPECT(is_off());
	EXPECT(handle->event && aux->writer == handle->event &&
	       open_buffer[shim_cpu] == handle->rb);
	if (aux->overwrite) {
		EXPECT(handle->head == (aux->position & (aux->size - 1)));
		EXPECT(size == aux->size || (!size && per_cpu(pt_cpu, shim_cpu).unusable));
		aux->head = handle->head;
	} else {
		take_data(aux, size);
	}
	aux->transactions++;
	aux->flags = handle->aux_flags;
	aux->size_told = size;
	nmi_point();
	if (handle->aux_flags & PERF_AUX_FLAG_TRUNCATED) {
		handle->event->pending_disable = 1;
		aux->cut = true;
	}
	aux->writer = NULL;
	open_buffer[shim_cpu] = NULL;
	nmi_point();
	WRITE_ONCE(handle->event, NULL);
}

void perf_aux_output_publish(struct perf_output_handle *handle, unsigned long size)
{
	struct perf_aux *aux = &handle->rb->aux;

	EXPECT(!hw_enabled());
	if (aux->overwrite) {
		EXPECT(handle->head == (aux->position & (aux->size - 1)) && !size);
		aux->head = handle->head;
	} else {
		take_data(aux, size);
	}
}

void *perf_get_aux(struct perf_output_handle *handle)
{
	return handle->event ? handle->rb->aux.priv : NULL;
}

long perf_output_copy_aux(struct perf_output_handle *source,
			  struct perf_output_handle *record,
			  unsigned long from, unsigned long to)
{
	struct perf_aux *aux = &source->rb->aux;
	u64 size = ((to - from - 1) & (aux->size - 1)) + 1, i;

	nmi_point();
	EXPECT(!hw_enabled());
	EXPECT(!((to ^ aux->position) & (aux->size - 1)));
	for (i = 1; aux->padding && i <= size && i <= aux->position && !is_blamed(); i++)
		EXPECT(*area_byte(aux, to - i) == pattern(aux->position - i));
	return size;
}

void perf_event_addr_filters_sync(struct perf_event *event)
{
	event->pmu->addr_filters_sync(event);
}

void perf_event_itrace_started(struct perf_event *event)
{
	event->itrace_started++;
}

int core_refuses_pmu;

int perf_pmu_register(struct pmu *pmu, const char *name, int type)
{
	pmu->type = 8;
	return core_refuses_pmu;
}

void core_forget(void)
{
	memset(open_buffer, 0, sizeof(open_buffer));
}

static int exclusive;

int x86_add_exclusive(unsigned int what)
{
	EXPECT(what == x86_lbr_exclusive_pt);
	exclusive++;
	return 0;
}

void x86_del_exclusive(unsigned int what)
{
	EXPECT(exclusive-- > 0);
}

void trace_prepare(struct trace *trace, u64 config)
{
	struct perf_event *event = &trace->event;

	memset(trace, 0, sizeof(*trace));
	event->attr.type = pt_pmu.pmu.type;
	event->attr.config = config;
	event->pmu = &pt_pmu.pmu;
	event->cpu = -1;
	event->addr_filters.list.next = &event->addr_filters.list;
	event->addr_filters.list.prev = &event->addr_filters.list;
	event->addr_filter_ranges = trace->ranges;
}

int trace_open(struct trace *trace)
{
	int had = exclusive, ret = pt_pmu.pmu.event_init(&trace->event);

	EXPECT(exclusive == had + !ret);
	return ret;
}

int trace_init(struct trace *trace, u64 config)
{
	trace_prepare(trace, config);
	return trace_open(trace);
}

void trace_destroy(struct trace *trace)
{
	trace->event.destroy(&trace->event);
}

bool trace_map(struct trace *trace, const u8 *orders, unsigned int nr, bool overwrite,
	       u64 watermark)
{
	struct perf_aux *aux = &trace->rb.aux;
	u64 pages = 0, page = 0, i, j;

	for (i = 0; i < nr; i++)
		pages += 1UL << orders[i];
	memset(aux, 0, sizeof(*aux));
	aux->pages = calloc(pages, sizeof(*aux->pages));
	for (i = 0; i < nr; i++) {
		char *chunk = memory_chunk(orders[i]);

		for (j = 0; j < 1UL << orders[i]; j++)
			aux->pages[page++] = chunk + j * PAGE_SIZE;
	}
	aux->size = pages * PAGE_SIZE;
	aux->overwrite = overwrite;
	aux->watermark = watermark ?: aux->size / 2;
	aux->wakeup = aux->watermark;
	aux->padding = aux->size <= SMALL ? calloc(1, aux->size) : NULL;
	trace->event.rb = &trace->rb;
	aux->priv = pt_pmu.pmu.setup_aux(&trace->event, aux->pages, pages, overwrite);
	/* The core tells an error from none at all; here both are a refusal. */
	if (IS_ERR(aux->priv))
		aux->priv = NULL;
	if (!aux->priv)
		trace_unmap(trace);
	return aux->priv;
}

void trace_unmap(struct trace *trace)
{
	struct perf_aux *aux = &trace->rb.aux;

	if (aux->priv)
		pt_pmu.pmu.free_aux(aux->priv);
	free(aux->pages);
	free(aux->padding);
	trace->event.rb = NULL;
}

int trace_in(struct trace *trace)
{
	return trace->event.pending_disable ? -ENOENT :
	       pt_pmu.pmu.add(&trace->event, PERF_EF_START);
}

void trace_out(struct trace *trace)
{
	pt_pmu.pmu.del(&trace->event, 0);
}

void trace_read(struct trace *trace, u64 bytes)
{
	struct perf_aux *aux = &trace->rb.aux;

	EXPECT(bytes <= aux->head - aux->tail);
	for (; bytes && !is_blamed(); bytes--, aux->tail++) {
		u64 offset = aux->tail & (aux->size - 1);
		u8 want = aux->padding[offset] ? 0 : pattern(aux->tail);

		if (*area_byte(aux, aux->tail) != want)
			blame("the reader finds something else at %lu", aux->tail);
	}
	trace->event.pending_disable = 0;
}

long trace_sample(struct trace *trace, unsigned long size)
{
	struct perf_output_handle record = { };

	return pt_pmu.pmu.snapshot_aux(&trace->event, &record, size);
}

void core_deliver(void)
{
	struct perf_buffer *rb = open_buffer[shim_cpu];

	if (!hw_this()->pmi || in_nmi())
		return;
	hw_this()->pmi = false;
	if (rb)
		rb->aux.due = true;
	nmi_run(intel_pt_interrupt);
}

void core_check(struct trace *trace)
{
	const struct pt *pt = this_cpu_ptr(&pt_cpu);
	const struct hw_perf_event *hw = &trace->event.hw;
	bool wanted;

	for (int i = 0; i < 4; i++)
		core_deliver();
	EXPECT(!hw_this()->pmi);

	if (!open_buffer[shim_cpu]) {
		EXPECT(pt->state == PT_IDLE && !pt->handle.event && !hw_enabled());
		EXPECT(!trace->event.itrace_started || hw->state & PERF_HES_STOPPED);
		return;
	}
	wanted = !hw->aux_paused && !pt->vmx && !(hw->state & PERF_HES_STOPPED);
	EXPECT(pt->state == (wanted ? PT_TRACING : PT_PAUSED));
	EXPECT(hw_enabled() == wanted);
	EXPECT(!wanted || hw_this()->ctl == hw->aux_config);
	EXPECT(hw->aux_paused == hw->aux_pause_wanted);
	EXPECT(!(hw_this()->status & RTIT_STATUS_STOPPED));
	if (trace->rb.aux.due)
		blame("an interrupt is lost: what is behind it is not turned");
}
