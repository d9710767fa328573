/* SPDX-License-Identifier: GPL-2.0-only */
/**
 * DOC: state of Intel Processor Trace on a CPU
 *
 * While an event runs, an AUX transaction is open, unless none could begin: the
 * area is full, is being unmapped or does not exist, or the CPU is unusable. struct
 * pt holds what the hardware of one CPU does. That CPU changes its state, with
 * interrupts off or in an NMI: the PMI of Processor Trace, and overflows of other
 * events, which take samples or pause and resume the trace::
 *
 *             pt_begin()               pt_leave_busy(), event runs
 *   IDLE ---------------------> BUSY -----------------------------> TRACING
 *    ^                         | | ^ ^                                 |
 *    |  pt_end(), or no        | | | |        pt_enter_busy()          |
 *    |  transaction begins     | | | +---------------------------------+
 *    +-------------------------+ | |
 *                                | |   pt_enter_busy()
 *                                | +------------------------------- PAUSED
 *                                |                                     ^
 *                                +-------------------------------------+
 *                                   pt_leave_busy(), event is paused
 *
 * IDLE
 *   No transaction is open.
 * BUSY
 *   The trace is being changed. TraceEn is clear, except at the begin and end of
 *   this state: pt_enter_busy() sets the state first, pt_leave_busy() sets TraceEn
 *   first. An NMI that finds this state does not touch the trace: a PMI sets
 *   pt::pmi_pending; the core sets hw_perf_event::aux_paused before it asks for a
 *   pause or resume. pt_leave_busy() looks at both again after it has left BUSY. The
 *   NMI that stops a crashed kernel does more; what it interrupts never continues.
 * TRACING
 *   TraceEn is set.
 * PAUSED
 *   A transaction is open and TraceEn is clear: the event is paused, or was
 *   stopped without PERF_EF_UPDATE, or VMX operation does not permit tracing.
 *
 * pt_set_state() is the only function that writes pt::state.
 *
 * Barriers:
 *
 * PT_STATE
 *   Orders pt::state and the data it stands for, between a CPU and NMIs on the
 *   same CPU. barrier() is enough.
 * PT_DATA
 *   Clearing TraceEn flushes the hardware's data (SDM, "Disabling Packet
 *   Generation"); the wmb() in pt_position() orders them before aux_head. The
 *   partner is AUX_HEAD in kernel/events/aux.
 */
#ifndef _INTEL_PT_H
#define _INTEL_PT_H

#include <linux/perf_event.h>

#include "caps.h"
#include "layout.h"

#define PT_MAX_RANGES	4

/**
 * struct pt_filters - IP ranges of an event
 * @a: first address of each range
 * @b: last address of each range
 * @ctl: the ADDRn_CFG fields of IA32_RTIT_CTL
 * @nr: number of ranges
 */
struct pt_filters {
	unsigned long	a[PT_MAX_RANGES];
	unsigned long	b[PT_MAX_RANGES];
	u64		ctl;
	unsigned int	nr;
};

/**
 * struct pt_buffer - hardware's view of an AUX area
 * @layout: (S) the regions of the area
 * @pages: (S) kernel address of each page
 * @tables: (S) ToPA tables, each linked to the next, the last to the first; a
 *	single table that is rewritten if tables have only one region; NULL for a
 *	single range
 * @nr_tables: (S) number of tables
 * @per_table: (S) number of regions in a table
 * @overwrite: (S) the area is in overwrite mode
 * @head: (T) position at which the transaction began
 * @region: (T) region in which the hardware is
 * @offset: (T) offset in that region
 * @marks: (T) where the hardware interrupts and stops
 * @marked: (T) @marks are set in the tables
 * @psb_due: (T) the stream may have a gap here, so the next start must begin with
 *	a PSB, on whichever CPU
 *
 * (S) constant after pmu::setup_aux(). (T) owned by the open transaction.
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
 * enum pt_state - what Processor Trace does on a CPU; see the diagram above
 * @PT_IDLE: no transaction is open
 * @PT_BUSY: the trace is being changed
 * @PT_TRACING: TraceEn is set
 * @PT_PAUSED: a transaction is open, TraceEn is clear
 */
enum pt_state {
	PT_IDLE,
	PT_BUSY,
	PT_TRACING,
	PT_PAUSED,
};

/**
 * struct pt_msrs - contents of a CPU's registers
 * @ctl: IA32_RTIT_CTL
 * @base: IA32_RTIT_OUTPUT_BASE
 * @ptrs: IA32_RTIT_OUTPUT_MASK_PTRS
 * @status: Error, Stopped and PacketByteCnt of IA32_RTIT_STATUS
 * @a: IA32_RTIT_ADDRn_A
 * @b: IA32_RTIT_ADDRn_B
 *
 * What the driver last wrote or read, or an illegal value if that is not known
 * (pt_reset_state()). It does not write a value that a register already holds.
 * While TraceEn is set, the hardware changes @base, @ptrs and @status, which
 * pt_read_head() reads.
 */
struct pt_msrs {
	u64	ctl;
	u64	base;
	u64	ptrs;
	u64	status;
	u64	a[PT_MAX_RANGES];
	u64	b[PT_MAX_RANGES];
};

/**
 * struct pt - Processor Trace of a CPU
 * @handle: the open transaction; its event is NULL if there is none
 * @state: see enum pt_state
 * @pmi_pending: a PMI arrived while the state was BUSY
 * @vmx: the CPU is in VMX operation, or is about to be, and cannot trace there:
 *	TraceEn is clear, and a write of IA32_RTIT_CTL is a #GP until VMXOFF
 * @unusable: events do not trace on this CPU, because its capabilities are not
 *	known yet or less than those of the others, or because it is about to
 *	leave this kernel
 * @suspended: the event that was traced when the machine was suspended
 * @msr: contents of the registers
 *
 * Owned by the CPU, with interrupts off. Other CPUs read @state and @unusable, and
 * initialize @unusable and @msr before the CPU comes online.
 */
struct pt {
	struct perf_output_handle	handle;
	enum pt_state			state;
	bool				pmi_pending;
	bool				vmx;
	bool				unusable;
	struct perf_event		*suspended;
	struct pt_msrs			msr;
};

/**
 * struct pt_pmu - Processor Trace of the machine
 * @pmu: the PMU
 * @caps: the capabilities that all CPUs have in common
 * @needs_branches: TraceEn without BranchEn is a #GP
 * @vmx: the CPUs can trace in VMX operation
 * @max_nonturbo_ratio: ratio of the maximum non-turbo frequency to the bus clock
 * @tsc_art_num: numerator of the ratio of TSC to ART (CPUID leaf 15H), or 0
 * @tsc_art_den: denominator of that ratio
 *
 * Constant after initialization.
 */
struct pt_pmu {
	struct pmu	pmu;
	struct pt_caps	caps;
	bool		needs_branches;
	bool		vmx;
	unsigned int	max_nonturbo_ratio;
	u32		tsc_art_num;
	u32		tsc_art_den;
};

/*
 * hw_perf_event::flags: pt_report_gap() has written a record, and the event has not
 * traced since. Another record would say nothing new.
 */
#define PT_EVENT_GAP			BIT(0)

extern struct pt_pmu pt_pmu;
DECLARE_PER_CPU(struct pt, pt_cpu);

/* sysfs.c */
extern const struct attribute_group *pt_attr_groups[];
void pt_sysfs_init(void);

/* cpu.c */
int pt_cpu_init(void);
void pt_cpu_exit(void);

/* watch.c */
void pt_watch_get(void);
void pt_watch_put(void);

/* buffer.c */
void *pt_setup_aux(struct perf_event *event, void **pages, int nr_pages,
		   bool overwrite);
void pt_free_aux(void *area);
bool pt_set_output(struct pt_buffer *buf,
		   const struct perf_output_handle *handle);

/* filter.c */
unsigned int pt_filters_max(void);
int pt_filters_alloc(struct perf_event *event);
void pt_filters_free(struct perf_event *event);
int pt_filters_validate(struct list_head *filters);
void pt_filters_sync(struct perf_event *event);

/* run.c */
bool pt_enter_busy(struct pt *pt);
void pt_leave_busy(struct pt *pt);
bool pt_begin(struct pt *pt, struct perf_event *event);
bool pt_restart(struct pt *pt);
void pt_end(struct pt *pt);
u64 pt_read_head(struct pt *pt, struct pt_buffer *buf);
void pt_check_gap(struct pt *pt);
void pt_poll(struct pt *pt);
void pt_stop_for_good(struct pt *pt);
void pt_reset_state(struct pt *pt);

#endif /* _INTEL_PT_H */
