/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: state of branch trace store on a CPU
 *
 * While an event runs, an AUX transaction is open, unless none could begin: the area
 * is full, is being unmapped or does not exist, or the CPU cannot trace. struct bts
 * holds what the hardware of one CPU does. That CPU changes its state, with
 * interrupts off, or in the NMI of the core PMU, which all of the PMUs on the CPU
 * share::
 *
 *	         bts_begin()               bts_leave_busy()
 *	   IDLE -------------> BUSY -----------------------> TRACING
 *	    ^ ^                | ^                            |   |  ^
 *	    | |  none begins,  | |     bts_enter_busy()       |   |  |
 *	    | +----------------+ +----------------------------+   |  |
 *	    |    or it ends                           bts_hold()  |  | bts_release()
 *	    |                                                     v  |
 *	    +----------------------------------------------------- HELD
 *	       bts_interrupt(): the area is full
 *
 * IDLE
 *   No transaction is open, and the debug store does not lead to an area.
 * BUSY
 *   The trace is being changed. An NMI that finds this state does not touch the trace;
 *   bts_leave_busy() looks for a threshold that was reached meanwhile.
 * TRACING
 *   The hardware records branches.
 * HELD
 *   The same, but in the NMI: the hardware is off, so that the handler's own branches
 *   are not recorded. Only the NMI sees this state.
 *
 * bts_set_state() is the only function that writes bts::state.
 *
 * The debug store says where records go. It belongs to the core PMU (ds.c), which has
 * a buffer of its own in it for samples of each branch. Those exclude this PMU and are
 * excluded by it, so that buffer is empty while it is not in use here. Its addresses
 * are put back when a trace stops.
 *
 * Block-step and KVM read, change and write IA32_DEBUGCTL with interrupts off. If an NMI
 * ends a trace between their read and their write, the write sets TR and BTS again. So a
 * trace that ends in an NMI leaves the core PMU's buffer in the debug store, with a
 * threshold that is never reached (bts_seal()), and the stop that follows clears the
 * bits once more.
 *
 * Barriers:
 *
 * BTS_STATE
 *   Orders bts::state and the data it stands for, between a CPU and NMIs on the same
 *   CPU. barrier() is enough.
 * BTS_DATA
 *   The hardware's stores come before what follows the WRMSR that switches it off,
 *   and are coherent. The partner is AUX_HEAD in kernel/events/aux, whose barrier
 *   orders stores of the same CPU.
 */
#ifndef _INTEL_BTS_H
#define _INTEL_BTS_H

#include <linux/bits.h>
#include <linux/perf_event.h>

#include "window.h"

/**
 * struct bts_buffer - an AUX area as the hardware sees it
 * @base: (S) the area, mapped as one range of linear addresses
 * @size: (S) its size in bytes, a power of two
 * @overwrite: (S) the area is in overwrite mode
 * @start: (T) offset at which the transaction began
 *
 * (S) constant after pmu::setup_aux(). (T) owned by the open transaction.
 */
struct bts_buffer {
	void		*base;
	unsigned long	size;
	bool		overwrite;
	unsigned long	start;
};

/**
 * enum bts_state - what branch trace store does on a CPU; see the diagram above
 * @BTS_IDLE: no transaction is open
 * @BTS_BUSY: the trace is being changed
 * @BTS_TRACING: the hardware records branches
 * @BTS_HELD: the NMI has switched it off for a moment
 */
enum bts_state {
	BTS_IDLE,
	BTS_BUSY,
	BTS_TRACING,
	BTS_HELD,
};

/**
 * struct bts_pointers - the part of the debug store that is about branches
 * @base: first byte of the buffer
 * @maximum: byte behind it
 * @threshold: where the hardware interrupts
 *
 * All are linear addresses.
 */
struct bts_pointers {
	u64	base;
	u64	maximum;
	u64	threshold;
};

/**
 * struct bts - branch trace store of a CPU
 * @handle: the open transaction; its event is NULL if there is none
 * @state: see enum bts_state
 * @late_pmi: the driver has found the threshold reached before it saw a PMI. The
 *	next NMI that no other handler claims is taken for that PMI.
 * @late_since: jiffies when @late_pmi was set. A tick later, the PMI is lost.
 * @claimed: an NMI that found the state BUSY has seen that the threshold was reached
 * @sealed: the debug store is that of a trace that an NMI has ended
 * @usable: events trace on this CPU
 * @saved: what the debug store had before the trace, while the state is not IDLE
 *	or @sealed is set
 * @suspended: the event that was traced when the machine was suspended
 *
 * Owned by the CPU, with interrupts off. Other CPUs read @usable.
 */
struct bts {
	struct perf_output_handle	handle;
	enum bts_state			state;
	bool				late_pmi;
	bool				claimed;
	bool				sealed;
	bool				usable;
	unsigned long			late_since;
	struct bts_pointers		saved;
	struct perf_event		*suspended;
};

/*
 * hw_perf_event::flags: bts_report_gap() has written a record, and the event has not
 * traced since. Another record would say nothing new.
 */
#define BTS_EVENT_GAP	BIT(0)

extern struct pmu bts_pmu;
DECLARE_PER_CPU(struct bts, bts_cpu);

/* cpu.c */
int bts_cpu_init(void);
void bts_cpu_exit(void);

/* buffer.c */
void bts_free_aux(void *area);
void *bts_setup_aux(struct perf_event *mapped, void **pages, int nr_pages,
		    bool overwrite);

/* run.c */
bool bts_begin(struct bts *bts, struct perf_event *event);
void bts_leave_busy(struct bts *bts);
void bts_end(struct bts *bts);
void bts_hold(struct bts *bts);
void bts_release(struct bts *bts);
bool bts_interrupt(struct bts *bts);
void bts_stop_for_good(struct bts *bts);

#endif /* _INTEL_BTS_H */
