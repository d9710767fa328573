// SPDX-License-Identifier: GPL-2.0-only
/*
 * What hardware does on this CPU: the one place that changes it. pt.h draws the
 * states.
 *
 * Access to these registers is most of what tracing costs at a task switch. So
 * nothing is written that a register already holds, and nothing is read that is
 * known: of a task that comes back to its CPU, TraceEn is cleared and set, and
 * one register is read, or two where the area has several tables.
 */
#include <linux/jiffies.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <asm/msr.h>

#include "pt.h"

static void pt_enter(struct pt *pt, enum pt_state state)
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
	wrmsrl(msr, value);
}

static void pt_switch_off(struct pt *pt)
{
	pt_write(MSR_IA32_RTIT_CTL, pt->msr.ctl & ~RTIT_CTL_TRACEEN,
		 &pt->msr.ctl);
}

/**
 * pt_take - become the one who changes things; tracing is off then
 * @pt: of this CPU
 *
 * Context: interrupts off, or NMI.
 *
 * Return: false if no transaction is open, or somebody else is at it, whom we
 * have interrupted
 */
bool pt_take(struct pt *pt)
{
	enum pt_state state = READ_ONCE(pt->state);

	if (state != PT_TRACING && state != PT_HELD)
		return false;

	pt_enter(pt, PT_BUSY);
	/* A PMI that came before this may have found the area full. */
	if (!pt->handle.event) {
		pt_enter(pt, PT_IDLE);
		return false;
	}
	pt_switch_off(pt);
	return true;
}

static bool pt_wants_to_run(const struct pt *pt, const struct perf_event *event)
{
	return !READ_ONCE(event->hw.aux_paused) && !pt->vmx &&
	       !(event->hw.state & PERF_HES_STOPPED);
}

/* Do as the event wants; whether all was done when it was over. */
static bool pt_release(struct pt *pt)
{
	const struct perf_event *event = pt->handle.event;
	bool run = pt_wants_to_run(pt, event);

	if (run)
		pt_write(MSR_IA32_RTIT_CTL, event->hw.aux_config, &pt->msr.ctl);
	pt_enter(pt, run ? PT_TRACING : PT_HELD);

	/* Who found it BUSY until here, changed nothing but these. */
	return !READ_ONCE(pt->missed) && run == pt_wants_to_run(pt, event);
}

/* A PMI came meanwhile: it is about what is in the area, unless that goes round. */
static bool pt_make_good(struct pt *pt)
{
	struct pt_buffer *buf = perf_get_aux(&pt->handle);

	WRITE_ONCE(pt->missed, false);
	return buf->overwrite || pt_turn(pt);
}

/**
 * pt_settle - end what pt_take() or pt_begin() began: trace, if the event wants
 * @pt: of this CPU, BUSY
 *
 * Context: interrupts off, or NMI.
 */
void pt_settle(struct pt *pt)
{
	while (!pt_release(pt)) {
		if (!pt_take(pt))
			return;
		if (READ_ONCE(pt->missed) && !pt_make_good(pt))
			return;
	}
}

/* Bits of hw_perf_event::aux_config that come and go with area and filters. */
#define PT_CTL_LOADED	(RTIT_CTL_TRACEEN | RTIT_CTL_TOPA | RTIT_CTL_ADDR0 | \
			 RTIT_CTL_ADDR1 | RTIT_CTL_ADDR2 | RTIT_CTL_ADDR3)

/*
 * The area of a trace that an error has ended when nobody looked any more: found
 * when the next one began on that CPU. It is compared, and never followed; of
 * several at a time the last is told.
 */
static const struct pt_buffer *pt_failed;

/*
 * Nobody has looked how the last trace on this CPU ended, and from here on the
 * status is another one's, or cleared.
 */
static void pt_look_back(struct pt *pt)
{
	const struct pt_buffer *last = pt->unlooked;
	u64 status;

	pt->looked = jiffies;
	rdmsrl(MSR_IA32_RTIT_STATUS, status);
	if (!(status & RTIT_STATUS_ERROR))
		return;

	pr_warn_ratelimited("Intel PT: output error of an earlier trace\n");
	wrmsrl(MSR_IA32_RTIT_STATUS, status & ~RTIT_STATUS_ERROR);
	WRITE_ONCE(pt_failed, last);
}

/* What has to be known of the status before a trace begins, and to be told. */
static void pt_load_status(struct pt *pt, struct pt_buffer *buf)
{
	/* To begin with PSB is to clear the status. */
	if (pt->unlooked && (pt->unlooked != buf || buf->psb_due))
		pt_look_back(pt);
	if (READ_ONCE(pt_failed) == buf) {
		WRITE_ONCE(pt_failed, NULL);
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_PARTIAL);
		buf->psb_due = true;
	}
	/* Where packets are counted from 0, the first is PSB. */
	if (buf->psb_due) {
		wrmsrl(MSR_IA32_RTIT_STATUS, 0);
		pt->looked = jiffies;
		buf->psb_due = false;
	}
}

/* Load the registers that say where to write, and what to trace. */
static void pt_load(struct pt *pt, struct pt_buffer *buf,
		    struct perf_event *event)
{
	const struct pt_filters *filters = event->hw.addr_filters;
	u64 ctl = event->hw.aux_config & ~PT_CTL_LOADED;
	unsigned int i;

	if (buf->tables)
		ctl |= RTIT_CTL_TOPA;
	if (filters) {
		ctl |= filters->ctl;
		for (i = 0; i < filters->nr; i++) {
			pt_write(MSR_IA32_RTIT_ADDR0_A + 2 * i, filters->a[i],
				 &pt->msr.a[i]);
			pt_write(MSR_IA32_RTIT_ADDR0_B + 2 * i, filters->b[i],
				 &pt->msr.b[i]);
		}
	}
	if (ctl & RTIT_CTL_CR3EN)
		pt_write(MSR_IA32_RTIT_CR3_MATCH, pt_process_cr3(event),
			 &pt->msr.cr3);
	if (!(event->hw.aux_config & RTIT_CTL_TRACEEN)) {
		perf_event_itrace_started(event);
		buf->psb_due = true;
	}
	pt_load_status(pt, buf);
	event->hw.aux_config = ctl | RTIT_CTL_TRACEEN;

	pt_write(MSR_IA32_RTIT_OUTPUT_BASE, pt_output_base(buf), &pt->msr.base);
	pt_write(MSR_IA32_RTIT_OUTPUT_MASK, pt_output_ptrs(buf), &pt->msr.ptrs);
}

/*
 * pt_open - open a transaction, and prepare hardware for it
 * @pt: of this CPU, BUSY
 * @event: to be traced
 *
 * Return: false if there is nowhere to write
 */
static bool pt_open(struct pt *pt, struct perf_event *event)
{
	struct pt_buffer *buf = perf_aux_output_begin(&pt->handle, event);

	if (!buf)
		return false;

	if (!pt_aim(buf, &pt->handle)) {
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_TRUNCATED);
		perf_aux_output_end(&pt->handle, 0);
		return false;
	}
	/* While the CPU is in VMX operation there is nothing to be seen. */
	if (pt->vmx)
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_PARTIAL);

	pt_load(pt, buf, event);
	WRITE_ONCE(pt->missed, false);
	return true;
}

/**
 * pt_read_head - find where hardware is
 * @pt: of this CPU, BUSY, with a transaction open
 *
 * Return: the offset in the area at which it would go on
 */
u64 pt_read_head(struct pt *pt)
{
	struct pt_buffer *buf = perf_get_aux(&pt->handle);

	if (buf->nr_tables > 1)
		rdmsrl(MSR_IA32_RTIT_OUTPUT_BASE, pt->msr.base);
	rdmsrl(MSR_IA32_RTIT_OUTPUT_MASK, pt->msr.ptrs);
	pt_locate(buf, pt->msr.base, pt->msr.ptrs);
	/* PT_DATA */
	wmb();
	return pt_region_start(&buf->layout, buf->region) + buf->offset;
}

/*
 * Clear what keeps hardware from tracing on, if it is one of the @obstacles: an
 * error, or that it stopped, where the area was full or at a filter. After the
 * first two the count of packets is cleared as well, so that it goes on with PSB.
 *
 * Return: whether a PSB is due, on whichever CPU it goes on
 */
static bool pt_rearm(struct pt *pt, u64 obstacles, bool full)
{
	u64 status;

	pt->looked = jiffies;
	rdmsrl(MSR_IA32_RTIT_STATUS, status);
	if (status & RTIT_STATUS_ERROR) {
		pr_warn_ratelimited("Intel PT: output error at table %llx, %llx\n",
				    pt->msr.base, pt->msr.ptrs);
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_PARTIAL);
		full = true;
	}
	if (status & obstacles) {
		status &= full ? 0 : RTIT_STATUS_BYTECNT;
		wrmsrl(MSR_IA32_RTIT_STATUS, status);
	}
	return !(status & RTIT_STATUS_BYTECNT);
}

/*
 * Nothing but the status register tells of an error, which ends a trace for good.
 * It is rare, and a look at each switch is not: so there is one in a tick.
 */
static bool pt_is_look_due(const struct pt *pt)
{
	return time_is_before_jiffies(pt->looked);
}

/**
 * pt_check - let a trace that an error has ended go on
 * @pt: of this CPU, BUSY, with a transaction open
 */
void pt_check(struct pt *pt)
{
	struct pt_buffer *buf = perf_get_aux(&pt->handle);

	if (pt_is_look_due(pt) && pt_rearm(pt, RTIT_STATUS_ERROR, false))
		buf->psb_due = true;
}

/**
 * pt_look - the same, for who has no other reason to stop the trace
 * @pt: of this CPU
 *
 * Context: interrupts off, or NMI.
 */
void pt_look(struct pt *pt)
{
	if (!pt_is_look_due(pt) || !pt_take(pt))
		return;
	pt_check(pt);
	pt_settle(pt);
}

/* IA32_RTIT_CTL.ADDRn_CFG of a range that stops the trace, for all n */
#define PT_STOP_FILTERS	(RTIT_ADDR_STOP * 0x1111ULL << RTIT_CTL_ADDR0_OFFSET)

/* The area goes to its reader: hardware may be unable to go on in the next one. */
static void pt_prepare_next(struct pt *pt, struct pt_buffer *buf, bool moved,
			    bool full)
{
	bool look = full || !moved || pt_is_look_due(pt) ||
		    pt->handle.event->hw.aux_config & PT_STOP_FILTERS;

	pt->unlooked = look ? NULL : buf;
	if (look)
		buf->psb_due = pt_rearm(pt, RTIT_STATUS_ERROR |
					RTIT_STATUS_STOPPED, full);
}

/*
 * Processors whose tables have one region interrupt early: what is left of it
 * then is filled with padding, and the next region is used: once it has been read,
 * which may be after a loss.
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

/* Full-trace mode: how much there is, and whether hardware wanted to go on. */
static u64 pt_measure(struct pt *pt, struct pt_buffer *buf, u64 now)
{
	bool full = buf->region == buf->marks.stop &&
		    buf->offset == pt_region_size(&buf->layout, buf->region);
	u64 written = pt_written(&buf->layout, buf->head, now, &buf->marks, full);

	if (full)
		perf_aux_output_flag(&pt->handle, PERF_AUX_FLAG_TRUNCATED);
	pt_prepare_next(pt, buf, written, full);
	return full ? written : pt_pad_region(buf, written);
}

/* Overwrite mode: the head is an offset in the area, all of which is data. */
static u64 pt_measure_overwrite(struct pt *pt, struct pt_buffer *buf, u64 now)
{
	u64 size = pt_area_size(&buf->layout);

	/* The end of the area is its begin. */
	now &= size - 1;
	pt_prepare_next(pt, buf, now != (buf->head & (size - 1)), false);
	pt->handle.head = now;
	return size;
}

/*
 * pt_close - end the transaction: tell what hardware has written
 * @pt: of this CPU, BUSY, with a transaction open
 */
static void pt_close(struct pt *pt)
{
	struct pt_buffer *buf = perf_get_aux(&pt->handle);
	u64 now = pt_read_head(pt);

	perf_aux_output_end(&pt->handle, buf->overwrite ?
			    pt_measure_overwrite(pt, buf, now) :
			    pt_measure(pt, buf, now));
}

/**
 * pt_end - close the transaction and be idle
 * @pt: of this CPU, BUSY, with a transaction open
 */
void pt_end(struct pt *pt)
{
	pt_close(pt);
	pt_enter(pt, PT_IDLE);
}

/**
 * pt_begin - open a transaction of an event that starts
 * @pt: of this CPU, IDLE
 * @event: to be traced
 *
 * Return: whether it is BUSY then, else it is idle
 */
bool pt_begin(struct pt *pt, struct perf_event *event)
{
	pt_enter(pt, PT_BUSY);
	if (pt_open(pt, event))
		return true;
	pt_enter(pt, PT_IDLE);
	return false;
}

/**
 * pt_turn - close the transaction and open the next one
 * @pt: of this CPU, BUSY
 *
 * Return: whether it is BUSY then; else the area is full, and it is idle
 */
bool pt_turn(struct pt *pt)
{
	struct perf_event *event = pt->handle.event;

	pt_close(pt);
	if (pt_open(pt, event))
		return true;
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
	pt_enter(pt, PT_IDLE);
	return false;
}

/**
 * pt_kill - stop, whatever else is going on; nothing is traced afterwards
 * @pt: of this CPU, which is about to leave this kernel
 *
 * Context: NMI too; who is interrupted does not go on.
 */
void pt_kill(struct pt *pt)
{
	if (pt_take(pt))
		pt_end(pt);
	else if (READ_ONCE(pt->state) == PT_BUSY && !pt->vmx)
		wrmsrl(MSR_IA32_RTIT_CTL, 0);
}

/**
 * pt_forget - what the registers hold is not known
 * @pt: of this CPU, which has been reset, or comes from sleep
 */
void pt_forget(struct pt *pt)
{
	/* None of them holds that, nor can: it is no address, and no mask. */
	memset(&pt->msr, 0x80, sizeof(pt->msr));
	/* But these, which are as after reset. */
	pt->msr.ctl = 0;
	pt->looked = jiffies;
	pt->unlooked = NULL;
}
