// SPDX-License-Identifier: GPL-2.0-only
/*
 * AUX PMUs without hardware: a timer writes a stream that describes itself, so that a
 * reader of the AUX area can prove that nothing is lost, repeated, torn or stale.
 *
 * They are for tests of the AUX core on machines without tracing hardware, and for
 * authors of drivers to read: Documentation/core-api/perf_aux_driver.rst goes through
 * this file. synth.h has the states, and the format of the stream.
 */
#include <linux/atomic.h>
#include <linux/bitfield.h>
#include <linux/capability.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "synth.h"

static void synth_set_state(struct synth *synth, enum synth_state state)
{
	/* SYNTH_STATE */
	barrier();
	WRITE_ONCE(synth->state, state);
	barrier();
}

/*
 * Make the state BUSY.
 *
 * Return: false if no transaction is open, or if this is an NMI that has interrupted
 * code which works on it
 */
static bool synth_take(struct synth *synth)
{
	return cmpxchg(&synth->state, SYNTH_READY, SYNTH_BUSY) == SYNTH_READY;
}

static void *synth_at(const struct synth_area *area, unsigned long position)
{
	unsigned long offset = position & (area->size - 1);
	unsigned long in_chunk = offset & (area->chunk - 1);

	return area->pages[(offset - in_chunk) >> PAGE_SHIFT] + in_chunk;
}

/* The position of the next packet */
static unsigned long synth_head(const struct synth *synth)
{
	return synth->handle.head + synth->written;
}

/* The caller has checked that there is room for a packet. */
static void synth_put(struct synth *synth, enum synth_kind kind)
{
	struct synth_area *area = perf_get_aux(&synth->handle);
	struct perf_event *event = synth->event;
	unsigned long head = synth_head(synth);
	struct synth_packet packet = {
		.magic		= SYNTH_MAGIC,
		.kind		= kind,
		.context	= synth_context(),
		.cpu		= smp_processor_id(),
		.tid		= current->pid,
		.number		= area->number++,
		.position	= head,
		.time		= local_clock(),
		.event		= (event->parent ?: event)->id,
		.area		= area->id,
	};

	packet.sum = synth_sum(&packet);
	memcpy(synth_at(area, head), &packet, sizeof(packet));
	synth->written += sizeof(packet);
}

/*
 * The head is that of an earlier area of the buffer, which another PMU may have left at
 * any byte. Move it to the place of a packet.
 *
 * Return: false if there is too little room for that
 */
static bool synth_align(struct synth *synth, const struct synth_area *area)
{
	unsigned long gap = -synth->handle.head % SYNTH_PACKET_SIZE;

	if (area->overwrite) {
		synth->handle.head += gap;
		return true;
	}
	if (gap > synth->handle.size)
		return false;
	/* No stale bytes are left in what is skipped. */
	memset(synth_at(area, synth->handle.head), 0, gap);
	return !gap || !perf_aux_output_skip(&synth->handle, gap);
}

/*
 * Number of bytes after which the transaction ends: whole packets, in one chunk if the
 * hardware cannot leave it, up to where the reader asked to be woken.
 */
static unsigned long synth_room(struct synth *synth, const struct synth_area *area)
{
	struct perf_output_handle *handle = &synth->handle;
	unsigned long room = handle->size, until_wakeup;

	if (area->overwrite)
		return ULONG_MAX;
	if (synth->event->pmu->capabilities & PERF_PMU_CAP_AUX_NO_SG)
		room = min(room, area->chunk - (handle->head & (area->chunk - 1)));
	room = round_down(room, SYNTH_PACKET_SIZE);
	until_wakeup = handle->wakeup - handle->head;
	return until_wakeup < room ? round_up(until_wakeup, SYNTH_PACKET_SIZE) : room;
}

/* Return: false if there is no area, or no room in it */
static bool synth_begin(struct synth *synth)
{
	struct synth_area *area = perf_aux_output_begin(&synth->handle, synth->event);

	if (!area)
		return false;
	synth->begun++;
	synth->written = 0;
	synth->room = synth_align(synth, area) ? synth_room(synth, area) : 0;
	if (synth->room)
		return true;
	/* What is left is less than a packet. */
	perf_aux_output_flag(&synth->handle, PERF_AUX_FLAG_TRUNCATED);
	perf_aux_output_end(&synth->handle, 0);
	return false;
}

static void synth_end(struct synth *synth)
{
	static const u64 flags[] = {
		[SYNTH_NO_ERROR]	= 0,
		[SYNTH_TRUNCATED]	= PERF_AUX_FLAG_TRUNCATED,
		[SYNTH_PARTIAL]		= PERF_AUX_FLAG_PARTIAL,
		[SYNTH_COLLISION]	= PERF_AUX_FLAG_COLLISION,
		[SYNTH_OTHER_FORMAT]	= PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW,
		[SYNTH_NO_START]	= 0,
	};
	struct synth_area *area = perf_get_aux(&synth->handle);
	unsigned long size = synth->written;

	if (area->overwrite) {
		synth->handle.head += synth->written;
		size = min_t(u64, area->size, area->number * SYNTH_PACKET_SIZE);
	}
	if (!(synth->begun % synth->config.every))
		perf_aux_output_flag(&synth->handle, flags[synth->config.error]);
	/* AUX_HEAD: the packets, before the core moves aux_head. */
	smp_wmb();
	perf_aux_output_end(&synth->handle, size);
}

/*
 * End the transaction and begin the next one, as a driver does when hardware
 * interrupts. In full-trace mode only.
 *
 * Return: false if the area is full or is being unmapped
 */
static bool synth_restart(struct synth *synth)
{
	synth_end(synth);
	if (synth_begin(synth))
		return true;
	synth->event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	return false;
}

/*
 * Write a packet, unless the trace is paused. The state is BUSY.
 *
 * Return: false if no transaction is open any more
 */
static bool synth_write(struct synth *synth, enum synth_kind kind)
{
	if (READ_ONCE(synth->event->hw.aux_paused))
		return true;
	synth_put(synth, kind);
	return synth->written < synth->room || synth_restart(synth);
}

/**
 * synth_write_more - write as many packets as are due at a time
 * @synth: an event, which need not run here any more
 *
 * Ends at most one transaction, so that the reader is woken for each.
 *
 * Context: interrupts off, or NMI; on any CPU.
 */
void synth_write_more(struct synth *synth)
{
	unsigned int packets = synth->config.packets;
	bool open;

	/* An irq_work may come late, when the event runs elsewhere. */
	if (READ_ONCE(synth->event->oncpu) != smp_processor_id() || !synth_take(synth))
		return;
	do {
		open = synth_write(synth, SYNTH_DATA);
	} while (open && synth->written && --packets);
	synth_set_state(synth, open ? SYNTH_READY : SYNTH_OFF);
}

static void synth_irq_work(struct irq_work *work)
{
	synth_write_more(container_of(work, struct synth, irq_work));
}

static enum hrtimer_restart synth_timer(struct hrtimer *timer)
{
	struct synth *synth = container_of(timer, struct synth, timer);
	ktime_t now, period = ns_to_ktime(synth->config.period);
	u64 due;

	switch (synth->config.from) {
	case SYNTH_TIMER:
		synth_write_more(synth);
		break;
	case SYNTH_IRQ_WORK:
		irq_work_queue(&synth->irq_work);
		break;
	case SYNTH_NMI:
		synth_nmi_send(synth);
		break;
	}
	/* After the area has become full, nothing would write any more. */
	if (READ_ONCE(synth->state) == SYNTH_OFF)
		return HRTIMER_NORESTART;
	now = ktime_get();
	due = hrtimer_forward(timer, now, period);
	hrtimer_forward(timer, ktime_add_ns(now, synth_rest(synth, now, due)), period);
	return HRTIMER_RESTART;
}

/* The terms of the event want this start to fail. */
static bool synth_refuses(const struct synth *synth)
{
	return synth->config.error == SYNTH_NO_START &&
	       !(synth->starts % synth->config.every);
}

static void synth_pmu_start(struct perf_event *event, int flags)
{
	struct synth *synth = event->pmu_private;
	bool open;

	/* synth_write() finds a trace that is no longer paused. See synth_pmu_stop(). */
	if (flags & PERF_EF_RESUME || READ_ONCE(synth->state) != SYNTH_OFF)
		return;

	synth_set_state(synth, SYNTH_BUSY);
	synth->starts++;
	open = !synth_refuses(synth) && synth_begin(synth);
	event->hw.state = open ? 0 : PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (open) {
		perf_event_itrace_started(event);
		open = synth_write(synth, SYNTH_START);
	}
	synth_set_state(synth, open ? SYNTH_READY : SYNTH_OFF);
	if (!open)
		return;
	synth_count_ticks(synth, ktime_get());
	hrtimer_start(&synth->timer, ns_to_ktime(synth->config.period),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* A pause only sets hw_perf_event::aux_paused, at which synth_write() looks. */
static void synth_pmu_stop(struct perf_event *event, int flags)
{
	struct synth *synth = event->pmu_private;

	if (flags & PERF_EF_PAUSE)
		return;

	hrtimer_cancel(&synth->timer);
	synth_nmi_stop(synth);
	if (synth_take(synth)) {
		/* There is room for one packet as long as the transaction is open. */
		if (!READ_ONCE(event->hw.aux_paused))
			synth_put(synth, SYNTH_STOP);
		synth_end(synth);
		synth_set_state(synth, SYNTH_OFF);
	}
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int synth_pmu_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (!(flags & PERF_EF_START))
		return 0;
	synth_pmu_start(event, 0);
	return event->hw.state & PERF_HES_STOPPED ? -EINVAL : 0;
}

static void synth_pmu_del(struct perf_event *event, int flags)
{
	synth_pmu_stop(event, PERF_EF_UPDATE);
}

/* Nothing is counted. */
static void synth_pmu_read(struct perf_event *event)
{
}

static long synth_pmu_snapshot(struct perf_event *event, struct perf_output_handle *record,
			       unsigned long size)
{
	struct synth *synth = event->pmu_private;
	struct synth_area *area;
	unsigned long head;
	long copied = 0;

	if (!synth_take(synth))
		return 0;
	area = perf_get_aux(&synth->handle);
	head = synth_head(synth);
	size = min_t(u64, size, area->number * SYNTH_PACKET_SIZE);
	/* perf_output_copy_aux() takes positions modulo the size of the area. */
	if (size)
		copied = perf_output_copy_aux(&synth->handle, record, head - size, head);
	synth_set_state(synth, SYNTH_READY);
	return copied;
}

/* Number of bytes that are contiguous everywhere in the area */
static unsigned long synth_chunk(void **pages, int nr_pages)
{
	unsigned int order, least = ilog2(nr_pages);
	int i;

	/* The first page of a chunk tells its order. */
	for (i = 0; i < nr_pages; i += 1 << order) {
		order = page_private(virt_to_page(pages[i]));
		least = min(least, order);
	}
	return PAGE_SIZE << least;
}

static void *synth_setup_aux(struct perf_event *event, void **pages, int nr_pages,
			     bool overwrite)
{
	static atomic64_t last_id;
	struct synth_area *area = kzalloc(sizeof(*area), GFP_KERNEL);

	if (!area)
		return NULL;
	area->pages = pages;
	area->size = (unsigned long)nr_pages << PAGE_SHIFT;
	area->chunk = synth_chunk(pages, nr_pages);
	area->overwrite = overwrite;
	area->id = atomic64_inc_return(&last_id);
	return area;
}

static void synth_free_aux(void *area)
{
	kfree(area);
}

static void synth_pmu_destroy(struct perf_event *event)
{
	struct synth *synth = event->pmu_private;

	irq_work_sync(&synth->irq_work);
	kfree(synth);
}

/* A child has the terms of its parent, whose privilege was checked. */
static int synth_check(const struct perf_event *event, struct synth_config *config)
{
	int ret;

	if (!event->parent) {
		if (!perfmon_capable())
			return -EACCES;
		ret = security_locked_down(LOCKDOWN_PERF);
		if (ret)
			return ret;
	}
	if (event->attr.config1 || event->attr.config2)
		return -EINVAL;
	ret = synth_parse(config, event->attr.config);
	if (ret)
		return ret;
	return config->from == SYNTH_NMI && !synth_has_nmi() ? -EOPNOTSUPP : 0;
}

static int synth_pmu_init(struct perf_event *event)
{
	struct synth_config config;
	struct synth *synth;
	int ret;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	ret = synth_check(event, &config);
	if (ret)
		return ret;

	synth = kzalloc_node(sizeof(*synth), GFP_KERNEL,
			     event->cpu < 0 ? NUMA_NO_NODE : cpu_to_node(event->cpu));
	if (!synth)
		return -ENOMEM;
	synth->event = event;
	synth->config = config;
	hrtimer_setup(&synth->timer, synth_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	synth->irq_work = IRQ_WORK_INIT_HARD(synth_irq_work);
	event->pmu_private = synth;
	event->destroy = synth_pmu_destroy;
	return 0;
}

/* Kinds of hardware differ in the memory that they can write. */
static struct {
	struct pmu	pmu;
	const char	*name;
	int		capabilities;
} synth_pmus[] = {
	{ .name = "aux_synth" },
	{ .name = "aux_synth_large", .capabilities = PERF_PMU_CAP_AUX_PREFER_LARGE },
	{ .name = "aux_synth_no_sg", .capabilities = PERF_PMU_CAP_AUX_NO_SG },
};

static void synth_unregister(unsigned int nr_pmus)
{
	while (nr_pmus--)
		perf_pmu_unregister(&synth_pmus[nr_pmus].pmu);
	synth_nmi_exit();
}

static int __init synth_init(void)
{
	unsigned int i;
	int ret = synth_nmi_init();

	if (ret)
		return ret;
	for (i = 0; i < ARRAY_SIZE(synth_pmus); i++) {
		synth_pmus[i].pmu = (struct pmu) {
			.module		= THIS_MODULE,
			.capabilities	= PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE |
					  PERF_PMU_CAP_AUX_PAUSE |
					  PERF_PMU_CAP_AUX_ANY_SIZE |
					  synth_pmus[i].capabilities,
			.attr_groups	= synth_attr_groups,
			.task_ctx_nr	= perf_sw_context,
			.event_init	= synth_pmu_init,
			.add		= synth_pmu_add,
			.del		= synth_pmu_del,
			.start		= synth_pmu_start,
			.stop		= synth_pmu_stop,
			.read		= synth_pmu_read,
			.setup_aux	= synth_setup_aux,
			.free_aux	= synth_free_aux,
			.snapshot_aux	= synth_pmu_snapshot,
		};
		ret = perf_pmu_register(&synth_pmus[i].pmu, synth_pmus[i].name, -1);
		if (ret) {
			synth_unregister(i);
			return ret;
		}
	}
	return 0;
}
module_init(synth_init);

static void __exit synth_exit(void)
{
	synth_unregister(ARRAY_SIZE(synth_pmus));
}
module_exit(synth_exit);

MODULE_DESCRIPTION("AUX PMUs without hardware, for tests");
MODULE_LICENSE("GPL");
