/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: the state of Processor Trace on a CPU
 *
 * A trace is an AUX transaction that is open while its event runs. What the
 * hardware of a CPU does, is in struct pt and is changed by that CPU alone, with
 * interrupts off. Among those who change it are NMIs: the PMI, and overflows of
 * other events, which take samples, pause and resume::
 *
 *              start                     settle, event wants to run
 *   IDLE --------------------> BUSY -----------------------------> TRACING
 *    ^                        | ^ ^                                   |
 *    |  stop, or area is full | | +-----------------------------------+
 *    +------------------------+ |      take: stop, PMI, sample, pause
 *                               |
 *                               |        settle, event is paused
 *                               +------> HELD ------+ (and the same back
 *                               |                   |  from BUSY)
 *                               +-------------------+
 *                                  take: stop, PMI, sample, resume
 *
 * IDLE
 *   no transaction is open
 * BUSY
 *   somebody changes something; an NMI that finds it so leaves all as it is.
 *   A PMI leaves a note, pt::missed; a pause or a resume has changed what the
 *   event wants: settling looks at both, after it has left BUSY.
 * TRACING
 *   TraceEn is set, hardware writes
 * HELD
 *   a transaction is open, TraceEn is clear: the event is paused, or stopped
 *   without an update, or VMX does not permit it
 *
 * Into BUSY lead pt_begin() and pt_take(), out of it pt_settle() and, to IDLE,
 * pt_end() and what finds no room: pt_begin(), pt_turn(). pt_enter() is the only
 * place that writes pt::state.
 *
 * Barriers:
 *
 * PT_STATE
 *   pt::state, and what it stands for: between a CPU and its own NMIs, so
 *   barrier() is enough
 * PT_DATA
 *   hardware's data, which clearing TraceEn flushes, before aux_head: the wmb()
 *   of pt_read_head(); partner is AUX_HEAD of kernel/events/aux
 */
#ifndef _INTEL_PT_H
#define _INTEL_PT_H

#include <linux/perf_event.h>

#include "caps.h"
#include "layout.h"

#define PT_MAX_RANGES	4

/**
 * struct pt_filters - IP ranges of an event
 * @a: first address of each
 * @b: last address of each
 * @ctl: ADDRn_CFG of IA32_RTIT_CTL
 * @nr: number of ranges
 */
struct pt_filters {
	unsigned long	a[PT_MAX_RANGES];
	unsigned long	b[PT_MAX_RANGES];
	u64		ctl;
	unsigned int	nr;
};

/**
 * struct pt_buffer - an AUX area as hardware sees it
 * @layout: (S) its regions
 * @pages: (S) addresses of its pages
 * @tables: (S) ToPA tables, linked to a ring by their last entries; one that is
 *	rewritten where a table can have but one region; none for a single range
 * @nr_tables: (S) number of tables
 * @per_table: (S) regions that a table has
 * @overwrite: (S) newest data win
 * @head: (T) position at which the transaction began
 * @region: (T) where hardware is
 * @offset: (T) in the region
 * @marks: (T) where hardware stops; in tables of many regions they are set there
 * @marked: (T) @marks are in the tables
 * @psb_due: (T) what is written next begins with PSB, whoever's event, on whichever
 *	CPU: it may come after a loss
 *
 * (S) constant from pmu::setup_aux() on. (T) belongs to the open transaction.
 */
struct pt_buffer {
	struct pt_layout	layout;
	void			**pages;
	u64			**tables;
	unsigned int		nr_tables;
	unsigned int		per_table;
	bool			overwrite;

	u64			head;
	unsigned int		region;
	u32			offset;
	struct pt_marks		marks;
	bool			marked;
	bool			psb_due;
};

/**
 * enum pt_state - what Processor Trace does on a CPU; see above
 * @PT_IDLE: nothing
 * @PT_BUSY: somebody is changing it
 * @PT_TRACING: it traces
 * @PT_HELD: it would trace, if it were let
 */
enum pt_state {
	PT_IDLE,
	PT_BUSY,
	PT_TRACING,
	PT_HELD,
};

/**
 * struct pt_msrs - what the registers of a CPU hold
 * @ctl: IA32_RTIT_CTL
 * @base: IA32_RTIT_OUTPUT_BASE
 * @ptrs: IA32_RTIT_OUTPUT_MASK_PTRS
 * @cr3: IA32_RTIT_CR3_MATCH
 * @a: IA32_RTIT_ADDRn_A
 * @b: IA32_RTIT_ADDRn_B
 *
 * Nobody else writes them: so nothing is written that they already hold.
 */
struct pt_msrs {
	u64	ctl;
	u64	base;
	u64	ptrs;
	u64	cr3;
	u64	a[PT_MAX_RANGES];
	u64	b[PT_MAX_RANGES];
};

/**
 * struct pt - Processor Trace of a CPU
 * @handle: the open transaction; its event is NULL if there is none
 * @state: what hardware does
 * @missed: a PMI came while it was BUSY
 * @vmx: TraceEn must not be set: the CPU is in VMX operation, in which it cannot
 *	trace
 * @lacking: it cannot do what the others can, or this is not known yet; it is not
 *	used
 * @looked: jiffies when IA32_RTIT_STATUS was last known
 * @unlooked: the area of the trace after which it was not looked at, if any; it is
 *	compared only, for it may be gone; one in its place is taken for it
 * @resume: the event that traced when the machine went to sleep
 * @msr: what the registers hold
 *
 * All by the CPU itself, with interrupts off; but for @lacking and for @msr
 * when it comes online.
 */
struct pt {
	struct perf_output_handle	handle;
	enum pt_state			state;
	bool				missed;
	bool				vmx;
	bool				lacking;
	unsigned long			looked;
	const struct pt_buffer		*unlooked;
	struct perf_event		*resume;
	struct pt_msrs			msr;
};

/**
 * struct pt_pmu - Processor Trace of the machine
 * @pmu: as perf sees it
 * @caps: what all CPUs have in common
 * @quirks: PT_QUIRK_*
 * @vmx: it can trace in VMX operation
 * @max_nonturbo_ratio: of the processor's clock to the bus's
 * @tsc_art_num: TSC's ticks for each @tsc_art_den ticks of the always running
 *	timer; 0: not known
 * @tsc_art_den: see @tsc_art_num
 *
 * Constant after initialization.
 */
struct pt_pmu {
	struct pmu	pmu;
	struct pt_caps	caps;
	unsigned long	quirks;
	bool		vmx;
	unsigned int	max_nonturbo_ratio;
	u32		tsc_art_num;
	u32		tsc_art_den;
};

/* Tracing without BranchEn is a #GP. */
#define PT_QUIRK_ALWAYS_BRANCHES	BIT(0)

extern struct pt_pmu pt_pmu;
DECLARE_PER_CPU(struct pt, pt_cpu);

/* sysfs.c */
extern const struct attribute_group *pt_attr_groups[];
void pt_sysfs_init(void);

/* cpu.c */
int pt_cpu_init(void);

/* buffer.c */
void *pt_setup_aux(struct perf_event *event, void **pages, int nr_pages,
		   bool overwrite);
void pt_free_aux(void *area);
bool pt_aim(struct pt_buffer *buf, const struct perf_output_handle *handle);
u64 pt_output_base(const struct pt_buffer *buf);
u64 pt_output_ptrs(const struct pt_buffer *buf);
void pt_locate(struct pt_buffer *buf, u64 base, u64 ptrs);

/* filter.c */
unsigned int pt_filters_most(void);
int pt_filters_alloc(struct perf_event *event);
void pt_filters_free(struct perf_event *event);
int pt_filters_validate(struct list_head *filters);
void pt_filters_sync(struct perf_event *event);

/* process.c */
int pt_process_set(struct perf_event *event);
void pt_process_clear(struct perf_event *event);
u64 pt_process_cr3(const struct perf_event *event);

/* run.c */
bool pt_take(struct pt *pt);
void pt_settle(struct pt *pt);
bool pt_turn(struct pt *pt);
bool pt_begin(struct pt *pt, struct perf_event *event);
void pt_end(struct pt *pt);
u64 pt_read_head(struct pt *pt);
void pt_check(struct pt *pt);
void pt_look(struct pt *pt);
void pt_kill(struct pt *pt);
void pt_forget(struct pt *pt);

#endif /* _INTEL_PT_H */
