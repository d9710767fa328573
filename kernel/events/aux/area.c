// SPDX-License-Identifier: GPL-2.0-only
/*
 * AUX areas: created by the first mapping, freed after the last. aux.h has the
 * state diagram, the locks and the barriers.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>
#include <linux/topology.h>

#define CREATE_TRACE_POINTS
#include <trace/events/perf_aux.h>

#include "../internal.h"
#include "../maps.h"

static struct perf_buffer *aux_buffer(struct perf_aux *aux)
{
	return container_of(aux, struct perf_buffer, aux);
}

/* The area has neither a mapping nor a writer, or is not yet LIVE. */
VISIBLE_IF_KUNIT void perf_aux_destroy(struct perf_aux *aux)
{
	lockdep_assert_held(&aux->mutex);

	if (aux->priv)
		aux->free_aux(aux->priv);
	module_put(aux->module);
	aux->priv = NULL;
	WRITE_ONCE(aux->pmu, NULL);
	perf_aux_free_pages(aux);
	perf_mlock_uncharge(&aux->charge);
	WRITE_ONCE(aux->state, PERF_AUX_NONE);
}
EXPORT_SYMBOL_IF_KUNIT(perf_aux_destroy);

static void aux_reap_work(struct work_struct *work)
{
	struct perf_aux *aux = container_of(work, struct perf_aux, reap_work);
	struct perf_buffer *rb = aux_buffer(aux);

	mutex_lock(&aux->mutex);
	/* AUX_CLOSE, pairs with the xchg() in aux_release() */
	if (aux->state == PERF_AUX_CLOSING && !smp_load_acquire(&aux->writer)) {
		perf_aux_destroy(aux);
		/* Taken by aux_close() */
		ring_buffer_put(rb);
	}
	mutex_unlock(&aux->mutex);
	ring_buffer_put(rb);
}

static void aux_reap_irq(struct irq_work *work)
{
	struct perf_aux *aux = container_of(work, struct perf_aux, reap_irq);

	/* Unbound: it frees up to gigabytes. */
	if (!queue_work(system_dfl_wq, &aux->reap_work))
		ring_buffer_put(aux_buffer(aux));
}

/**
 * perf_aux_reap - free a CLOSING area after its last transaction
 * @rb: the buffer
 *
 * The area is freed in process context, unless munmap() has already freed it or
 * mmap() has created a new one. If the buffer has no reference, munmap() has.
 *
 * Context: any, including NMI; RCU keeps the buffer.
 */
void perf_aux_reap(struct perf_buffer *rb)
{
	if (refcount_inc_not_zero(&rb->refcount) &&
	    !irq_work_queue(&rb->aux.reap_irq))
		ring_buffer_put(rb);
}

/**
 * perf_aux_init - initialize the AUX state of a new perf buffer
 * @aux: zeroed
 */
void perf_aux_init(struct perf_aux *aux)
{
	mutex_init(&aux->mutex);
	/*
	 * irq_work_single() writes reap_irq after aux_reap_irq() has returned, when
	 * the buffer may have no reference. RCU keeps the buffer that long in hard
	 * interrupt context, but not in the irq_work thread of PREEMPT_RT.
	 */
	aux->reap_irq = IRQ_WORK_INIT_HARD(aux_reap_irq);
	aux->last_cpu = -1;
	INIT_WORK(&aux->reap_work, aux_reap_work);
}

/* Pages and driver data. After an error, the caller calls perf_aux_destroy(). */
static int aux_populate(struct perf_aux *aux, struct perf_event *event)
{
	struct pmu *pmu = event->pmu;
	bool no_sg = pmu->capabilities & PERF_PMU_CAP_AUX_NO_SG;
	bool large = pmu->capabilities & PERF_PMU_CAP_AUX_PREFER_LARGE;
	int node = event->cpu < 0 ? NUMA_NO_NODE : cpu_to_node(event->cpu);
	unsigned int order;
	int ret;

	order = perf_aux_max_order(no_sg || large, aux->overwrite, aux->nr_pages,
				   get_order(aux->watermark), MAX_PAGE_ORDER);
	ret = perf_aux_alloc_pages(aux, order, node);
	if (ret)
		return ret;

	/* In overwrite mode, hardware without scatter-gather wraps in one chunk. */
	if (no_sg && aux->overwrite &&
	    page_private(virt_to_page(aux->pages[0])) != aux->order)
		return -ENOMEM;

	aux->priv = pmu->setup_aux(event, aux->pages, aux->nr_pages,
				   aux->overwrite);
	if (IS_ERR(aux->priv)) {
		ret = PTR_ERR(aux->priv);
		aux->priv = NULL;
		return ret;
	}
	return aux->priv ? 0 : -ENOMEM;
}

/* After an error, nothing of the area is left, and its charge is given back. */
VISIBLE_IF_KUNIT int perf_aux_build(struct perf_aux *aux, struct perf_event *event,
				    struct vm_area_struct *vma)
{
	u64 size = (u64)vma_pages(vma) << PAGE_SHIFT;
	int ret;

	WRITE_ONCE(aux->pmu, event->pmu);
	aux->free_aux = event->pmu->free_aux;
	aux->module = event->pmu->module;
	__module_get(aux->module);
	aux->overwrite = !(vma->vm_flags & VM_WRITE);
	aux->pgoff = vma->vm_pgoff;
	aux->nr_pages = vma_pages(vma);
	aux->order = ilog2(aux->nr_pages);
	aux->user_page = aux_buffer(aux)->user_page;
	aux->watermark = perf_aux_watermark(event->attr.aux_watermark, size);
	/* head and aux_tail continue from earlier areas of this buffer. */
	aux->wakeup = aux->overwrite ? U64_MAX :
		      perf_aux_next_wakeup(aux->head, aux->watermark);
	aux->lost_flags = 0;

	ret = aux_populate(aux, event);
	if (ret) {
		perf_aux_destroy(aux);
		return ret;
	}

	/* AUX_PUBLISH, pairs with the load-acquire in aux_serves() */
	smp_store_release(&aux->state, PERF_AUX_LIVE);
	trace_perf_aux_map(event, size, aux->overwrite,
			   aux->overwrite ? 0 : aux->watermark);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(perf_aux_build);

static int aux_create(struct perf_aux *aux, struct perf_event *event,
		      struct vm_area_struct *vma)
{
	int ret = perf_mlock_charge(&aux->charge, vma_pages(vma));

	if (ret)
		return ret;
	if (has_aux(event))
		return perf_aux_build(aux, event, vma);

	perf_mlock_uncharge(&aux->charge);
	return -EOPNOTSUPP;
}

/**
 * struct aux_stop - argument of aux_stop_here()
 * @aux: the area whose writer is to be stopped
 * @kept: set if the driver has kept its transaction open after pmu::stop()
 */
struct aux_stop {
	struct perf_aux	*aux;
	bool		kept;
};

/**
 * perf_aux_stop_context - stop the AUX events of a context that write to a buffer
 * @ctx: may have events that run on this CPU; only those are stopped
 * @rb: the buffer
 *
 * Context: interrupts off, within an RCU read section.
 */
void perf_aux_stop_context(struct perf_event_context *ctx,
			   struct perf_buffer *rb)
{
	struct perf_event *event, *owner;

	list_for_each_entry_rcu(event, &ctx->event_list, event_entry) {
		owner = event->parent ?: event;
		if (has_aux(event) && READ_ONCE(owner->rb) == rb &&
		    READ_ONCE(event->state) == PERF_EVENT_STATE_ACTIVE &&
		    READ_ONCE(event->oncpu) == smp_processor_id())
			event->pmu->stop(event, PERF_EF_UPDATE);
	}
}

/*
 * Runs as an interrupt on a CPU that may write to the area, so that no driver
 * is in the middle of an operation.
 *
 * An event may run without a transaction: CoreSight uses what pmu::setup_aux()
 * returned until it is stopped, even if perf_aux_output_begin() has failed.
 */
static void aux_stop_here(void *info)
{
	struct aux_stop *stop = info;
	struct perf_aux *aux = stop->aux;
	struct perf_event *writer;

	rcu_read_lock();
	perf_aux_stop_contexts(aux_buffer(aux));

	/* With its transaction open, an event can be redirected to another buffer. */
	writer = READ_ONCE(aux->writer);
	if (writer && READ_ONCE(writer->oncpu) == smp_processor_id()) {
		writer->pmu->stop(writer, PERF_EF_UPDATE);
		stop->kept = READ_ONCE(aux->writer) == writer;
	}
	rcu_read_unlock();
}

/* CPU that runs the event with the open transaction; -1 if there is none */
static int aux_writer_cpu(struct perf_aux *aux)
{
	struct perf_event *writer;
	int cpu = -1;

	rcu_read_lock();
	writer = READ_ONCE(aux->writer);
	if (writer)
		cpu = READ_ONCE(writer->oncpu);
	rcu_read_unlock();
	return cpu;
}

/* Return: false if @cpu is -1 or offline, so that no event runs there */
static bool aux_stop_on(int cpu, struct aux_stop *stop)
{
	return cpu >= 0 &&
	       !smp_call_function_single(cpu, aux_stop_here, stop, true);
}

/*
 * The area is no longer mapped: stop the event that writes to it, and let no
 * transaction begin.
 *
 * Return: true if the area may be freed now. False if a transaction is still open,
 * because its driver keeps it or because perf_aux_output_begin() is about to fail;
 * aux_release() then calls perf_aux_reap().
 */
static bool aux_stop_writer(struct perf_aux *aux)
{
	struct aux_stop stop = { .aux = aux };

	WRITE_ONCE(aux->state, PERF_AUX_CLOSING);
	/* AUX_CLOSE, pairs with the cmpxchg() in aux_claim() */
	smp_mb();

	aux_stop_on(READ_ONCE(aux->last_cpu), &stop);
	while (READ_ONCE(aux->writer) && !stop.kept) {
		/*
		 * The task may have moved since last_cpu was read. A transaction
		 * that begins there now sees CLOSING and is about to fail.
		 */
		if (!aux_stop_on(aux_writer_cpu(aux), &stop))
			cpu_relax();
		cond_resched();
	}
	/*
	 * The driver may end the transaction at any moment and still use the area,
	 * so do not look at writer. aux_release() sees CLOSING and queues reap_work.
	 */
	if (stop.kept)
		return false;

	/* AUX_CLOSE, pairs with the xchg() in aux_release() */
	return !smp_load_acquire(&aux->writer);
}

/*
 * The area is no longer mapped: free it. If a transaction is still open, the worker
 * does that; the area then keeps its buffer, as its mappings did.
 */
static void aux_close(struct perf_aux *aux)
{
	if (aux_stop_writer(aux))
		perf_aux_destroy(aux);
	else
		refcount_inc(&aux_buffer(aux)->refcount);
}

static void perf_aux_vm_open(struct vm_area_struct *vma)
{
	struct perf_event *event = perf_vma_event(vma);
	struct perf_aux *aux = &event->rb->aux;

	mutex_lock(&aux->mutex);
	aux->maps++;
	mutex_unlock(&aux->mutex);
	perf_mmap_open(vma);
}

static void perf_aux_vm_close(struct vm_area_struct *vma)
{
	struct perf_event *event = perf_vma_event(vma);
	struct perf_aux *aux = &event->rb->aux;

	mutex_lock(&aux->mutex);
	if (!--aux->maps) {
		aux_close(aux);
		trace_perf_aux_unmap(event, aux->head);
	}
	mutex_unlock(&aux->mutex);
	perf_mmap_close(vma);
}

/* Number of pages mapped between two calls of cond_resched() */
#define AUX_MAP_BATCH	1024

/*
 * Map all of the area at once, because a reader reads all of a trace. User space may
 * not write to the area, so the protection is not that of the VMA.
 *
 * The pages are mapped by their numbers, without a reference on each: maps counts the
 * VMAs, and the core removes page table entries before it calls perf_aux_vm_close().
 */
static int aux_map(struct perf_aux *aux, struct vm_area_struct *vma)
{
	pgprot_t prot = vm_get_page_prot(vma->vm_flags & ~VM_WRITE);
	vm_fault_t ret;

	/* VM_PFNMAP refuses references of others (GUP), VM_IO refuses MADV_DOFORK. */
	vm_flags_set(vma, VM_IO | VM_PFNMAP);
	for (unsigned long i = 0; i < aux->nr_pages; i++) {
		if (!(i % AUX_MAP_BATCH)) {
			if (fatal_signal_pending(current))
				return -EINTR;
			cond_resched();
		}
		ret = vmf_insert_pfn_prot(vma, vma->vm_start + i * PAGE_SIZE,
					  page_to_pfn(virt_to_page(aux->pages[i])),
					  prot);
		if (ret & VM_FAULT_ERROR)
			return vm_fault_to_errno(ret, 0);
	}
	return 0;
}

static vm_fault_t perf_aux_vm_mkwrite(struct vm_fault *vmf)
{
	return VM_FAULT_SIGBUS;
}

static const struct vm_operations_struct perf_aux_vm_ops = {
	.open		= perf_aux_vm_open,
	.close		= perf_aux_vm_close,
	.may_split	= perf_mmap_may_split,
	.pfn_mkwrite	= perf_aux_vm_mkwrite,
};

/* A mapping must cover exactly the existing area, or no area may exist yet. */
static int aux_check_state(struct perf_buffer *rb, struct vm_area_struct *vma)
{
	struct perf_aux *aux = &rb->aux;

	/* The last mapping of the buffer is being removed. */
	if (!perf_buffer_is_mapped(rb))
		return -EINVAL;

	switch (aux->state) {
	case PERF_AUX_NONE:
		return 0;
	case PERF_AUX_LIVE:
		return aux->pgoff == vma->vm_pgoff &&
		       aux->nr_pages == vma_pages(vma) ? 0 : -EINVAL;
	case PERF_AUX_CLOSING:
		break;
	}
	return -EBUSY;
}

/* Count a new mapping; fails if perf_mmap_close() has removed the buffer's last one. */
static int aux_count_map(struct perf_buffer *rb, struct perf_event *event)
{
	if (!perf_count_map(rb, event))
		return -EINVAL;

	rb->aux.maps++;
	return 0;
}

static int aux_map_and_count(struct perf_buffer *rb, struct perf_event *event,
			     struct vm_area_struct *vma)
{
	int ret = aux_map(&rb->aux, vma) ?: aux_count_map(rb, event);

	if (!ret)
		return 0;

	/* The core would remove the entries only after the area is freed. */
	zap_special_vma_range(vma, vma->vm_start, vma->vm_end - vma->vm_start);
	/* Nothing else maps the area: aux_create() has just created it. */
	if (!rb->aux.maps)
		aux_close(&rb->aux);
	return ret;
}

/**
 * perf_aux_mmap - map the AUX area of an event's buffer; create it if needed
 * @event: the event whose file is mapped; its mmap_mutex is held
 * @vma: the mapping; perf_mmap() has checked its geometry
 *
 * Context: process, may sleep.
 *
 * Return: 0 or
 *
 * * -EINVAL: an area of another place or size is mapped, or the last mapping of
 *   the buffer is being removed
 * * -EBUSY: the previous area is not freed yet
 * * -EPERM: beyond RLIMIT_MEMLOCK
 * * -EOPNOTSUPP: the PMU has no AUX area, or not in this mode (the latter from
 *   pmu::setup_aux()); or the kernel is one without an MMU
 * * -ENOMEM: out of memory; not contiguous although the PMU needs that; or
 *   larger than the PMU supports (see PERF_PMU_CAP_AUX_ANY_SIZE)
 * * -EINTR: a fatal signal is pending
 */
int perf_aux_mmap(struct perf_event *event, struct vm_area_struct *vma)
{
	struct perf_buffer *rb = event->rb;
	int ret;

	if (!IS_ENABLED(CONFIG_MMU))
		return -EOPNOTSUPP;

	mutex_lock(&rb->aux.mutex);
	ret = aux_check_state(rb, vma);
	if (!ret && rb->aux.state == PERF_AUX_NONE)
		ret = aux_create(&rb->aux, event, vma);
	if (!ret)
		ret = aux_map_and_count(rb, event, vma);
	mutex_unlock(&rb->aux.mutex);

	if (!ret)
		vma->vm_ops = &perf_aux_vm_ops;
	return ret;
}
