// SPDX-License-Identifier: GPL-2.0-only
#include "check.h"
#include "kunit.h"

static void zap(struct mapping *m)
{
	zap_special_vma_range(&m->vma, m->vma.vm_start, m->vma.vm_end - m->vma.vm_start);
}

int map(struct mapping *m, struct perf_event *event, unsigned long pgoff, unsigned long pages,
	unsigned long flags)
{
	int ret;

	*m = (struct mapping){
		.file = { .private_data = event, .f_mapping = m },
		.vma = {
			.vm_start = 0x10000000, .vm_pgoff = pgoff, .vm_flags = flags,
			.vm_end = 0x10000000 + pages * PAGE_SIZE, .vm_mm = world.task.mm,
		},
	};
	m->vma.vm_file = &m->file;
	ret = perf_mmap(&m->file, &m->vma);
	if (ret)
		zap(m);
	return ret;
}

void unmap(struct mapping *m)
{
	zap(m);
	m->vma.vm_ops->close(&m->vma);
	/* An area whose transaction has ended meanwhile is freed by its worker. */
	run_works();
}

int map_both(struct mapping *data, struct mapping *area, struct perf_event *event,
	     unsigned long area_pages, unsigned long flags)
{
	int ret = map(data, event, 0, 5, VM_SHARED | VM_WRITE);

	if (ret)
		return ret;
	event->rb->user_page->aux_offset = 8 * PAGE_SIZE;
	event->rb->user_page->aux_size = area_pages * PAGE_SIZE;
	return map(area, event, 8, area_pages, VM_SHARED | flags);
}

void run_tests(u64 steps)
{
	kunit_run("perf_", "");
	test_mlock(steps);
	test_pages(steps);
	test_mmap(steps);
	test_area(steps);
	test_output(steps);
	test_sample(steps);
}
