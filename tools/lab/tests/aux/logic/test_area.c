// SPDX-License-Identifier: GPL-2.0-only
/* area.c: an area from its first mapping to its last, and all that can fail on the way. */
#include "check.h"

static int setup_error, set_up, freed;
static bool setup_overwrite, keeps, last_goes;
static struct perf_event *stopped;
static struct perf_output_handle handle;

static void *setup(struct perf_event *event, void **pages, int nr_pages, bool overwrite)
{
	setup_overwrite = overwrite;
	if (last_goes)
		atomic_set(&event->rb->mmap_count, 0);
	if (setup_error)
		return setup_error > 0 ? NULL : ERR_PTR(setup_error);
	set_up++;
	return pages;
}

static void free_aux(void *aux)
{
	must(pages_used() > 0, "a driver's data go before the pages");
	freed++;
}

static void stop(struct perf_event *event, int flags)
{
	must(flags == PERF_EF_UPDATE && world.irqs_off, "a writer is stopped on its CPU, for good");
	stopped = event;
	if (handle.event == event && !keeps && event->oncpu == world.cpu)
		perf_aux_output_end(&handle, 8);
}

static struct pmu pmu, no_aux_pmu = { .stop = stop };
static struct perf_event event, second;
static struct mapping data, area, more;

static void begin(void)
{
	world_begin();
	pmu = (struct pmu){ .module = &pmu, .setup_aux = setup, .free_aux = free_aux,
			    .stop = stop };
	setup_error = 0;
	set_up = 0;
	freed = 0;
	keeps = false;
	last_goes = false;
	stopped = NULL;
	handle.event = NULL;
	event_begin(&event, &pmu);
	event_begin(&second, &pmu);
}

/* The area is refused, and nothing is left of the attempt. */
static bool area_refused(int error, unsigned long pages, unsigned long flags)
{
	bool good;
	int ret;

	if (map(&data, &event, 0, 5, VM_SHARED | VM_WRITE))
		return false;
	event.rb->user_page->aux_offset = 8 * PAGE_SIZE;
	event.rb->user_page->aux_size = pages * PAGE_SIZE;
	ret = map(&area, &event, 8, pages, VM_SHARED | flags);
	if (ret != error)
		diag("%d, %d wanted", ret, error);
	good = ret == error && !area.vma.vm_ops && event.rb->aux.state == PERF_AUX_NONE &&
	       !event.rb->aux.maps && event.rb->mmap_count.counter == 1 &&
	       event.mmap_count.counter == 1 && set_up == freed && !event.rb->aux.mutex.held &&
	       world.task.user->perf_mlock.counter == 5;
	unmap(&data);
	return good && world_clean();
}

static void test_refusals(void)
{
	begin();
	point(area_refused(-EINVAL, 3, 0), "area: not a power of two");
	pmu.setup_aux = NULL;
	point(area_refused(-EOPNOTSUPP, 4, 0), "area: a PMU that has none");
	/* After one that was there. */
	begin();
	map_both(&data, &area, &event, 4, VM_WRITE);
	unmap(&area);
	world.pages_left = 3;
	point(map(&area, &event, 8, 4, VM_SHARED) == -ENOMEM && freed == 1,
	      "area: no memory for the second one");
	unmap(&data);
	begin();
	setup_error = -EOPNOTSUPP;
	point(area_refused(-EOPNOTSUPP, 4, 0), "area: the driver's error");
	setup_error = 1;
	point(area_refused(-ENOMEM, 4, 0), "area: the driver has no memory");
	begin();
	world.pages_left = 3;
	point(area_refused(-ENOMEM, 4, 0), "area: no memory");
	begin();
	world.memlock = 0;
	point(area_refused(-EPERM, 512, 0), "area: beyond RLIMIT_MEMLOCK");
	begin();
	world.signal_after = 0;
	point(area_refused(-EINTR, 4, 0), "area: a fatal signal");
	begin();
	pmu.capabilities = PERF_PMU_CAP_AUX_NO_SG;
	world.order_there = 1;
	point(area_refused(-ENOMEM, 4, 0), "area: not contiguous");
	point(!map_both(&data, &area, &event, 4, VM_WRITE),
	      "area: which a full trace need not be");
	unmap(&area);
	unmap(&data);
}

static void test_places(void)
{
	struct perf_event_mmap_page *page;

	begin();
	map(&data, &event, 0, 5, VM_SHARED | VM_WRITE);
	page = event.rb->user_page;
	page->aux_offset = 4 * PAGE_SIZE;
	page->aux_size = 4 * PAGE_SIZE;
	point(map(&area, &event, 4, 4, VM_SHARED) == -EINVAL, "area: over the data");
	page->aux_offset = 5 * PAGE_SIZE;
	point(map(&area, &event, 6, 4, VM_SHARED) == -EINVAL, "area: not where the user page says");
	point(map(&area, &event, 5, 2, VM_SHARED) == -EINVAL, "area: not as the user page says");
	point(!map(&area, &event, 5, 4, VM_SHARED), "area: right after the data");
	page->aux_offset = 9 * PAGE_SIZE;
	point(map(&more, &event, 9, 4, VM_SHARED) == -EINVAL, "area: a second one");
	page->aux_offset = 5 * PAGE_SIZE;
	page->aux_size = 2 * PAGE_SIZE;
	point(map(&more, &event, 5, 2, VM_SHARED) == -EINVAL && event.rb->aux.maps == 1,
	      "area: the same with another size");
	unmap(&area);
	unmap(&data);
	point(world_clean(), "area: nothing is left");
}

static void test_modes(void)
{
	begin();
	event.cpu = 0;
	world.node_wanted = 100;
	point(!map_both(&data, &area, &event, 4, 0), "area: of CPU 0, on its node");
	unmap(&area);
	unmap(&data);

	for (int overwrite = 0; overwrite < 2; overwrite++) {
		struct perf_aux *aux;

		begin();
		event.cpu = 2;
		world.node_wanted = 102;
		event.attr.aux_watermark = 3 * PAGE_SIZE;
		map(&data, &event, 0, 5, VM_SHARED | VM_WRITE);
		event.rb->aux.head = 5 * PAGE_SIZE + 9;
		event.rb->user_page->aux_offset = 8 * PAGE_SIZE;
		event.rb->user_page->aux_size = 4 * PAGE_SIZE;
		point(!map(&area, &event, 8, 4, VM_SHARED | (overwrite ? 0 : VM_WRITE)),
		      "area: %s", overwrite ? "overwrite" : "full trace");
		aux = &event.rb->aux;
		point(aux->state == PERF_AUX_LIVE && aux->overwrite == overwrite &&
		      setup_overwrite == overwrite && aux->pgoff == 8 && aux->nr_pages == 4 &&
		      aux->maps == 1 && aux->pmu == &pmu && world.modules == 1 &&
		      aux->charge.gift == 4 &&
		      event.mmap_count.counter == 2 && event.rb->mmap_count.counter == 2 &&
		      aux->priv == (void *)aux->pages && !aux->lost_flags && world.traced[MAP] == 1 &&
	      !world.traced[UNMAP],
		      "area: what it is");
		point(aux->watermark == 3 * PAGE_SIZE &&
		      aux->wakeup == (overwrite ? ~0UL : 6 * PAGE_SIZE),
		      "area: its watermark, and the last one that was passed");
		unmap(&data);
		/* The PMU has been unregistered, and its struct freed. */
		pmu.module = NULL;
		pmu.free_aux = NULL;
		unmap(&area);
		point(freed == 1 && world.traced[UNMAP] == 1 && world_clean(),
		      "area: gone, after the data and after its PMU");
	}
	begin();
	pmu.capabilities = PERF_PMU_CAP_AUX_NO_SG;
	point(!map_both(&data, &area, &event, 64, 0) &&
	      page_private(virt_to_page(event.rb->aux.pages[0])) == 6, "area: contiguous");
	unmap(&area);
	unmap(&data);
	begin();
	pmu.capabilities = PERF_PMU_CAP_AUX_PREFER_LARGE;
	map_both(&data, &area, &event, 64, VM_WRITE);
	point(page_private(virt_to_page(event.rb->aux.pages[0])) == 5,
	      "area: chunks of a watermark, where large ones are preferred");
	unmap(&area);
	unmap(&data);
	begin();
	map_both(&data, &area, &event, 64, 0);
	point(!PagePrivate(virt_to_page(event.rb->aux.pages[0])), "area: single pages elsewhere");
	unmap(&area);
	unmap(&data);
}

static void test_counts(void)
{
	struct perf_buffer *rb;

	begin();
	map_both(&data, &area, &event, 4, VM_WRITE);
	rb = event.rb;
	point(!map(&more, &event, 8, 4, VM_SHARED | VM_WRITE) && rb->aux.maps == 2 &&
	      rb->mmap_count.counter == 3 && set_up == 1 && pages_used() == 4,
	      "area: mapped once more");
	area.vma.vm_ops->open(&area.vma);
	point(rb->aux.maps == 3 && rb->mmap_count.counter == 4, "area: moved, so mapped once more");
	point(area.vma.vm_ops->may_split(&area.vma, 0) == -EINVAL, "area: no part of it");
	unmap(&area);
	unmap(&area);
	point(rb->aux.state == PERF_AUX_LIVE && !freed, "area: stays while it is mapped");
	unmap(&more);
	point(rb->aux.state == PERF_AUX_NONE && freed == 1 && pages_used() == 0 && !world.ipis,
	      "area: goes with the last mapping, and no CPU is asked where nothing was traced");
	unmap(&data);
	point(world_clean(), "area: and the buffer");

	/* mmap() of an area while the last mapping of the buffer goes. */
	begin();
	map_both(&data, &area, &event, 4, VM_WRITE);
	rb = event.rb;
	atomic_set(&rb->mmap_count, 0);
	point(map(&more, &event, 8, 4, VM_SHARED | VM_WRITE) == -EINVAL && rb->aux.maps == 1 &&
	      rb->aux.state == PERF_AUX_LIVE, "area: the buffer's last mapping is going");
	atomic_set(&rb->mmap_count, 2);
	unmap(&area);
	atomic_set(&rb->mmap_count, 0);
	point(map(&more, &event, 8, 4, VM_SHARED | VM_WRITE) == -EINVAL && set_up == 1,
	      "area: and then there is no new one");
	atomic_set(&rb->mmap_count, 1);
	unmap(&data);

	/* It goes while the area is being made. */
	begin();
	map_both(&data, &area, &event, 4, VM_WRITE);
	rb = event.rb;
	unmap(&area);
	last_goes = true;
	point(map(&area, &event, 8, 4, VM_SHARED | VM_WRITE) == -EINVAL && set_up == 2 &&
	      freed == 2 && rb->aux.state == PERF_AUX_NONE && !rb->aux.maps && !pages_used(),
	      "area: the buffer's last mapping goes while it is made");
	atomic_set(&rb->mmap_count, 1);
	unmap(&data);
}

static void test_stop(void)
{
	struct perf_buffer *rb;

	begin();
	map_both(&data, &area, &event, 4, VM_WRITE);
	rb = event.rb;
	world.cpu = 2;
	event.oncpu = 2;
	must(perf_aux_output_begin(&handle, &event), "a transaction begins");
	world.cpu = 1;
	point(rb->aux.last_cpu == 2 && rb->aux.writer == &event, "stop: who writes, and where");
	unmap(&area);
	point(world.ipis == 1 && stopped == &event && !handle.event && freed == 1 &&
	      rb->aux.state == PERF_AUX_NONE && world.records == 1,
	      "stop: the writer, on its CPU, and its data are reported");
	point(!perf_aux_output_begin(&handle, &event), "stop: and it does not begin again");
	unmap(&data);
	run_works();
	point(world_clean(), "stop: nothing is left");

	/* An event that runs without a transaction, as CoreSight's do. */
	for (int task = 0; task < 2; task++) {
		begin();
		map_both(&data, &area, &event, 4, VM_WRITE);
		world.cpu = 2;
		event.oncpu = 2;
		if (task)
			perf_cpu_context[2].task_ctx = event.ctx;
		list_add(&event.event_entry, task ? &event.ctx->event_list :
					     &perf_cpu_context[2].ctx.event_list);
		perf_aux_output_begin(&handle, &event);
		perf_aux_output_end(&handle, 0);
		world.cpu = 0;
		unmap(&area);
		point(stopped == &event, "stop: an event of a %s that has no transaction",
		      task ? "task" : "CPU");
		unmap(&data);
		list_del(&event.event_entry);
	}

	/* Those that are not of this buffer, not here, or not active, go on. */
	for (int i = 0; i < 4; i++) {
		begin();
		map_both(&data, &area, &event, 4, VM_WRITE);
		perf_aux_output_begin(&handle, &event);
		perf_aux_output_end(&handle, 0);
		second.rb = i == 0 ? NULL : event.rb;
		second.state = i == 1 ? PERF_EVENT_STATE_INACTIVE : PERF_EVENT_STATE_ACTIVE;
		second.oncpu = i == 2 ? 3 : 0;
		if (i == 3)
			second.pmu = &no_aux_pmu;
		list_add(&second.event_entry, &perf_cpu_context[0].ctx.event_list);
		unmap(&area);
		point(!stopped, "stop: not another event (%d)", i);
		unmap(&data);
		list_del(&second.event_entry);
	}

	/* A child writes to its parent's buffer. */
	begin();
	map_both(&data, &area, &event, 4, VM_WRITE);
	second.parent = &event;
	second.cpu = 3;
	second.oncpu = 3;
	world.cpu = 3;
	point(perf_aux_output_begin(&handle, &second) && event.rb->aux.writer == &second,
	      "stop: a child writes");
	world.cpu = 0;
	unmap(&area);
	point(stopped == &second && freed == 1, "stop: and is stopped");
	unmap(&data);
	run_works();
	point(world_clean(), "stop: nothing is left of it");
}

/* The CPU of the last attempt is not that of the writer, or is offline. */
static void test_elsewhere(void)
{
	begin();
	map_both(&data, &area, &event, 4, VM_WRITE);
	event.oncpu = 1;
	world.cpu = 1;
	perf_aux_output_begin(&handle, &event);
	event.rb->aux.last_cpu = 2;
	world.cpu = 0;
	unmap(&area);
	point(stopped == &event && freed == 1 && world.ipis == 2, "stop: the writer is elsewhere");
	unmap(&data);

	begin();
	map_both(&data, &area, &event, 4, VM_WRITE);
	perf_aux_output_begin(&handle, &event);
	perf_aux_output_end(&handle, 0);
	event.rb->aux.last_cpu = 3;
	world.online[3] = false;
	unmap(&area);
	point(freed == 1 && !world.ipis, "stop: the last CPU is offline");
	unmap(&data);
	point(world_clean(), "stop: nothing is left then, either");
}

/* s390's driver keeps its transaction. */
static void test_kept(void)
{
	struct perf_buffer *rb;

	begin();
	map_both(&data, &area, &event, 4, VM_WRITE);
	rb = event.rb;
	perf_aux_output_begin(&handle, &event);
	keeps = true;
	unmap(&area);
	point(rb->aux.state == PERF_AUX_CLOSING && !freed && pages_used() == 4,
	      "kept: the area stays");
	point(map(&more, &event, 8, 4, VM_SHARED | VM_WRITE) == -EBUSY, "kept: no other area");
	perf_aux_output_end(&handle, 8);
	point(!freed && world.irq_work, "kept: not freed where the transaction ends");
	run_works();
	point(freed == 1 && rb->aux.state == PERF_AUX_NONE && !pages_used(),
	      "kept: freed by the worker");
	point(!map(&more, &event, 8, 4, VM_SHARED | VM_WRITE), "kept: and then there is another");
	unmap(&more);
	unmap(&data);
	point(world_clean(), "kept: nothing is left");

	/* The buffer's last mapping goes before the transaction ends. */
	begin();
	map_both(&data, &area, &event, 4, VM_WRITE);
	perf_aux_output_begin(&handle, &event);
	keeps = true;
	unmap(&area);
	unmap(&data);
	point(!freed && !event.rb && pages_used() == 4, "kept: longer than the buffer is mapped");
	perf_aux_output_end(&handle, 8);
	run_works();
	point(freed == 1 && world_clean(), "kept: both are freed");

	/* A late worker finds an area that is not the one it was queued for. */
	begin();
	map_both(&data, &area, &event, 4, VM_WRITE);
	rb = event.rb;
	perf_aux_reap(rb);
	run_works();
	point(rb->aux.state == PERF_AUX_LIVE && !freed, "kept: a late worker frees nothing in use");
	perf_aux_reap(rb);
	perf_aux_reap(rb);
	run_works();
	point(rb->refcount.counter == 1, "kept: a reference for each irq_work, queued or not");
	perf_aux_reap(rb);
	run_irq_work();
	perf_aux_reap(rb);
	run_works();
	point(rb->refcount.counter == 1, "kept: a reference for each worker, queued or not");
	rb->refcount.counter = 0;
	perf_aux_reap(rb);
	point(!rb->refcount.counter && !world.irq_work, "kept: nothing for a buffer that goes");
	rb->refcount.counter = 1;
	unmap(&area);
	unmap(&data);
	point(world_clean(), "kept: nothing is left of that");
}

/* Each page is mapped, and the right one. */
static bool all_mapped(unsigned long pages)
{
	for (unsigned long i = 0; i < pages; i++)
		if (page_at(&area.vma, area.vma.vm_start + i * PAGE_SIZE) !=
		    virt_to_page(event.rb->aux.pages[i]))
			return false;
	return entries_mapped() == pages;
}

static void test_mapped(void)
{
	struct vm_fault fault = { .vma = &area.vma, .flags = FAULT_FLAG_WRITE };

	for (unsigned int order = 0; order < 5; order++) {
		begin();
		world.order_there = order;
		point(!map_both(&data, &area, &event, 64, VM_WRITE) && all_mapped(64),
		      "mapped: all of it, order %u", order);
		if (order == 4) {
			point(!map(&more, &event, 8, 64, VM_SHARED) && entries_mapped() == 128,
			      "mapped: a second time");
			unmap(&more);
			point(all_mapped(64), "mapped: the first one stays");
		}
		point(area.vma.vm_ops->pfn_mkwrite(&fault) == VM_FAULT_SIGBUS,
		      "mapped: no writing, order %u", order);
		unmap(&area);
		unmap(&data);
		point(world_clean() && !entries_mapped(), "mapped: nothing is left, order %u", order);
	}

	begin();
	world.insert_fails_at = 0x10000000 + 40 * PAGE_SIZE;
	point(map_both(&data, &area, &event, 64, VM_WRITE) == -ENOMEM && freed == 1 &&
	      event.rb->aux.state == PERF_AUX_NONE,
	      "mapped: no memory for page tables, so there is no area");
	world.insert_fails_at = 0;
	map(&area, &event, 8, 64, VM_SHARED | VM_WRITE);
	world.insert_fails_at = 0x10000000 + 40 * PAGE_SIZE;
	point(map(&more, &event, 8, 64, VM_SHARED) == -ENOMEM && event.rb->aux.maps == 1 &&
	      all_mapped(64), "mapped: ... for a second mapping, so the first one stays");
	world.insert_fails_at = 0;
	unmap(&area);
	unmap(&data);
	point(world_clean(), "mapped: nothing is left of that");

	begin();
	world.memlock = 64 << 20;
	map_both(&data, &area, &event, 2048, VM_WRITE);
	for (int after = 0; after < 2; after++) {
		world.signal_after = after;
		point(map(&more, &event, 8, 2048, VM_SHARED) == -EINTR && event.rb->aux.maps == 1 &&
		      all_mapped(2048), "mapped: a fatal signal ends a second mapping, %d", after);
	}
	point(!map(&more, &event, 8, 2048, VM_SHARED) && entries_mapped() == 4096,
	      "mapped: which is possible again");
	unmap(&more);
	unmap(&area);
	unmap(&data);
	point(world_clean(), "mapped: nothing is left of signals");
}

void test_area(unsigned long steps)
{
	test_refusals();
	test_places();
	test_modes();
	test_counts();
	test_stop();
	test_elsewhere();
	test_kept();
	test_mapped();
}
