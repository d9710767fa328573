// SPDX-License-Identifier: GPL-2.0-only
/*
 * compat.c in perf_aux_synth/: what the module must do by itself in kernels whose AUX areas
 * are not those that it was written for.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/xarray.h>

#if !PERF_PMU_CAP_AUX_ANY_SIZE

/* PMUs of areas, by the address of what pmu::setup_aux() returned; read in NMIs, too */
static DEFINE_XARRAY_FLAGS(synth_areas, XA_FLAGS_LOCK_IRQ);

/* Those of the module; all its PMUs have the same. */
static typeof_member(struct pmu, setup_aux) synth_setup;
static typeof_member(struct pmu, free_aux) synth_free;

static void synth_free_area(void *area)
{
	unsigned long flags;

	xa_lock_irqsave(&synth_areas, flags);
	__xa_erase(&synth_areas, (unsigned long)area);
	xa_unlock_irqrestore(&synth_areas, flags);
	synth_free(area);
}

static void *synth_setup_area(struct perf_event *event, void **pages, int nr, bool overwrite)
{
	void *area = synth_setup(event, pages, nr, overwrite);
	unsigned long index = (unsigned long)area;

	if (area && xa_err(xa_store_irq(&synth_areas, index, event->pmu, GFP_KERNEL))) {
		synth_free(area);
		area = NULL;
	}
	return area;
}

/**
 * synth_pmu_register - register a PMU of the module for good
 * @pmu: the PMU
 * @name: its name
 * @type: as in perf_pmu_register()
 *
 * These kernels export nothing that writes to a sample. So the PMU has no
 * pmu::snapshot_aux(), and the kernel refuses PERF_SAMPLE_AUX with -EINVAL.
 *
 * The module stays until the kernel ends. An area may outlive all events of its PMU, and in
 * Linux 6.1 a task refers to the PMU of its first software event as long as it lives; no such
 * reference holds the module.
 *
 * Return: 0, or a negative error
 */
int synth_pmu_register(struct pmu *pmu, const char *name, int type)
{
	int error;

	synth_setup = pmu->setup_aux;
	synth_free = pmu->free_aux;
	pmu->setup_aux = synth_setup_area;
	pmu->free_aux = synth_free_area;
	pmu->snapshot_aux = NULL;
	error = perf_pmu_register(pmu, name, type);
	if (!error)
		__module_get(THIS_MODULE);
	return error;
}

/**
 * synth_output_begin - begin a transaction, in an area of the event's PMU only
 * @handle: the transaction
 * @event: the event
 *
 * By PERF_EVENT_IOC_SET_OUTPUT to an event of another kind, events of several PMUs can share
 * a buffer. These kernels give each of them the area, whose data are those of one driver.
 *
 * Context: as perf_aux_output_begin().
 * Return: what pmu::setup_aux() of the event's PMU has returned, or NULL
 */
void *synth_output_begin(struct perf_output_handle *handle, struct perf_event *event)
{
	void *area = perf_aux_output_begin(handle, event);

	if (!area || xa_load(&synth_areas, (unsigned long)area) == event->pmu)
		return area;
	perf_aux_output_end(handle, 0);
	return NULL;
}

/**
 * synth_output_skip - leave bytes out, of what the event writes
 * @handle: the transaction
 * @size: bytes
 *
 * Return: as perf_aux_output_skip()
 */
int synth_output_skip(struct perf_output_handle *handle, unsigned long size)
{
	/* AUX_HEAD: the bytes, before the core moves aux_head. It has no barrier of its own. */
	smp_wmb();
	return perf_aux_output_skip(handle, size);
}

#endif /* PERF_PMU_CAP_AUX_ANY_SIZE */
