/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Life of AUX areas and of transactions on them. The tracepoints show where a
 * trace has gaps, and why.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM perf_aux

#if !defined(_TRACE_PERF_AUX_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_PERF_AUX_H

#include <linux/perf_event.h>
#include <linux/tracepoint.h>

#define show_perf_aux_flags(flags)					\
	__print_flags((flags) & ~(u64)PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK, "|", \
		{ PERF_AUX_FLAG_TRUNCATED,	"TRUNCATED" },		\
		{ PERF_AUX_FLAG_OVERWRITE,	"OVERWRITE" },		\
		{ PERF_AUX_FLAG_PARTIAL,	"PARTIAL" },		\
		{ PERF_AUX_FLAG_COLLISION,	"COLLISION" })

/*
 * In the middle of a transaction the trace can neither be paused nor sampled, so
 * a perf event that would do that cannot use these tracepoints.
 */
#define PERF_AUX_PERM(name) \
	TRACE_EVENT_PERF_PERM(name, has_aux_action(p_event) ? -EINVAL : 0)

/* An area was created. */
TRACE_EVENT(perf_aux_map,
	TP_PROTO(struct perf_event *event, unsigned long size, bool overwrite,
		 u64 watermark),
	TP_ARGS(event, size, overwrite, watermark),

	TP_STRUCT__entry(
		__field(u64,		id)
		__field(unsigned long,	size)
		__field(u64,		watermark)
		__field(bool,		overwrite)
		__dynamic_array(char,	pmu,	strlen(event->pmu->name) + 1)
	),
	TP_fast_assign(
		__entry->id		= event->id;
		__entry->size		= size;
		__entry->watermark	= watermark;
		__entry->overwrite	= overwrite;
		memcpy(__get_dynamic_array(pmu), event->pmu->name,
		       __get_dynamic_array_len(pmu));
	),
	TP_printk("id=%llu pmu=%s size=%lu %s watermark=%llu",
		  __entry->id, __get_str(pmu), __entry->size,
		  __entry->overwrite ? "overwrite" : "full-trace",
		  __entry->watermark)
);

/* A transaction may write size bytes from head on. */
TRACE_EVENT(perf_aux_begin,
	TP_PROTO(struct perf_event *event, struct perf_output_handle *handle),
	TP_ARGS(event, handle),

	TP_STRUCT__entry(
		__field(u64,		id)
		__field(u64,		head)
		__field(unsigned long,	size)
	),
	TP_fast_assign(
		__entry->id	= event->id;
		__entry->head	= handle->head;
		__entry->size	= handle->size;
	),
	TP_printk("id=%llu head=%llu size=%lu",
		  __entry->id, __entry->head, __entry->size)
);
PERF_AUX_PERM(perf_aux_begin);

/* A transaction has written size bytes at offset. */
TRACE_EVENT(perf_aux_end,
	TP_PROTO(struct perf_event *event, u64 offset, u64 size, u64 flags),
	TP_ARGS(event, offset, size, flags),

	TP_STRUCT__entry(
		__field(u64,	id)
		__field(u64,	offset)
		__field(u64,	size)
		__field(u64,	flags)
	),
	TP_fast_assign(
		__entry->id	= event->id;
		__entry->offset	= offset;
		__entry->size	= size;
		__entry->flags	= flags;
	),
	TP_printk("id=%llu offset=%llu size=%llu flags=%s",
		  __entry->id, __entry->offset, __entry->size,
		  show_perf_aux_flags(__entry->flags))
);
PERF_AUX_PERM(perf_aux_end);

DECLARE_EVENT_CLASS(perf_aux_head,
	TP_PROTO(struct perf_event *event, u64 position),
	TP_ARGS(event, position),

	TP_STRUCT__entry(
		__field(u64,	id)
		__field(u64,	head)
	),
	TP_fast_assign(
		__entry->id	= event->id;
		__entry->head	= position;
	),
	TP_printk("id=%llu head=%llu", __entry->id, __entry->head)
);

/* The last mapping of an area was removed. */
DEFINE_EVENT(perf_aux_head, perf_aux_unmap,
	TP_PROTO(struct perf_event *event, u64 position),
	TP_ARGS(event, position)
);

/* The area is full; the event is being disabled. */
DEFINE_EVENT(perf_aux_head, perf_aux_full,
	TP_PROTO(struct perf_event *event, u64 position),
	TP_ARGS(event, position)
);
PERF_AUX_PERM(perf_aux_full);

/* The reader is being woken. */
DEFINE_EVENT(perf_aux_head, perf_aux_wakeup,
	TP_PROTO(struct perf_event *event, u64 position),
	TP_ARGS(event, position)
);
PERF_AUX_PERM(perf_aux_wakeup);

#endif /* _TRACE_PERF_AUX_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
