/* SPDX-License-Identifier: GPL-2.0-only */
/* The user-space tests of the AUX core's logic. */
#ifndef CHECK_H
#define CHECK_H

#include "world.h"
#include "tests.h"

/* Each takes a number of random steps where it has any. */
void test_mlock(unsigned long steps);
void test_pages(unsigned long steps);
void test_output(unsigned long steps);
void test_sample(unsigned long steps);
void test_area(unsigned long steps);
void test_mmap(unsigned long steps);

/* memory.c */
void memory_begin(void);
/* How many arrays of pages there are. */
long arrays_used(void);
void unmap_all(void);
unsigned int entries_mapped(void);
struct page *page_at(const struct vm_area_struct *vma, unsigned long addr);

/* A mapping of an event's file, as mmap() would make it. */
struct mapping {
	struct file file;
	struct vm_area_struct vma;
};

/* The data buffer, or with an offset the AUX area, by perf_mmap(); its result. */
int map(struct mapping *m, struct perf_event *event, unsigned long pgoff, unsigned long pages,
	unsigned long flags);
void unmap(struct mapping *m);
/* Data buffer and area of an event; the user page says where the area is. */
int map_both(struct mapping *data, struct mapping *area, struct perf_event *event,
	     unsigned long area_pages, unsigned long flags);

#endif
