// SPDX-License-Identifier: GPL-2.0-only
/* In the place of aux_util.c: an AUX area that nothing is ever written to. */
#include "aux_util.h"

static struct perf_event_mmap_page user_page;

void aux_use(const char *pmu)
{
}

size_t aux_page_size(void)
{
	return 4096;
}

void aux_set_action(struct perf_event_attr *attr, __u32 action)
{
}

int aux_open_in_group(struct perf_event_attr *attr, pid_t pid, int cpu, int leader)
{
	return -1;
}

int aux_open_mapped(struct aux_event *event, struct perf_event_attr *attr, pid_t pid, int cpu,
		    unsigned int data_pages)
{
	event->page = &user_page;
	return 0;
}

int aux_map_area(struct aux_event *event, size_t len, int prot)
{
	return 0;
}

void aux_close(struct aux_event *event)
{
}

int aux_enable(struct aux_event *event)
{
	return 0;
}

int aux_disable(struct aux_event *event)
{
	return 0;
}

__u64 aux_head(struct aux_event *event)
{
	return 0;
}

void aux_set_tail(struct aux_event *event, __u64 tail)
{
}

void aux_work(unsigned int rounds)
{
}

int aux_pin(pid_t pid, int cpu)
{
	return 0;
}
