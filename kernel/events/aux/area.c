// SPDX-License-Identifier: GPL-2.0-only
/*
 * The AUX area: made by its first mapping, freed after its last. aux.h draws
 * its life and names the locks and barriers.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/topology.h>

#define CREATE_TRACE_POINTS
#include <trace/events/perf_aux.h>

#include "../internal.h"

static struct perf_buffer *aux_buffer(struct perf_aux *aux)
{
	return container_of(aux, struct perf_buffer, aux);
}

/* Free what hangs on an area that has neither mapping nor writer. */
static void aux_destroy(struct perf_aux *aux)
{
	lockdep_assert_held(&aux->mutex);

	if (aux->priv)
		aux->pmu->free_aux(aux->priv);
	module_put(aux->pmu->module);
	aux->priv = NULL;
	aux->pmu = NULL;
	perf_aux_free_pages(aux);
	perf_mlock_uncharge(&aux->charge);
	WRITE_ONCE(aux->state, PERF_AUX_NONE);
}

static void aux_reap_work(struct work_struct *work)
{
	struct perf_aux *aux = container_of(work, struct perf_aux, reap_work);
	struct perf_buffer *rb = aux_buffer(aux);

	mutex_lock(&aux->mutex);
	/* AUX_CLOSE, pairs with the xchg() in aux_release() */
	if (aux->state == PERF_AUX_CLOSING && !smp_load_acquire(&aux->writer))
		aux_destroy(aux);
	mutex_unlock(&aux->mutex);
	ring_buffer_put(rb);
}

static void aux_reap_irq(struct irq_work *work)
{
	struct perf_aux *aux = container_of(work, struct perf_aux, reap_irq);

	if (!schedule_work(&aux->reap_work))
		ring_buffer_put(aux_buffer(aux));
}

/**
 * perf_aux_reap - free a closing area from a context that can sleep
 * @rb: the area's buffer; the caller gives up its reference on it
 *
 * Harmless where somebody else has freed the area, or made a new one.
 *
 * Context: any, NMI included.
 */
void perf_aux_reap(struct perf_buffer *rb)
{
	if (!irq_work_queue(&rb->aux.reap_irq))
		ring_buffer_put(rb);
}

/**
 * perf_aux_init - prepare the AUX area of a new perf buffer
 * @aux: zeroed
 */
void perf_aux_init(struct perf_aux *aux)
{
	mutex_init(&aux->mutex);
	/* Nothing may look at the area when its work has begun. */
	aux->reap_irq = IRQ_WORK_INIT_HARD(aux_reap_irq);
	aux->last_cpu = -1;
	INIT_WORK(&aux->reap_work, aux_reap_work);
}

/* Everything but publishing; a failure leaves it to aux_destroy(). */
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

	/* Without scatter-gather nothing tells the PMU to go on elsewhere. */
	if (no_sg && aux->overwrite &&
	    page_private(virt_to_page(aux->pages[0])) != ilog2(aux->nr_pages))
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

static int aux_create(struct perf_aux *aux, struct perf_event *event,
		      struct vm_area_struct *vma)
{
	u64 size = (u64)vma_pages(vma) << PAGE_SHIFT;
	int ret;

	ret = perf_mlock_charge(&aux->charge, vma_pages(vma));
	if (ret)
		return ret;
	if (!has_aux(event)) {
		perf_mlock_uncharge(&aux->charge);
		return -EOPNOTSUPP;
	}

	__module_get(event->pmu->module);
	aux->pmu = event->pmu;
	aux->overwrite = !(vma->vm_flags & VM_WRITE);
	aux->pgoff = vma->vm_pgoff;
	aux->nr_pages = vma_pages(vma);
	aux->watermark = aux->overwrite ? U64_MAX :
		perf_aux_watermark(event->attr.aux_watermark, size);
	/* Reader and head count on, over all areas that the buffer ever had. */
	aux->mark = aux->overwrite ? 0 : perf_aux_mark(aux->head, aux->watermark);
	aux->behind = false;

	ret = aux_populate(aux, event);
	if (ret) {
		aux_destroy(aux);
		return ret;
	}

	/* AUX_PUBLISH */
	smp_store_release(&aux->state, PERF_AUX_LIVE);
	trace_perf_aux_map(event, size, aux->overwrite,
			   aux->overwrite ? 0 : aux->watermark);
	return 0;
}

struct aux_stop {
	struct perf_aux		*aux;
	struct perf_event	*kept;
};

/* Stop the events of a context that run here and write to a buffer. */
static void aux_stop_ctx(struct perf_event_context *ctx, struct perf_buffer *rb)
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
 * On the CPU that had the last transaction. Its event may be running without
 * one: CoreSight keeps what setup_aux() made until it is stopped, whether or
 * not it could begin again. That this comes as an interrupt means that no
 * driver is in the middle of anything.
 */
static void aux_stop_here(void *info)
{
	struct aux_stop *stop = info;
	struct perf_aux *aux = stop->aux;
	struct perf_buffer *rb = aux_buffer(aux);
	struct perf_cpu_context *cpuctx = this_cpu_ptr(&perf_cpu_context);
	struct perf_event *writer;

	rcu_read_lock();
	aux_stop_ctx(&cpuctx->ctx, rb);
	if (cpuctx->task_ctx)
		aux_stop_ctx(cpuctx->task_ctx, rb);

	/* Who is inherited may write to a buffer that its parent has left. */
	writer = READ_ONCE(aux->writer);
	if (writer && READ_ONCE(writer->oncpu) == smp_processor_id()) {
		writer->pmu->stop(writer, PERF_EF_UPDATE);
		if (READ_ONCE(aux->writer) == writer)
			stop->kept = writer;
	}
	rcu_read_unlock();
}

/*
 * Stop whoever writes to a closing area, wherever that is.
 *
 * Return: false if the driver keeps its transaction open even so
 */
static bool aux_stop_writer(struct perf_aux *aux)
{
	struct aux_stop stop = { .aux = aux };
	int cpu;

	WRITE_ONCE(aux->state, PERF_AUX_CLOSING);
	/* AUX_CLOSE, pairs with the cmpxchg() in aux_claim() */
	smp_mb();

	do {
		/* Events that share a buffer share a CPU or a task. */
		cpu = READ_ONCE(aux->last_cpu);
		if (cpu < 0)
			break;
		/* A CPU that is gone has no event that runs. */
		if (smp_call_function_single(cpu, aux_stop_here, &stop, true))
			break;
		cond_resched();
	} while (READ_ONCE(aux->writer) && !stop.kept);

	/* AUX_CLOSE, pairs with the xchg() in aux_release() */
	return !smp_load_acquire(&aux->writer);
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
		if (aux_stop_writer(aux))
			aux_destroy(aux);
		trace_perf_aux_unmap(event, aux->head);
	}
	mutex_unlock(&aux->mutex);
	perf_mmap_close(vma);
}

/* So many pages go to the page table at once. */
#define AUX_MAP_BATCH	32

static vm_fault_t aux_map_batch(struct vm_area_struct *vma, unsigned long addr,
				void **from, unsigned long nr_pages)
{
	struct page *pages[AUX_MAP_BATCH];
	unsigned long i, left;
	int ret;

	for (i = 0; i < nr_pages; i++)
		pages[i] = virt_to_page(from[i]);

	for (i = 0; i < nr_pages; i = nr_pages - left) {
		left = nr_pages - i;
		ret = vm_insert_pages(vma, addr + i * PAGE_SIZE, pages + i, &left);
		if (!ret)
			break;
		if (ret != -EBUSY)
			return vmf_error(ret);
		/* Another thread was faster with the next page. */
		left--;
	}
	return VM_FAULT_NOPAGE;
}

/*
 * A fault maps all that one page table holds, 2 MiB on x86, and not one page:
 * who reads a trace reads all of it. Pages are read-only to user space.
 */
static vm_fault_t perf_aux_vm_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct perf_event *event = perf_vma_event(vma);
	struct perf_aux *aux = &event->rb->aux;
	unsigned long start, end, addr, nr_pages;
	vm_fault_t ret = VM_FAULT_SIGBUS;

	if (vmf->flags & FAULT_FLAG_WRITE)
		return VM_FAULT_SIGBUS;

	start = max(vmf->address & PMD_MASK, vma->vm_start);
	end = min(pmd_addr_end(vmf->address, vma->vm_end), vma->vm_end);

	for (addr = start; addr < end; addr += nr_pages * PAGE_SIZE) {
		nr_pages = min_t(unsigned long, AUX_MAP_BATCH,
				 (end - addr) >> PAGE_SHIFT);
		ret = aux_map_batch(vma, addr,
				    aux->pages + linear_page_index(vma, addr) -
				    aux->pgoff, nr_pages);
		if (ret & VM_FAULT_ERROR)
			break;
	}
	return ret;
}

static vm_fault_t perf_aux_vm_mkwrite(struct vm_fault *vmf)
{
	return VM_FAULT_SIGBUS;
}

static const struct vm_operations_struct perf_aux_vm_ops = {
	.open		= perf_aux_vm_open,
	.close		= perf_aux_vm_close,
	.may_split	= perf_mmap_may_split,
	.fault		= perf_aux_vm_fault,
	.page_mkwrite	= perf_aux_vm_mkwrite,
};

static int aux_check(struct perf_buffer *rb, struct vm_area_struct *vma)
{
	struct perf_aux *aux = &rb->aux;
	struct perf_aux_request request = {
		.map_offset	= (u64)vma->vm_pgoff << PAGE_SHIFT,
		.map_size	= vma->vm_end - vma->vm_start,
		/* User space may write these at any time: read them once. */
		.aux_offset	= READ_ONCE(rb->user_page->aux_offset),
		.aux_size	= READ_ONCE(rb->user_page->aux_size),
		.data_end	= perf_data_size(rb) + PAGE_SIZE,
		.have_offset	= (u64)aux->pgoff << PAGE_SHIFT,
		.have_size	= perf_aux_size(rb),
	};
	int ret = perf_aux_check_request(&request, PAGE_SHIFT);

	if (ret)
		return ret;
	/* The last mapping of the buffer is on its way out. */
	if (!atomic_read(&rb->mmap_count))
		return -EINVAL;
	/* The last transaction of the area before is still open. */
	return aux->state == PERF_AUX_CLOSING ? -EBUSY : 0;
}

/*
 * Count one mapping more, unless the last one of the whole buffer went
 * meanwhile.
 */
static int aux_count_map(struct perf_buffer *rb, struct perf_event *event)
{
	struct perf_aux *aux = &rb->aux;

	if (!atomic_inc_not_zero(&rb->mmap_count)) {
		if (!aux->maps && aux_stop_writer(aux))
			aux_destroy(aux);
		return -EINVAL;
	}
	atomic_inc(&event->mmap_count);
	aux->maps++;
	return 0;
}

/**
 * perf_aux_mmap - map the AUX area of an event's buffer, make it if needed
 * @event: whose file is mapped; its mmap_mutex is held
 * @vma: the mapping to be; its offset is not 0
 *
 * Context: process, may sleep.
 *
 * Return: 0, or in this order
 *
 * * -EINVAL: no buffer is mapped yet; aux_offset and aux_size of the user page
 *   (include/uapi/linux/perf_event.h) do not fit the mapping, the data or the
 *   area that there is; the size is no power of two
 * * -EBUSY: the driver has not yet ended with the area before
 * * -EPERM: beyond the limit of locked memory
 * * -EOPNOTSUPP: the PMU has no AUX area, or none that can be written by its
 *   reader (then pmu::setup_aux() says so, by ERR_PTR())
 * * -ENOMEM: no memory, the PMU needs it contiguous and it is not, or it is more
 *   than the PMU can use (PERF_PMU_CAP_AUX_HUGE); also more pages than an int
 *   counts, before all else
 * * -EINTR: killed meanwhile
 */
int perf_aux_mmap(struct perf_event *event, struct vm_area_struct *vma)
{
	struct perf_buffer *rb = event->rb;
	int ret;

	if (!rb)
		return -EINVAL;
	if (vma_pages(vma) > INT_MAX)
		return -ENOMEM;

	mutex_lock(&rb->aux.mutex);
	ret = aux_check(rb, vma);
	if (!ret && rb->aux.state == PERF_AUX_NONE)
		ret = aux_create(&rb->aux, event, vma);
	if (!ret)
		ret = aux_count_map(rb, event);
	mutex_unlock(&rb->aux.mutex);

	if (!ret) {
		vma->vm_ops = &perf_aux_vm_ops;
		vm_flags_set(vma, VM_MIXEDMAP);
	}
	return ret;
}
