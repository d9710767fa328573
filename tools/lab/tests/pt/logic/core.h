/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf's core, as far as a driver of AUX areas meets it: transactions, and a
 * reader, who looks at each byte.
 */
#ifndef CORE_H
#define CORE_H

#include <linux/perf_event.h>

void perf_aux_pause(struct perf_event *trace, bool pause);

/**
 * struct perf_aux - an AUX area
 * @overwrite: newest data win
 * @priv: the driver's
 * @pages: addresses of its pages
 * @size: bytes
 * @writer: who has the transaction
 * @head: as the driver says
 * @tail: as the reader says
 * @wakeup: the head at which to wake the reader next
 * @watermark: bytes
 * @position: bytes that hardware has written in all, padding included
 * @due: hardware interrupted, and nobody has closed the transaction since
 * @cut: the last record, or none, tells of a loss: decoders wait for a PSB
 * @padding: which bytes were not written by hardware; NULL: content is not looked at
 * @transactions: closed
 * @flags: of the last one
 * @size_told: by the last one
 */
struct perf_aux {
	bool overwrite;
	void *priv;
	void **pages;
	u64 size;
	struct perf_event *writer;
	u64 head, tail, wakeup, watermark;
	u64 position;
	bool due, cut;
	u8 *padding;
	unsigned int transactions;
	u64 flags, size_told;
};

struct perf_buffer {
	struct perf_aux aux;
};

static inline struct perf_buffer *ring_buffer_get(struct perf_event *event)
{
	return event->rb;
}

static inline void ring_buffer_put(struct perf_buffer *rb)
{
}

/**
 * struct trace - an event and its area
 * @event: the event
 * @rb: its buffer
 * @ranges: where its filters are
 */
struct trace {
	struct perf_event event;
	struct perf_buffer rb;
	struct perf_addr_filter_range ranges[8];
};

/* PT, branches and timing, user and kernel */
#define CONFIG_PLAIN	0x2401

/* What user space asks for; it may ask for more. */
void trace_prepare(struct trace *trace, u64 config);
/* What pmu::event_init() returns. */
int trace_open(struct trace *trace);
/* Both */
int trace_init(struct trace *trace, u64 config);
/* An area of @nr chunks; whether the driver takes it. */
bool trace_map(struct trace *trace, const u8 *orders, unsigned int nr, bool overwrite,
	       u64 watermark);
void trace_unmap(struct trace *trace);
void trace_destroy(struct trace *trace);

/* Schedule in, as perf's core does; what pmu::add() returns. */
int trace_in(struct trace *trace);
void trace_out(struct trace *trace);
/* The reader has read, and enables the event if it was disabled. */
void trace_read(struct trace *trace, u64 bytes);
/* Take a sample of @size bytes; what pmu::snapshot_aux() returns. */
long trace_sample(struct trace *trace, unsigned long size);

/* What perf_pmu_register() returns. */
extern int core_refuses_pmu;
/* All transactions are gone, as after power on. */
void core_forget(void);
/* Let a PMI come, if hardware has raised one. */
void core_deliver(void);
/* Nothing is going on: all is as the event wants it. */
void core_check(struct trace *trace);

#endif
