/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: the life of an AUX area
 *
 * The AUX area of a perf buffer is a second ring buffer, which hardware writes.
 * Its life, inside of its struct perf_buffer::
 *
 *             mmap()                 last munmap()
 *   NONE ---------------> LIVE ---------------------> CLOSING
 *    ^                                                   |
 *    +---------------------------------------------------+
 *          no writer: pages, driver's data, charge go
 *
 * Who holds what:
 *
 * mapping
 *   counted in perf_aux::maps, in perf_buffer::mmap_count and in
 *   perf_event::mmap_count of the event whose file was mapped; the area stays
 *   LIVE while there is one
 * transaction
 *   perf_aux::writer, and a reference on the perf_buffer, from
 *   perf_aux_output_begin() to perf_aux_output_end()
 * page
 *   one reference by the area, one by each page table that maps it, so that no
 *   order of events can free a mapped page
 * charge
 *   by the area: user and mm that pay are those that made it, whoever unmaps it
 *   last
 *
 * Pages and driver's data are touched by hardware, driver and sampling only
 * where an event runs that outputs to the buffer, until pmu::stop() has
 * returned. All events that share a buffer share a CPU or a task, so they run
 * on the CPU that had the last transaction or nowhere. There they are stopped,
 * by an interrupt, which also waits for who was in the middle of something.
 * A driver that keeps its transaction over pmu::stop() (s390) leaves the area
 * CLOSING; its perf_aux_output_end() then hands it to a worker that frees it.
 *
 * Locks, outermost first::
 *
 *   mmap_lock > perf_event::mmap_mutex > perf_aux::mutex
 *
 * Barriers, which Documentation/litmus-tests/perf-aux/ proves:
 *
 * AUX_PUBLISH
 *   state = LIVE after everything that a writer reads (release,
 *   aux_create()), with the load in aux_serves() (acquire)
 * AUX_CLOSE
 *   state = CLOSING, then last_cpu and writer are looked at
 *   (aux_stop_writer()); last_cpu and writer are set, then state is looked at
 *   (aux_claim()): full barriers on both sides, so that one of the two sees the
 *   other. The area is used, then writer is cleared, then state is looked at
 *   (aux_release(), full barrier): again one of the two sees the other. Who
 *   finds no writer (acquire) may free the area
 * AUX_TAIL
 *   user space reads data, then moves aux_tail (its barrier); aux_tail is read,
 *   then hardware writes over what it freed (control dependency, aux_open())
 * AUX_ENABLE
 *   user space moves aux_tail, then state of the event is looked at
 *   (perf_aux_enable()); state is ACTIVE, then aux_tail is read (aux_open(), the
 *   cmpxchg() in aux_claim() is between): either the CPU of the event is asked,
 *   or it finds the room
 * AUX_HEAD
 *   hardware's data (the driver's barrier) or a driver's padding (smp_wmb() in
 *   perf_aux_output_skip()), then aux_head is published (aux_publish()); user
 *   space reads aux_head, then the data (its barrier)
 */
#ifndef _KERNEL_EVENTS_AUX_H
#define _KERNEL_EVENTS_AUX_H

#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/workqueue.h>

#include "../mlock.h"
#include "arith.h"

struct perf_buffer;
struct perf_event;
struct perf_event_context;
struct perf_output_handle;
struct pmu;
struct vm_area_struct;

/**
 * enum perf_aux_state - where an area is in its life; see above
 * @PERF_AUX_NONE: there is none
 * @PERF_AUX_LIVE: mapped, transactions may begin
 * @PERF_AUX_CLOSING: not mapped any more, waits for the end of a transaction
 */
enum perf_aux_state {
	PERF_AUX_NONE,
	PERF_AUX_LIVE,
	PERF_AUX_CLOSING,
};

/**
 * struct perf_aux - the AUX area of a perf buffer
 * @mutex: serializes making, mapping and freeing
 * @state: (M, read by writers) where the area is in its life
 * @maps: (M) how many VMAs map it
 * @overwrite: (S) newest data win; the reader's position does not count
 * @pgoff: (S) first page of the area in the file
 * @nr_pages: (S) its size, a power of two
 * @pages: (S) address of each page
 * @pmu: (S) whose data @priv is
 * @priv: (S) what pmu::setup_aux() made of the pages
 * @watermark: (S) bytes of new data that are worth a wakeup; in overwrite mode
 *	more than there ever are
 * @charge: (M) who pays for the pages
 * @writer: (W) the event that has a transaction open
 * @last_cpu: the CPU that opened it, or tried to, or the one before it; -1: none
 *	ever was; written before @writer is
 * @head: (W) bytes ever written; in overwrite mode what the driver says
 * @mark: (W) the last multiple of the watermark that was passed
 * @backlog: (W) what PERF_RECORD_AUX still has to say
 * @behind: (W) whether there is a backlog
 * @in_sample: (C) a sample is being taken of the area
 * @in_pause: (C) the event is being paused or resumed
 * @pause_wanted: (C) which of the two was asked for last
 * @reap_irq: leaves the transaction's context, on the way to @reap_work
 * @reap_work: frees an area whose last transaction outlived its mappings
 *
 * (M) written under @mutex. (S) set before the state becomes LIVE, constant
 * until it is NONE. (C) by the CPU that runs the event, and by NMIs there. (W)
 * belongs to the open transaction, and so to one CPU, which has interrupts off
 * or is in NMI.
 */
struct perf_aux {
	struct mutex		mutex;	/* see above */
	enum perf_aux_state	state;
	unsigned int		maps;
	bool			overwrite;
	unsigned long		pgoff;
	unsigned long		nr_pages;
	void			**pages;
	struct pmu		*pmu;
	void			*priv;
	u64			watermark;
	struct perf_mlock	charge;

	struct perf_event	*writer;
	int			last_cpu;
	u64			head;
	u64			mark;
	struct perf_aux_range	backlog;
	bool			behind;

	bool			in_sample;
	bool			in_pause;
	bool			pause_wanted;

	struct irq_work		reap_irq;
	struct work_struct	reap_work;
};

#ifdef CONFIG_PERF_AUX

void perf_aux_init(struct perf_aux *aux);
int perf_aux_mmap(struct perf_event *event, struct vm_area_struct *vma);
void perf_aux_enable(struct perf_event *event);
void perf_aux_refused(struct perf_event *event, struct perf_event_context *ctx);

/* area.c, for output.c */
void perf_aux_reap(struct perf_buffer *rb);

/* pages.c */
int perf_aux_alloc_pages(struct perf_aux *aux, unsigned int max_order, int node);
void perf_aux_free_pages(struct perf_aux *aux);

/* record.c */
bool perf_aux_put_range(struct perf_event *event, u64 offset, u64 size,
			u64 flags);
void perf_aux_put_itrace_start(struct perf_event *event);

/**
 * perf_log_itrace_start - say which task an instruction trace begins with
 * @event: about to be scheduled in; nothing happens unless its PMU has
 *	PERF_PMU_CAP_ITRACE and has not yet started
 *
 * Inline, for every event of every PMU comes by each time.
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

static inline void perf_aux_enable(struct perf_event *event) { }

static inline void perf_aux_refused(struct perf_event *event,
				    struct perf_event_context *ctx) { }

static inline void perf_log_itrace_start(struct perf_event *event) { }

#endif /* CONFIG_PERF_AUX */

#endif /* _KERNEL_EVENTS_AUX_H */
