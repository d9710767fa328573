/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of this task, for programs that show what the fuzzer found. */
#include <err.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* attr.aux_action, which older headers do not have, is behind aux_sample_size. */
#define AUX_PAUSE	2

static inline void set_action(struct perf_event_attr *attr, __u32 action)
{
	(&attr->aux_sample_size)[1] = action;
}

static inline int pmu_type(const char *name)
{
	char path[100];
	FILE *file;
	int type;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%d", &type) != 1)
		err(2, "%s", path);
	fclose(file);
	return type;
}

static inline int open_event(struct perf_event_attr *attr, int group)
{
	attr->size = sizeof(*attr);
	return syscall(SYS_perf_event_open, attr, 0, -1, group, 0);
}

#define DATA_PAGES	16

/* The data buffer of an event, and its AUX area of so many pages. */
static inline void map(int event, size_t pages, int prot)
{
	size_t page = sysconf(_SC_PAGESIZE), len = (1 + DATA_PAGES) * page;
	struct perf_event_mmap_page *user = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED,
						 event, 0);

	if (user == MAP_FAILED)
		err(2, "data buffer");
	if (!pages)
		return;
	user->aux_offset = len;
	user->aux_size = pages * page;
	if (mmap(NULL, pages * page, prot, MAP_SHARED, event, len) == MAP_FAILED)
		err(2, "AUX area");
}
