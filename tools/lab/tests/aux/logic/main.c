// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the tests of the AUX core's logic and prints TAP.
 *
 *   logic [STEPS [SEED]]
 *
 * STEPS is how many steps each random test takes; SEED is another sequence of
 * random numbers than the usual one.
 */
#include <stdio.h>

#include "check.h"

#define DEFAULT_STEPS	20000
#define DEFAULT_SEED	1
#define USAGE		"logic [STEPS [SEED]]"

int map(struct mapping *m, struct perf_event *event, unsigned long pgoff, unsigned long pages,
	unsigned long flags)
{
	*m = (struct mapping){
		.file = { .private_data = event, .f_mapping = m },
		.vma = {
			.vm_start = 0x10000000, .vm_pgoff = pgoff, .vm_flags = flags,
			.vm_end = 0x10000000 + pages * PAGE_SIZE, .vm_mm = world.task.mm,
		},
	};
	m->vma.vm_file = &m->file;
	return perf_mmap(&m->file, &m->vma);
}

void unmap(struct mapping *m)
{
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

int main(int argc, char **argv)
{
	u64 steps = argc > 1 ? number(argv[1], USAGE) : DEFAULT_STEPS;

	setvbuf(stdout, NULL, _IOLBF, 0);
	random_begin(argc > 2 ? number(argv[2], USAGE) : DEFAULT_SEED);
	test_mlock(steps);
	test_pages(steps);
	test_mmap(steps);
	test_area(steps);
	test_output(steps);
	test_sample(steps);
	return end_points();
}
