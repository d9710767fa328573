// SPDX-License-Identifier: GPL-2.0-only
/*
 * The run state of Processor Trace on a CPU; pt.h has the diagram. Once cpu.c has
 * claimed a CPU's registers, only this file starts and stops the hardware.
 *
 * Register accesses are most of what a task switch costs when the task is
 * traced. So a register is not written if it already holds the value, and read
 * only if the hardware may have changed it. If a task returns to the CPU that it
 * left, TraceEn is cleared and set, and two registers are read; three if its area
 * has several tables.
 */
#define pr_fmt(fmt) "Intel PT: " fmt

#include <linux/bug.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/smp.h>

#include <asm/msr.h>

#include "output.h"
#include "pt.h"

static void pt_set_state(struct pt *pt, enum pt_state state)
{
	/* PT_STATE */
	barrier();
	WRITE_ONCE(pt->state, state);
	barrier();
}

static void pt_write(u32 msr, u64 value, u64 *holds)
{
	if (*holds == value)
		return;
	*holds = value;
	wrmsrq(msr, value);
}

static void pt_disable(struct pt *pt)
{
	pt_write(MSR_IA32_RTIT_CTL, pt->msr.ctl & ~RTIT_CTL_TRACEEN,
		 &pt->msr.ctl);
}

/**
 * pt_enter_busy - stop the hardware in order to change the trace
 * @pt: of this CPU
 *
 * Context: interrupts off, or NMI.
 *
 * Return: true if the state is BUSY now; false if no transaction is open, or the
 * caller is an NMI that interrupted another change
 */
bool pt_enter_busy(struct pt *pt)
{
	enum pt_state state = READ_ONCE(pt->state);

	if (state != PT_TRACING && state != PT_PAUSED)
		return false;

	pt_set_state(pt, PT_BUSY);
	/* A PMI before this may have found the area full and ended the trace. */
	if (!pt->handle.event) {
		pt_set_state(pt, PT_IDLE);
		return false;
	}
	pt_disable(pt);
	return true;
}

static bool pt_wants_to_run(const struct pt *pt, const struct perf_event *event)
{
	return !READ_ONCE(event->hw.aux_paused) && !pt->vmx &&
	       !(event->hw.state & PERF_HES_STOPPED);
}

/*
 * Start the hardware if the event wants that, and leave BUSY for TRACING or PAUSED.
 * After that, an NMI may change the state again. If @final, a pause or resume that
 * an NMI asked for during BUSY is ignored.
 *
 * Return: false if an NMI may have left something to do: a PMI is pending, or the
 * event was paused or resumed
 */
static bool pt_try_leave_busy(struct pt *pt, bool final)
{
	struct perf_event *event = pt->handle.event;
	bool run = pt_wants_to_run(pt, event);

	if (run)
		pt_write(MSR_IA32_RTIT_CTL, event->hw.aux_config, &pt->msr.ctl);
	pt_set_state(pt, run ? PT_TRACING : PT_PAUSED);

	/* An NMI during BUSY changed nothing but pmi_pending and aux_paused. */
	if (READ_ONCE(pt->pmi_pending))
		return false;
	if (run == pt_wants_to_run(pt, event))
		return true;
	if (!final || READ_ONCE(event->hw.aux_paused) != run)
		return false;
	/*
	 * The core does not call stop(PAUSE) while aux_paused is set, so make it
	 * agree with what the hardware does.
	 */
	WRITE_ONCE(event->hw.aux_paused, !run);
	return true;
}

/*
 * A PMI arrived while BUSY. In full-trace mode data may be waiting, so end the
 * transaction and begin the next one; overwrite mode ignores PMIs.
 *
 * Return: false if the area is full; the state is IDLE then
 */
static bool pt_handle_pending_pmi(struct pt *pt)
{
	struct pt_buffer *buf = perf_get_aux(&pt->handle);

	WRITE_ONCE(pt->pmi_pending, false);
	return buf->overwrite || pt_restart(pt);
}

/*
 * Limit for repeating a change during which NMIs paused or resumed the event: they
 * cause one or two repeats. The limit is for a tracepoint event on msr:write_msr in
 * the group: it overflows in each change, undoes it, and would keep this loop going
 * for ever. kernel/events/aux/pause.c has such a limit for changes that begin there.
 */
#define PT_REPEATS_MAX	16

/**
 * pt_leave_busy - complete a change; start the hardware if the event wants that
 * @pt: of this CPU, BUSY, with an open transaction
 *
 * Also does what NMIs asked for while BUSY; but see PT_REPEATS_MAX. On return, the
 * state is TRACING or PAUSED; or IDLE, without a transaction, if a PMI found the
 * area full.
 *
 * Context: interrupts off, or NMI.
 */
void pt_leave_busy(struct pt *pt)
{
	unsigned int repeats = 0;

	while (!pt_try_leave_busy(pt, repeats >= PT_REPEATS_MAX)) {
		if (!pt_enter_busy(pt))
			return;
		if (!READ_ONCE(pt->pmi_pending))
			repeats++;
		else if (!pt_handle_pending_pmi(pt))
			return;
	}
}

static void pt_load_filters(struct pt *pt, const struct pt_filters *filters)
{
	unsigned int i;

	for (i = 0; i < filters->nr; i++) {
		pt_write(MSR_IA32_RTIT_ADDR0_A + 2 * i, filters->a[i],
			 &pt->msr.a[i]);
		pt_write(MSR_IA32_RTIT_ADDR0_B + 2 * i, filters->b[i],
			 &pt->msr.b[i]);
	}
}

/* Bits of hw_perf_event::aux_config that pt_load() sets, not the user */
#define PT_CTL_LOADED	(RTIT_CTL_TRACEEN | RTIT_CTL_TOPA | RTIT_CTL_ADDR0 | \
			 RTIT_CTL_ADDR1 | RTIT_CTL_ADDR2 | RTIT_CTL_ADDR3)

/* Load all registers but CTL, and compute CTL. */
static void pt_load(struct pt *pt, struct pt_buffer *buf,
		    struct perf_event *event)
{
	const struct pt_filters *filters = event->hw.addr_filters;
	u64 ctl = event->hw.aux_config & ~PT_CTL_LOADED;

	if (buf->tables)
		ctl |= RTIT_CTL_TOPA;
	if (filters) {
		ctl |= filters->ctl;
		pt_load_filters(pt, filters);
	}
	/* TraceEn in aux_config: the event has traced before. */
	if (!(event->hw.aux_config & RTIT_CTL_TRACEEN)) {
		perf_event_itrace_started(event);
		buf->psb_due = true;
	}
	event->hw.aux_config = ctl | RTIT_CTL_TRACEEN;

	/* The hardware begins with a PSB if PacketByteCnt is 0. */
	if (buf->psb_due)
		pt_write(MSR_IA32_RTIT_STATUS, 0, &pt->msr.status);
	pt_write(MSR_IA32_RTIT_OUTPUT_BASE, pt_output_base(buf), &pt->msr.base);
	pt_write(MSR_IA32_RTIT_OUTPUT_MASK, pt_output_ptrs(buf), &pt->msr.ptrs);
}

/*
 * Begin a transaction and prepare the hardware for it.
 *
 * Return: false if there is no area, or no room in it
 */
static bool pt_open(struct pt *pt, struct perf_event *event)
{
	struct pt_buffer *buf = perf_aux_output_begin(&pt->handle, event);

	if (!buf)
		return false;

	if (!pt_set_output(buf, &pt->handle)) {
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_TRUNCATED);
		perf_aux_output_end(&pt->handle, 0);
		return false;
	}
	event->hw.flags &= ~PT_EVENT_GAP;
	/* The hardware does not trace while the CPU is in VMX operation. */
	if (pt->vmx)
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_PARTIAL);
	pt_load(pt, buf, event);
	WRITE_ONCE(pt->pmi_pending, false);
	return true;
}

/* With one of these, the hardware does not trace. */
#define PT_STATUS_HALTED	(RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED)

/* Return: offset in the area of the next byte, by the registers of output */
static u64 pt_position(struct pt_buffer *buf, u64 base, u64 ptrs)
{
	pt_locate(buf, base, ptrs);
	/* PT_DATA */
	wmb();
	return pt_region_start(&buf->layout, buf->region) + buf->offset;
}

/**
 * pt_read_head - read the position and the status of the hardware
 * @pt: of this CPU, BUSY, with an open transaction
 * @buf: the area of the transaction
 *
 * Return: offset in the area of the next byte
 */
u64 pt_read_head(struct pt *pt, struct pt_buffer *buf)
{
	rdmsrq(MSR_IA32_RTIT_STATUS, pt->msr.status);
	pt->msr.status &= PT_STATUS_HALTED | RTIT_STATUS_BYTECNT;
	if (buf->nr_tables > 1)
		rdmsrq(MSR_IA32_RTIT_OUTPUT_BASE, pt->msr.base);
	rdmsrq(MSR_IA32_RTIT_OUTPUT_MASK, pt->msr.ptrs);
	return pt_position(buf, pt->msr.base, pt->msr.ptrs);
}

/* IA32_RTIT_CTL.ADDRn_CFG of a range that stops the trace, for all n */
#define PT_STOP_FILTERS	(RTIT_ADDR_STOP * 0x1111ULL << RTIT_CTL_ADDR0_OFFSET)

static bool pt_has_stop_filter(const struct pt *pt)
{
	return pt->handle.event->hw.aux_config & PT_STOP_FILTERS;
}

/* The hardware is at the end of the region with STOP. */
static bool pt_is_at_stop(const struct pt_buffer *buf)
{
	return buf->region == buf->marks.stop &&
	       buf->offset == pt_region_size(&buf->layout, buf->region);
}

/*
 * Full-trace mode: the hardware has filled the area, if Stopped is set and it is in
 * the region with STOP. A tracestop filter sets Stopped as well, so with one, the
 * offset decides.
 */
static bool pt_is_full(const struct pt *pt, const struct pt_buffer *buf)
{
	bool stopped = pt->msr.status & RTIT_STATUS_STOPPED;
	bool at_stop = pt_is_at_stop(buf);

	if (buf->overwrite)
		return false;
	if (pt_has_stop_filter(pt))
		return at_stop;
	/* SDM, "ToPA STOP": the offset is the size of the region. */
	WARN_ON_ONCE(stopped != at_stop);
	return at_stop || (stopped && buf->region == buf->marks.stop);
}

/* The hardware has stopped, and neither a full area nor a filter is the reason. */
static bool pt_has_gap(const struct pt *pt, bool full)
{
	u64 status = pt->msr.status;

	return status & RTIT_STATUS_ERROR ||
	       (status & RTIT_STATUS_STOPPED && !full && !pt_has_stop_filter(pt));
}

/*
 * Deferred, because the caller may hold the lock of a run queue, which waking up the
 * console's waiters takes.
 */
static void pt_warn_gap(u64 status)
{
	printk_deferred_enter();
	pr_warn_ratelimited("CPU %d: output error, status %#llx\n",
			    smp_processor_id(), status);
	printk_deferred_exit();
}

/*
 * Clear what would keep the hardware from tracing. If the stream has a gap,
 * because of an error or if @full, clear PacketByteCnt too: it goes on with a PSB.
 */
static void pt_clear_status(struct pt *pt, struct pt_buffer *buf, bool full)
{
	bool gap = pt_has_gap(pt, full);
	u64 count = gap || full ? 0 : pt->msr.status & RTIT_STATUS_BYTECNT;

	if (gap) {
		pt_warn_gap(pt->msr.status);
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_PARTIAL);
	}
	pt_write(MSR_IA32_RTIT_STATUS, count, &pt->msr.status);
	/* On whichever CPU the trace goes on */
	buf->psb_due = !count;
}

/**
 * pt_check_gap - let a trace go on that an output error has stopped
 * @pt: of this CPU, BUSY, with an open transaction in overwrite mode, after
 *	pt_read_head()
 *
 * The trace continues after pt_leave_busy(); its next record is PARTIAL.
 */
void pt_check_gap(struct pt *pt)
{
	if (pt_has_gap(pt, false))
		pt_clear_status(pt, perf_get_aux(&pt->handle), false);
}

/*
 * If tables have one region, the hardware interrupts up to TOPA_EARLY_INT bytes
 * before the end of the region. If it is there, fill the rest of the region with
 * padding, and let the next transaction begin with the next region and with a PSB,
 * because the area may be full until then. x86 stores the padding before aux_head.
 *
 * If the trace of the interrupt itself fills the region, the hardware meets STOP.
 * That is reported like a full area: TRUNCATED.
 *
 * Return: @written and the padding
 */
static u64 pt_pad_region(struct pt_buffer *buf, u64 written)
{
	u64 left = buf->marks.stop_at - buf->head - written;
	void *page;

	if (buf->per_table > 1 || left > TOPA_EARLY_INT)
		return written;

	page = buf->pages[buf->layout.first[buf->region]];
	memset(page + buf->offset, 0, left);
	buf->psb_due = true;
	return written + left;
}

/* Full-trace mode. Return: number of bytes written */
static u64 pt_finish_full_trace(struct pt *pt, struct pt_buffer *buf, u64 now)
{
	bool full = pt_is_full(pt, buf);
	u64 written = pt_written(&buf->layout, buf->head, now, &buf->marks, full);

	if (full)
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_TRUNCATED);
	pt_clear_status(pt, buf, full);
	/* The core does not begin with the last free byte: there will be a gap. */
	if (written == pt->handle.size)
		buf->psb_due = true;
	return full ? written : pt_pad_region(buf, written);
}

/* Overwrite mode: handle::head is an offset. Return: the size of the area */
static u64 pt_finish_overwrite(struct pt *pt, struct pt_buffer *buf, u64 now)
{
	u64 size = pt_area_size(&buf->layout);

	pt_clear_status(pt, buf, false);
	/* The end of the area is its beginning. */
	pt->handle.head = now & (size - 1);
	return size;
}

/* End the transaction and report what was written; the state stays BUSY. */
static void pt_close(struct pt *pt)
{
	struct pt_buffer *buf = perf_get_aux(&pt->handle);
	u64 now = pt_read_head(pt, buf);

	perf_aux_output_end(&pt->handle, buf->overwrite ?
			    pt_finish_overwrite(pt, buf, now) :
			    pt_finish_full_trace(pt, buf, now));
}

/* Write a record without data, which says PARTIAL: the trace has a gap here. */
static void pt_report_gap(struct pt *pt, struct perf_event *event)
{
	if (event->hw.flags & PT_EVENT_GAP ||
	    !perf_aux_output_begin(&pt->handle, event))
		return;
	perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_PARTIAL);
	perf_aux_output_end(&pt->handle, 0);
	event->hw.flags |= PT_EVENT_GAP;
}

/**
 * pt_begin - begin a transaction for an event that starts
 * @pt: of this CPU, IDLE
 * @event: the event to trace
 *
 * Return: true if the state is BUSY; false if it is IDLE, because the CPU is
 * unusable, there is no area, or it is full
 */
bool pt_begin(struct pt *pt, struct perf_event *event)
{
	pt_set_state(pt, PT_BUSY);
	if (pt->unusable)
		pt_report_gap(pt, event);
	else if (pt_open(pt, event))
		return true;
	pt_set_state(pt, PT_IDLE);
	return false;
}

/**
 * pt_end - end the transaction
 * @pt: of this CPU, BUSY, with an open transaction; IDLE on return
 */
void pt_end(struct pt *pt)
{
	pt_close(pt);
	pt_set_state(pt, PT_IDLE);
}

/**
 * pt_restart - end the transaction and begin the next one
 * @pt: of this CPU, BUSY, with an open transaction
 *
 * Return: true if the state is BUSY; false if it is IDLE, because the area is
 * full or is being unmapped
 */
bool pt_restart(struct pt *pt)
{
	struct perf_event *event = pt->handle.event;

	pt_close(pt);
	if (pt_open(pt, event))
		return true;
	/*
	 * A PMI may interrupt the same |= in pt_pmu_stop(), which then undoes this
	 * one. pt_pmu_stop() has set STOPPED itself, sees that no transaction is
	 * open, and sets UPTODATE.
	 */
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
	pt_set_state(pt, PT_IDLE);
	return false;
}

/**
 * pt_poll - look for an error or a full area that raised no PMI
 * @pt: of this CPU
 *
 * A guest of KVM may have taken the PMI of a full area (see watch.c). If it still
 * arrives, it finds no transaction, or the next one, and does no harm.
 *
 * STATUS may be read while TraceEn is set, so a trace in which nothing is wrong goes
 * on. One that a tracestop filter has stopped remains stopped.
 *
 * Context: interrupts off, or NMI.
 */
void pt_poll(struct pt *pt)
{
	struct pt_buffer *buf;
	u64 status;
	bool full;

	rdmsrq(MSR_IA32_RTIT_STATUS, status);
	if (!(status & PT_STATUS_HALTED) || !pt_enter_busy(pt))
		return;
	buf = perf_get_aux(&pt->handle);
	pt_read_head(pt, buf);
	full = pt_is_full(pt, buf);
	if (!(full || pt_has_gap(pt, full)) || pt_restart(pt))
		pt_leave_busy(pt);
}

/* In a kernel that has crashed: call no tracepoint, as rdmsrq() does. */
static u64 pt_read_untraced(u32 msr)
{
	u32 low, high;

	native_rdmsr(msr, low, high);
	return (u64)high << 32 | low;
}

/*
 * Return: @size of perf_aux_output_publish(): bytes written; in overwrite mode 0,
 * and perf_output_handle::head is set to the position of the hardware
 */
static u64 pt_final_size(struct pt *pt, struct pt_buffer *buf)
{
	u64 now = pt_position(buf, pt_read_untraced(MSR_IA32_RTIT_OUTPUT_BASE),
			      pt_read_untraced(MSR_IA32_RTIT_OUTPUT_MASK));

	if (buf->overwrite) {
		pt->handle.head = now & (pt_area_size(&buf->layout) - 1);
		return 0;
	}
	return pt_written(&buf->layout, buf->head, now, &buf->marks,
			  pt_is_at_stop(buf));
}

/**
 * pt_stop_for_good - stop tracing in a kernel that has crashed
 * @pt: of this CPU, which never traces again
 *
 * Clears TraceEn, so that the hardware does not write into the memory of the
 * next kernel, and publishes aux_head for readers of the crash dump. Writes no
 * record, and comes to no tracepoint of register accesses: the NMI may have
 * interrupted the code of either.
 *
 * Context: NMI; whatever was interrupted does not continue.
 */
void pt_stop_for_good(struct pt *pt)
{
	enum pt_state state = READ_ONCE(pt->state);
	struct pt_buffer *buf;

	if (pt->unusable || state == PT_IDLE)
		return;
	/* BUSY is never left, so that no later NMI starts the hardware again. */
	pt_set_state(pt, PT_BUSY);

	/* See pt::vmx: TraceEn is clear. */
	if (!pt->vmx)
		native_wrmsr(MSR_IA32_RTIT_CTL, 0, 0);
	buf = perf_get_aux(&pt->handle);
	if (state != PT_BUSY && buf)
		perf_aux_output_publish(&pt->handle, pt_final_size(pt, buf));
}

/**
 * pt_reset_state - the contents of a CPU's registers are not known
 * @pt: of a CPU that was off or suspended, IDLE. pt_claim_registers() clears
 *	TraceEn before the CPU traces.
 */
void pt_reset_state(struct pt *pt)
{
	/* Not a legal value of any of these, so the next write is not skipped. */
	memset(&pt->msr, 0x80, sizeof(pt->msr));
	pt->msr.ctl = 0;
}
