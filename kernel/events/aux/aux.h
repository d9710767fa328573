/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: life of an AUX area
 *
 * The AUX area of a perf buffer is a second ring buffer. Hardware writes to
 * it. struct perf_aux, part of struct perf_buffer, holds its state::
 *
 *             mmap()                 last munmap()
 *   NONE ---------------> LIVE ---------------------> CLOSING
 *    ^                                                   |
 *    +---------------------------------------------------+
 *        no writer: pages, driver data and charge are freed
 *
 * Four parties use an area:
 *
 * Mappings
 *   Each mapping is counted in perf_aux::maps, in perf_buffer::mmap_count and
 *   in perf_event::mmap_count of the event whose file is mapped. The area stays
 *   LIVE while it is mapped.
 * Transactions
 *   From perf_aux_output_begin() to perf_aux_output_end(), perf_aux::writer is
 *   the event that writes, and its perf_event::aux_busy is set. There is at
 *   most one transaction on an area. The area holds a reference on its buffer:
 *   that of its mappings, or one of its own while it is CLOSING.
 * Page tables
 *   The area holds one reference on each page, page table entries hold none. The
 *   core removes those of a VMA before it calls perf_aux_vm_close(), so all of
 *   them are gone when the area is freed.
 * Accounting
 *   perf_aux::charge names the user and the mm that created the area. They get
 *   the charge back, whichever process unmaps the area last.
 *
 * Hardware, driver and samples use the pages and the driver's data only while
 * an event that writes to the buffer runs, until pmu::stop() has returned. All
 * AUX events that share a buffer are bound to the same CPU, or to the same task
 * without attr.inherit. One that uses the area is therefore on
 * perf_aux::last_cpu. munmap() stops the event there by an interrupt. Drivers
 * change a trace with interrupts off, so the interrupt also waits for a change
 * to be complete.
 *
 * A driver may keep its transaction open after pmu::stop() (s390 does). The
 * area then stays CLOSING. The end of the transaction (perf_aux_output_end() or
 * perf_aux_forget()) passes the area to a worker, which frees it.
 *
 * Lock order, outermost first::
 *
 *   mmap_lock > perf_event::mmap_mutex > perf_aux::mutex
 *
 * Barriers. Documentation/litmus-tests/perf-aux/ has a test of each pair:
 *
 * AUX_PUBLISH
 *   perf_aux_build() writes everything that a transaction reads, then sets the
 *   state to LIVE (store-release). aux_serves() reads the state (load-acquire).
 * AUX_CLOSE
 *   aux_stop_writer() sets the state to CLOSING, then reads last_cpu and
 *   writer. aux_claim() sets last_cpu and writer, then reads the state. With a
 *   full barrier on both sides, at least one of the two sees the other. A CPU
 *   that finds itself in last_cpu need not set it: it has done so before.
 *   A transaction uses the area; then aux_release() clears writer and reads the
 *   state, with a full barrier between, which gives the same guarantee. The area
 *   is freed on two conditions: writer was read as NULL (load-acquire), and an
 *   interrupt has run since on the CPU of the transaction (aux_stop_here() or
 *   reap_irq), so the driver has returned.
 * AUX_TAIL
 *   User space reads data, then moves aux_tail (its barrier). aux_open() reads
 *   aux_tail; hardware overwrites only what aux_tail has released (control
 *   dependency).
 * AUX_ENABLE
 *   User space moves aux_tail, then calls PERF_EVENT_IOC_ENABLE, which sets
 *   perf_event::pending_enable (smp_mb() between). perf_aux_output_begin() clears
 *   pending_enable, then aux_open() reads aux_tail; the cmpxchg() in aux_claim()
 *   is between. Either aux_open() finds the new room, or pending_enable is set
 *   when the event is disabled for want of room, so that it begins again; see
 *   perf_event_take_disable().
 * AUX_HEAD
 *   The hardware writes data (the driver's barrier) or the driver writes
 *   padding (smp_wmb() in perf_aux_output_skip()), then aux_publish() moves
 *   aux_head. User space reads aux_head, then the data (its barrier).
 */
#ifndef _KERNEL_EVENTS_AUX_H
#define _KERNEL_EVENTS_AUX_H

#include <kunit/visibility.h>
#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/workqueue.h>

#include "../mlock.h"
#include "arith.h"

struct module;
struct perf_buffer;
struct perf_event;
struct perf_event_context;
struct perf_output_handle;
struct perf_sample_data;
struct pmu;
struct vm_area_struct;

/**
 * enum perf_aux_state - state of an area; see "life of an AUX area"
 * @PERF_AUX_NONE: no area exists
 * @PERF_AUX_LIVE: mapped; transactions may begin
 * @PERF_AUX_CLOSING: no longer mapped, not yet freed; no transaction may begin
 */
enum perf_aux_state {
	PERF_AUX_NONE,
	PERF_AUX_LIVE,
	PERF_AUX_CLOSING,
};

/**
 * struct perf_aux - the AUX area of a perf buffer
 * @state: (M, read by transactions) see enum perf_aux_state
 * @last_cpu: CPU of the last attempt to begin a transaction, or -1; written
 *	before @writer
 * @writer: (W) the event whose transaction is open, or NULL
 * @pmu: (S, read by anybody) the PMU that @priv belongs to; only compared with
 *	that of an event, because the PMU may be unregistered before the area is freed
 * @priv: (S) what pmu::setup_aux() returned
 * @head: (W) number of bytes ever written; in overwrite mode, what the driver
 *	reports as its position
 * @wakeup: (W) the head at which to wake the reader next; U64_MAX in overwrite mode
 * @user_page: (S) perf_buffer::user_page, which is in another cache line
 * @lost_flags: (W) flags of the PERF_RECORD_AUX that have been lost since the last
 *	one was written
 * @order: (S) log2 of @nr_pages
 * @overwrite: (S) the newest data win, whatever the reader has read
 * @watermark: (S) number of bytes after which the reader is woken; not used in
 *	overwrite mode
 * @nr_pages: (S) size of the area, a power of two
 * @in_sample: (C) a sample of the area is being taken
 * @pages: (S) kernel address of each page
 * @pgoff: (S) page offset of the area in the event's file
 * @maps: (M) number of VMAs that map the area
 * @mutex: serializes creating, mapping and freeing the area
 * @module: (S) of the PMU, referenced; it has @free_aux
 * @free_aux: (S) the PMU's function to free @priv
 * @charge: (M) the user and the mm that the pages are charged to
 * @reap_irq: queues @reap_work, which cannot be done in NMI. Its interrupt also
 *	waits for the driver's function to return.
 * @reap_work: frees the area if the last transaction ends after the last munmap()
 *
 * (M) written with @mutex held. (S) set before the state becomes LIVE, then
 * constant until it is NONE. (W) owned by the open transaction, hence by one
 * CPU, with interrupts off or in NMI. (C) owned by the CPU that runs the event,
 * including NMIs on that CPU.
 */
struct perf_aux {
	/* Used by each transaction: one cache line of 64 bytes */
	enum perf_aux_state	state;
	int			last_cpu;
	struct perf_event	*writer;
	struct pmu		*pmu;
	void			*priv;
	u64			head;
	u64			wakeup;
	struct perf_event_mmap_page *user_page;
	u32			lost_flags;
	u8			order;
	bool			overwrite;

	u64			watermark;
	unsigned long		nr_pages;
	bool			in_sample;
	void			**pages;
	unsigned long		pgoff;
	unsigned int		maps;
	struct mutex		mutex;	/* see above */
	struct module		*module;
	void			(*free_aux)(void *priv);
	struct perf_mlock	charge;

	struct irq_work		reap_irq;
	struct work_struct	reap_work;
} ____cacheline_aligned;

#ifdef CONFIG_PERF_AUX

void perf_aux_init(struct perf_aux *aux);
int perf_aux_mmap(struct perf_event *event, struct vm_area_struct *vma);
void perf_aux_forget(struct perf_event *event, u64 flags);
void perf_aux_stop_context(struct perf_event_context *ctx,
			   struct perf_buffer *rb);

/* area.c, for output.c */
void perf_aux_reap(struct perf_buffer *rb);

#if IS_ENABLED(CONFIG_KUNIT)
/* area.c, for tests */
int perf_aux_build(struct perf_aux *aux, struct perf_event *event,
		   struct vm_area_struct *vma);
void perf_aux_destroy(struct perf_aux *aux);
#endif

/* pages.c */
int perf_aux_alloc_pages(struct perf_aux *aux, unsigned int max_order, int node);
void perf_aux_free_pages(struct perf_aux *aux);

/* record.c */
bool perf_aux_put_range(struct perf_buffer *rb, struct perf_event *event,
			u64 offset, u64 size, u64 flags);
void perf_aux_put_itrace_start(struct perf_event *event);

/* pause.c */
void perf_aux_pause(struct perf_event *trace, bool pause);

/* sample.c */
unsigned long perf_aux_sample_size(struct perf_event *event,
				   struct perf_sample_data *sample,
				   unsigned long room);
void perf_aux_sample_write(struct perf_event *event,
			   struct perf_output_handle *record, unsigned long size);

/**
 * perf_log_itrace_start - write PERF_RECORD_ITRACE_START when a trace begins
 * @event: about to be scheduled in; ignored unless its PMU has
 *	PERF_PMU_CAP_ITRACE
 *
 * Inline, because the scheduler calls it for every event of every PMU.
 *
 * Context: interrupts off, on the CPU of the event.
 */
static inline void perf_log_itrace_start(struct perf_event *event)
{
	if (event->pmu->capabilities & PERF_PMU_CAP_ITRACE)
		perf_aux_put_itrace_start(event->parent ?: event);
}

#else /* !CONFIG_PERF_AUX */

static inline void perf_aux_init(struct perf_aux *aux) { }

static inline int perf_aux_mmap(struct perf_event *event,
				struct vm_area_struct *vma)
{
	return event->rb ? -EOPNOTSUPP : -EINVAL;
}

static inline void perf_aux_forget(struct perf_event *event, u64 flags) { }
static inline void perf_aux_stop_context(struct perf_event_context *ctx,
					 struct perf_buffer *rb) { }
static inline void perf_aux_pause(struct perf_event *trace, bool pause) { }

static inline unsigned long
perf_aux_sample_size(struct perf_event *event, struct perf_sample_data *sample,
		     unsigned long room)
{
	sample->aux_size = 0;
	return 0;
}

static inline void perf_aux_sample_write(struct perf_event *event,
					 struct perf_output_handle *record,
					 unsigned long size) { }

static inline void perf_log_itrace_start(struct perf_event *event) { }

#endif /* CONFIG_PERF_AUX */

#endif /* _KERNEL_EVENTS_AUX_H */
