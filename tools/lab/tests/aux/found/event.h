/* SPDX-License-Identifier: GPL-2.0-only */
/* Events and their buffers, for programs that show what the fuzzer found. */
#include <err.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* attr.aux_action, which older headers do not have, is behind aux_sample_size. */
#define AUX_PAUSE	2
#define ACTION_AT	(offsetof(struct perf_event_attr, aux_sample_size) + sizeof(__u32))

static inline void set_action(struct perf_event_attr *attr, __u32 action)
{
	memcpy((char *)attr + ACTION_AT, &action, sizeof(action));
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

static inline int open_event_on(struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	attr->size = sizeof(*attr);
	return syscall(SYS_perf_event_open, attr, pid, cpu, group, 0);
}

/* An event of this task. */
static inline int open_event(struct perf_event_attr *attr, int group)
{
	return open_event_on(attr, 0, -1, group);
}

/* A trace by intel_pt, of user space. */
static inline struct perf_event_attr trace_attr(void)
{
	return (struct perf_event_attr) { .exclude_kernel = 1, .type = pmu_type("intel_pt") };
}

/* Cycles in user space, of which each 10,000th makes a sample. */
static inline struct perf_event_attr cycles_attr(void)
{
	return (struct perf_event_attr) {
		.exclude_kernel = 1, .sample_period = 10000,
		.config = PERF_COUNT_HW_CPU_CYCLES, .type = PERF_TYPE_HARDWARE,
	};
}

static inline void work(void)
{
	for (volatile unsigned int rounds = 0; rounds < 1000000; rounds++)
		continue;
}

#define NOBODY	65534

/* Another user, who may lock as much memory as there is. */
static inline void become_nobody(void)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };

	limit.rlim_max = limit.rlim_cur;
	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setuid(NOBODY))
		err(2, "user");
}

#define DATA_PAGES	16

/* The data buffer of an event, and its AUX area of so many pages. */
static inline struct perf_event_mmap_page *map(int event, size_t pages, int prot)
{
	size_t page = sysconf(_SC_PAGESIZE), len = (1 + DATA_PAGES) * page;
	struct perf_event_mmap_page *user = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED,
						 event, 0);

	if (user == MAP_FAILED)
		err(2, "data buffer");
	if (!pages)
		return user;
	user->aux_offset = len;
	user->aux_size = pages * page;
	if (mmap(NULL, pages * page, prot, MAP_SHARED, event, len) == MAP_FAILED)
		err(2, "AUX area");
	return user;
}
