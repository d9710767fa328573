// SPDX-License-Identifier: GPL-2.0-only
/*
 * The run state of branch trace store on a CPU; bts.h has the diagram. Only this file
 * touches the debug store, and switches the hardware on and off.
 */
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/string.h>

#include <asm/intel_ds.h>

#include "../../perf_event.h"
#include "bts.h"

static void bts_set_state(struct bts *bts, enum bts_state state)
{
	/* BTS_STATE */
	barrier();
	WRITE_ONCE(bts->state, state);
	barrier();
}

static struct debug_store *bts_store(void)
{
	return this_cpu_ptr(&cpu_hw_events)->ds;
}

/*
 * The index has reached the threshold: the PMI is pending, is being handled, or was lost.
 * In BTS_BUSY, an NMI may call this while bts_point() changes what it compares.
 */
static bool bts_due(const struct debug_store *ds)
{
	return READ_ONCE(ds->bts_index) >= READ_ONCE(ds->bts_interrupt_threshold);
}

/*
 * The branches of the rest of this handler may reach the threshold while LVTPC is
 * masked. That raises no PMI.
 */
static bool bts_is_near(const struct debug_store *ds)
{
	return ds->bts_index + BTS_HANDLER > ds->bts_interrupt_threshold;
}

static void bts_save(struct bts *bts, const struct debug_store *ds)
{
	bts->saved = (struct bts_pointers) {
		.base		= ds->bts_buffer_base,
		.maximum	= ds->bts_absolute_maximum,
		.threshold	= ds->bts_interrupt_threshold,
	};
}

/* Halfway, index and threshold do not make an NMI seem due. */
static void bts_point(struct debug_store *ds, const struct bts_pointers *to,
		      u64 index)
{
	WRITE_ONCE(ds->bts_interrupt_threshold, U64_MAX);
	ds->bts_buffer_base = to->base;
	WRITE_ONCE(ds->bts_index, index);
	ds->bts_absolute_maximum = to->maximum;
	WRITE_ONCE(ds->bts_interrupt_threshold, to->threshold);
}

static void bts_restore(struct bts *bts, struct debug_store *ds)
{
	bts_point(ds, &bts->saved, bts->saved.base);
}

/*
 * Block-step and KVM may write a stale TR and BTS back (see bts.h). Until pmu::stop(), let
 * such records go to the core PMU's buffer and raise no PMI.
 */
static void bts_seal(struct bts *bts, struct debug_store *ds)
{
	bts_restore(bts, ds);
	WRITE_ONCE(ds->bts_interrupt_threshold, bts->saved.maximum + BTS_RECORD_SIZE);
	bts->sealed = true;
}

/* Full-trace mode. If intel_pmu_reset() rewinds the index, it stays in the window. */
static void bts_point_to_window(struct debug_store *ds,
				const struct bts_buffer *buf,
				const struct bts_window *window)
{
	u64 base = (unsigned long)buf->base;
	struct bts_pointers to = {
		.base		= base + window->start,
		.maximum	= base + window->end,
		.threshold	= base + window->threshold,
	};

	bts_point(ds, &to, to.base);
}

/*
 * Overwrite mode: a ring of all records. To go without interrupts, the threshold must
 * be after the maximum (SDM, "Setting Up the BTS Buffer").
 */
static void bts_point_to_ring(struct debug_store *ds,
			      const struct bts_buffer *buf)
{
	u64 base = (unsigned long)buf->base, end = bts_records_end(buf->size);
	unsigned long start = bts_round_down(buf->start);
	struct bts_pointers to = {
		.base		= base,
		.maximum	= base + end,
		.threshold	= base + end + BTS_RECORD_SIZE,
	};

	bts_point(ds, &to, base + (start < end ? start : 0));
}

static void bts_on(const struct perf_event *event, const struct bts_buffer *buf)
{
	u64 config = event->hw.config;

	if (!buf->overwrite)
		config |= ARCH_PERFMON_EVENTSEL_INT;
	intel_pmu_enable_bts(config);
}

/* No stale bytes are left in what is skipped. */
static void bts_skip(struct bts_buffer *buf, struct perf_output_handle *handle,
		     unsigned long gap)
{
	memset(buf->base + bts_offset(buf->size, handle->head), 0, gap);
	perf_aux_output_skip(handle, gap);
}

/* Skip what is no place for the first record. */
static void bts_find_place(struct bts_buffer *buf,
			   struct perf_output_handle *handle)
{
	unsigned long gap;

	for (;;) {
		gap = bts_gap(buf->size, handle->head, handle->size);
		if (!gap || gap > handle->size)
			break;
		bts_skip(buf, handle, gap);
	}
}

/* Return: false if there is too little room */
static bool bts_prepare(struct debug_store *ds, struct bts_buffer *buf,
			struct perf_output_handle *handle)
{
	struct bts_window window;

	if (buf->overwrite) {
		buf->start = bts_offset(buf->size, handle->head);
		bts_point_to_ring(ds, buf);
		return true;
	}

	bts_find_place(buf, handle);
	if (!bts_place_window(buf->size, handle->head, handle->size,
			      handle->wakeup, &window))
		return false;
	buf->start = window.start;
	bts_point_to_window(ds, buf, &window);
	return true;
}

/*
 * Begin a transaction and prepare the debug store for it.
 *
 * Return: false if there is no area, or no room in it
 */
static bool bts_open(struct bts *bts, struct perf_event *event)
{
	struct bts_buffer *buf = perf_aux_output_begin(&bts->handle, event);

	if (!buf)
		return false;
	if (bts_prepare(bts_store(), buf, &bts->handle)) {
		event->hw.flags &= ~BTS_EVENT_GAP;
		return true;
	}
	perf_aux_output_flag(&bts->handle, PERF_AUX_FLAG_TRUNCATED);
	perf_aux_output_end(&bts->handle, 0);
	return false;
}

/* End the transaction and report what was written. The hardware is off: BTS_DATA. */
static void bts_close(struct bts *bts)
{
	struct bts_buffer *buf = perf_get_aux(&bts->handle);
	const struct debug_store *ds = bts_store();
	u64 index = ds->bts_index - (unsigned long)buf->base;

	if (buf->overwrite) {
		bts->handle.head = index;
		perf_aux_output_end(&bts->handle, buf->size);
		return;
	}
	/* The branches that follow were not recorded. */
	if (ds->bts_index >= ds->bts_absolute_maximum)
		perf_aux_output_flag(&bts->handle, PERF_AUX_FLAG_TRUNCATED);
	perf_aux_output_end(&bts->handle, index - buf->start);
}

/*
 * End the transaction and begin the next one.
 *
 * Return: true; false if the state is IDLE, because the area is full or is being
 * unmapped
 */
static bool bts_restart(struct bts *bts)
{
	struct perf_event *event = bts->handle.event;

	bts_close(bts);
	if (bts_open(bts, event))
		return true;
	bts_seal(bts, bts_store());
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	bts_set_state(bts, BTS_IDLE);
	return false;
}

/*
 * Switch the hardware off in order to change the trace.
 *
 * Context: interrupts off.
 *
 * Return: true if the state is BUSY now; false if no transaction is open
 */
static bool bts_enter_busy(struct bts *bts)
{
	if (READ_ONCE(bts->state) != BTS_TRACING)
		return false;

	bts_set_state(bts, BTS_BUSY);
	/* An NMI before this may have found the area full and ended the trace. */
	if (!bts->handle.event) {
		bts_set_state(bts, BTS_IDLE);
		return false;
	}
	intel_pmu_disable_bts();
	return true;
}

/* Write a record without data, which says PARTIAL: the trace has a gap here. */
static void bts_report_gap(struct bts *bts, struct perf_event *event)
{
	if (event->hw.flags & BTS_EVENT_GAP ||
	    !perf_aux_output_begin(&bts->handle, event))
		return;
	perf_aux_output_flag(&bts->handle, PERF_AUX_FLAG_PARTIAL);
	perf_aux_output_end(&bts->handle, 0);
	event->hw.flags |= BTS_EVENT_GAP;
}

/**
 * bts_begin - begin a transaction for an event that starts
 * @bts: of this CPU, IDLE
 * @event: the event to trace
 *
 * Context: interrupts off.
 *
 * Return: true if the state is BUSY; false if it is IDLE, because the CPU cannot
 * trace, there is no area, or it is full
 */
bool bts_begin(struct bts *bts, struct perf_event *event)
{
	bts->claimed = false;
	bts_set_state(bts, BTS_BUSY);
	if (!bts->usable) {
		bts_report_gap(bts, event);
	} else {
		bts_save(bts, bts_store());
		if (bts_open(bts, event))
			return true;
	}
	bts_set_state(bts, BTS_IDLE);
	return false;
}

/*
 * The threshold was found reached before its PMI was seen. Claim that PMI when it
 * arrives, unless it has arrived during BUSY.
 */
static void bts_expect_pmi(struct bts *bts)
{
	bts->late_since = jiffies;
	WRITE_ONCE(bts->late_pmi, true);
	/* BTS_STATE: it may come between the two. */
	if (READ_ONCE(bts->claimed))
		WRITE_ONCE(bts->late_pmi, false);
	WRITE_ONCE(bts->claimed, false);
}

/**
 * bts_leave_busy - complete a change: switch the hardware on
 * @bts: of this CPU, BUSY, with an open transaction
 *
 * An NMI during BUSY has left alone a threshold that was reached. Then the transaction
 * ends and the next one begins; each time the area has less room. On return, the
 * state is TRACING, or IDLE if the area is full.
 *
 * Context: interrupts off.
 */
void bts_leave_busy(struct bts *bts)
{
	const struct debug_store *ds = bts_store();
	struct bts_buffer *buf;

	for (;;) {
		buf = perf_get_aux(&bts->handle);
		bts_on(bts->handle.event, buf);
		bts_set_state(bts, BTS_TRACING);
		if (buf->overwrite || !bts_due(ds) || !bts_enter_busy(bts))
			return;
		/* Has an NMI begun another transaction since? */
		if (!bts_due(ds))
			continue;
		bts_expect_pmi(bts);
		if (!bts_restart(bts))
			return;
	}
}

/**
 * bts_end - end the transaction of an event that stops
 * @bts: of this CPU; IDLE on return
 *
 * Also puts the debug store in order after an NMI has ended the trace.
 *
 * Context: interrupts off.
 */
void bts_end(struct bts *bts)
{
	struct debug_store *ds = bts_store();

	bts->claimed = false;
	if (bts_enter_busy(bts)) {
		if (bts_due(ds))
			bts_expect_pmi(bts);
		bts_close(bts);
		bts_restore(bts, ds);
		bts_set_state(bts, BTS_IDLE);
	} else if (bts->sealed) {
		intel_pmu_disable_bts();
		bts_restore(bts, ds);
		bts->sealed = false;
	}
}

/**
 * bts_hold - switch the hardware off while the NMI of the core PMU runs
 * @bts: of this CPU
 *
 * If only user code is traced, the handler's branches are not recorded, and unless
 * the NMI is about the trace, the hardware stays on.
 *
 * Context: NMI.
 */
void bts_hold(struct bts *bts)
{
	if (READ_ONCE(bts->state) != BTS_TRACING)
		return;
	if (!(bts->handle.event->hw.config & ARCH_PERFMON_EVENTSEL_OS) &&
	    !bts_due(bts_store()))
		return;
	bts_set_state(bts, BTS_HELD);
	intel_pmu_disable_bts();
}

/**
 * bts_release - undo bts_hold()
 * @bts: of this CPU
 *
 * Context: NMI.
 */
void bts_release(struct bts *bts)
{
	if (READ_ONCE(bts->state) != BTS_HELD)
		return;
	bts_on(bts->handle.event, perf_get_aux(&bts->handle));
	bts_set_state(bts, BTS_TRACING);
}

/**
 * bts_interrupt - end the transaction at the threshold, and begin the next one
 * @bts: of this CPU, after bts_hold()
 *
 * Context: NMI.
 *
 * Return: true if the NMI is of branch trace store. No status bit says so, only the
 * index in the debug store.
 */
bool bts_interrupt(struct bts *bts)
{
	const struct debug_store *ds = bts_store();
	struct bts_buffer *buf;
	bool due, late;

	switch (READ_ONCE(bts->state)) {
	case BTS_BUSY:
		/* bts_leave_busy() of the interrupted code handles it. */
		if (bts_due(ds)) {
			bts->claimed = true;
			bts->late_pmi = false;
			return true;
		}
		break;
	case BTS_HELD:
		buf = perf_get_aux(&bts->handle);
		/* In overwrite mode, the hardware does not interrupt. */
		if (buf->overwrite || !bts_is_near(ds))
			break;
		due = bts_due(ds);
		bts_restart(bts);
		if (due)
			return true;
		break;
	case BTS_IDLE:
	case BTS_TRACING:
		break;
	}
	/* Of a trace that had stopped before the NMI came? */
	late = bts->late_pmi && jiffies - bts->late_since <= 1;
	bts->late_pmi = false;
	return late;
}

/**
 * bts_stop_for_good - switch the hardware off in a kernel that has crashed
 * @bts: of this CPU, which never traces again
 *
 * The hardware would write to the memory of the next kernel, whatever that maps at its
 * linear addresses. Publishes aux_head for readers of the crash dump, but writes no
 * record: the NMI may have interrupted the code that writes records.
 *
 * Context: NMI; whatever was interrupted does not continue.
 */
void bts_stop_for_good(struct bts *bts)
{
	enum bts_state state = READ_ONCE(bts->state);
	struct debug_store *ds = bts_store();
	struct bts_buffer *buf;
	u64 index;

	/* Others may have switched it on, see bts_seal(). */
	if (state == BTS_IDLE) {
		intel_pmu_disable_bts();
		return;
	}
	/* BUSY is never left, so that no later NMI starts the hardware again. */
	bts_set_state(bts, BTS_BUSY);
	intel_pmu_disable_bts();
	buf = perf_get_aux(&bts->handle);
	if (state == BTS_BUSY || !buf)
		return;

	index = ds->bts_index - (unsigned long)buf->base;
	if (buf->overwrite)
		bts->handle.head = index;
	perf_aux_output_publish(&bts->handle,
				buf->overwrite ? 0 : index - buf->start);
}
