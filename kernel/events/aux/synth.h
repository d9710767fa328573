/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: state of the synthetic AUX PMU
 *
 * An event of this PMU is in one of three states. Only the CPU that runs the event
 * changes the state, with interrupts off or in an NMI::
 *
 *                 pmu::start()
 *        OFF ----------------------> BUSY
 *         ^                          |  ^
 *         |  pmu::stop(), or no      |  |  synth_take(): a timer, an irq_work,
 *         |  transaction begins      |  |  an NMI, a sample or pmu::stop()
 *         +--------------------------+  |
 *                                    |  |
 *                                    v  |
 *                                   READY
 *
 * OFF
 *   No transaction is open.
 * READY
 *   A transaction is open, and no code works on it.
 * BUSY
 *   Code of this CPU begins, ends or writes. An NMI that finds this state does
 *   nothing; the next one writes.
 *
 * Whether the trace is paused is not a state of the driver: the core keeps it in
 * hw_perf_event::aux_paused, and the driver looks there before each packet.
 *
 * Barriers:
 *
 * SYNTH_STATE
 *   Orders synth::state and what it stands for, between a CPU and NMIs on the same
 *   CPU. barrier() is enough; cmpxchg() in synth_take() is stronger than needed.
 */
#ifndef _KERNEL_EVENTS_AUX_SYNTH_H
#define _KERNEL_EVENTS_AUX_SYNTH_H

#include <linux/hardirq.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "synth_format.h"

/**
 * DOC: stream of the synthetic AUX PMU
 *
 * The stream is packets of 64 bytes, in the byte order of the machine. Each lies at
 * a multiple of 64 bytes and tells enough that a reader finds out whether any is
 * lost, repeated, torn or stale.
 */

/* "AUXS" in the memory of a little-endian machine */
#define SYNTH_MAGIC	0x53585541

/**
 * enum synth_kind - why a packet is written
 * @SYNTH_START: the event has started, and is not paused
 * @SYNTH_DATA: time has passed
 * @SYNTH_STOP: the event is about to stop, and is not paused
 */
enum synth_kind {
	SYNTH_START	= 1,
	SYNTH_DATA,
	SYNTH_STOP,
};

/**
 * enum synth_context - context in which a packet was written
 * @SYNTH_IN_TASK: with interrupts off
 * @SYNTH_IN_IRQ: hard interrupt
 * @SYNTH_IN_NMI: NMI
 */
enum synth_context {
	SYNTH_IN_TASK,
	SYNTH_IN_IRQ,
	SYNTH_IN_NMI,
};

static inline enum synth_context synth_context(void)
{
	if (in_nmi())
		return SYNTH_IN_NMI;
	return in_hardirq() ? SYNTH_IN_IRQ : SYNTH_IN_TASK;
}

/**
 * struct synth_packet - a packet of the stream
 * @magic: SYNTH_MAGIC
 * @kind: enum synth_kind
 * @context: enum synth_context
 * @cpu: CPU that has written the packet
 * @tid: task that ran there, in the initial PID namespace
 * @number: packets of this area before this one, whichever event wrote them
 * @position: perf_output_handle::head of the packet's first byte; only the lower 32
 *	bits on 32-bit machines
 * @time: local_clock() in nanoseconds
 * @event: perf_event::id of the event, or of its parent
 * @area: number of the area, so that a reader recognizes stale memory of an earlier one
 * @sum: synth_sum() of all words before
 */
struct synth_packet {
	u32	magic;
	u16	kind;
	u16	context;
	u32	cpu;
	u32	tid;
	u64	number;
	u64	position;
	u64	time;
	u64	event;
	u64	area;
	u64	sum;
};

#define SYNTH_PACKET_SIZE	sizeof(struct synth_packet)

/* The sum of a packet: FNV-1a over words of 64 bits */
static inline u64 synth_sum(const struct synth_packet *packet)
{
	const u64 *word = (const u64 *)packet;
	u64 sum = 0xcbf29ce484222325ULL;

	while (word < &packet->sum)
		sum = (sum ^ *word++) * 0x100000001b3ULL;
	return sum;
}

/**
 * struct synth_area - the driver's data of an AUX area
 * @pages: (S) kernel address of each page
 * @size: (S) size of the area in bytes
 * @chunk: (S) number of bytes that are contiguous, a power of two
 * @overwrite: (S) the area is in overwrite mode
 * @id: (S) number of the area
 * @number: (T) number of packets written
 *
 * (S) constant after pmu::setup_aux(). (T) owned by the open transaction.
 */
struct synth_area {
	void		**pages;
	unsigned long	size;
	unsigned long	chunk;
	bool		overwrite;
	u64		id;
	u64		number;
};

/**
 * enum synth_state - see the diagram above
 * @SYNTH_OFF: no transaction is open
 * @SYNTH_READY: a transaction is open, and no code works on it
 * @SYNTH_BUSY: code of this CPU works on it
 */
enum synth_state {
	SYNTH_OFF,
	SYNTH_READY,
	SYNTH_BUSY,
};

/**
 * struct synth - an event of the synthetic PMU
 * @event: (S) the event
 * @config: (S) its terms
 * @state: (C) see enum synth_state
 * @handle: (B) the transaction
 * @written: (B) bytes written in the transaction
 * @room: (B) bytes after which the transaction ends
 * @starts: (C) number of times that the event started, or should have
 * @begun: (B) number of transactions that began
 * @since: (C) when the count of ticks began; after a rest, when the rest ends
 * @ticks: (C) number of ticks since then
 * @due: (C) number of ticks that were due since then
 * @timer: started and cancelled by the CPU that runs the event
 * @irq_work: queued by @timer if packets are written from there; may run when the
 *	event has already moved to another CPU, and then does nothing
 *
 * (S) constant after pmu::event_init(). (C) changed by the CPU that runs the event,
 * with interrupts off or in an NMI. (B) owned by the code that has made the state BUSY.
 */
struct synth {
	struct perf_event		*event;
	struct synth_config		config;
	enum synth_state		state;
	struct perf_output_handle	handle;
	unsigned long			written;
	unsigned long			room;
	unsigned int			starts;
	unsigned int			begun;
	ktime_t				since;
	u64				ticks;
	u64				due;
	struct hrtimer			timer;
	struct irq_work			irq_work;
};

/* Begin to count ticks at a time. */
static inline void synth_count_ticks(struct synth *synth, ktime_t since)
{
	synth->since = since;
	synth->ticks = 0;
	synth->due = 0;
}

/* Ticks that are counted at least, and ticks of rest for each that was missed, at most */
#define SYNTH_TICKS_COUNTED	3
#define SYNTH_TICKS_RESTED	16
#define SYNTH_REST_MAX		(100 * NSEC_PER_MSEC)

/**
 * synth_rest - leave time to what is traced, on a machine that is too slow for the period
 * @synth: an event whose timer has come
 * @now: the time
 * @due: number of ticks that were due since the last one, at least one
 *
 * If a tick takes longer than the period, the next one is due before its interrupt returns,
 * and the CPU does nothing else any more. So ticks are counted for a millisecond, and three of
 * them at least. If some were missed, the timer then rests as long as that took, though not
 * more than 100 ms. In the rest comes the last write, if it is not the timer that writes; that
 * takes half of the rest at most.
 *
 * A machine that keeps up may be late now and then, and an emulated timer may be late while
 * what is traced runs on. There, few ticks are missed and the rest is shorter: 16 periods for
 * each of them.
 *
 * The count begins anew when the event is scheduled in. Each event rests for itself; several
 * on a CPU may be too much for it all the same.
 *
 * Context: hard interrupt.
 * Return: nanoseconds for which the timer has to rest
 */
static inline u64 synth_rest(struct synth *synth, ktime_t now, u64 due)
{
	u64 counted = ktime_to_ns(ktime_sub(now, synth->since)), rest;

	synth->ticks++;
	synth->due += due;
	if (synth->ticks < SYNTH_TICKS_COUNTED || counted < NSEC_PER_MSEC)
		return 0;
	rest = (synth->due - synth->ticks) * SYNTH_TICKS_RESTED * synth->config.period;
	rest = min3(rest, counted, (u64)SYNTH_REST_MAX);
	synth_count_ticks(synth, ktime_add_ns(now, rest));
	return rest;
}

void synth_write_more(struct synth *synth);

#ifdef CONFIG_X86_LOCAL_APIC

/* synth_nmi.c */
bool synth_has_nmi(void);
void synth_nmi_send(struct synth *synth);
void synth_nmi_stop(struct synth *synth);
int synth_nmi_init(void);
void synth_nmi_exit(void);

#else

static inline bool synth_has_nmi(void) { return false; }
static inline void synth_nmi_send(struct synth *synth) { }
static inline void synth_nmi_stop(struct synth *synth) { }
static inline int synth_nmi_init(void) { return 0; }
static inline void synth_nmi_exit(void) { }

#endif /* CONFIG_X86_LOCAL_APIC */

#endif /* _KERNEL_EVENTS_AUX_SYNTH_H */
