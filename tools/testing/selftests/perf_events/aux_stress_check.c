// SPDX-License-Identifier: GPL-2.0-only
/* The stress of AUX areas: counters that have to be at the end what they were. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_stress.h"
#include "aux_util.h"

#define MAX_ORDER	10
#define TRIES		40
#define STEP_USEC	50000
#define COUNTED_ROUNDS	1000

static const uid_t users[] = { 0, 65534, 65533 };

/* A user without privileges and without a limit of its own, root too. */
static void become(uid_t uid)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { };
	struct rlimit limit = { };

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setresuid(uid, uid, uid) ||
	    syscall(SYS_capset, &header, none))
		_exit(1);
}

/* Pages that can be mapped until the kernel refuses even one. */
static long map_until_refused(void)
{
	size_t page = aux_page_size();
	long pages = 0;

	for (int order = MAX_ORDER; order >= -1;) {
		struct perf_event_attr attr = {
			.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_DUMMY, .exclude_kernel = 1,
		};
		long want = order < 0 ? 1 : 1 + (1L << order);
		int fd = aux_open(&attr, 0, -1);

		if (fd < 0)
			return -1;
		if (mmap(NULL, want * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) !=
		    MAP_FAILED)
			pages += want;
		else if (errno == EPERM)
			order--;
		else
			return -1;
	}
	return pages;
}

static long long allowance_as(uid_t uid)
{
	become(uid);
	return map_until_refused();
}

/* KiB of free pages that CPUs keep at hand, which MemFree does not count. */
static long kept_by_cpus(void)
{
	FILE *file = fopen("/proc/zoneinfo", "r");
	long pages = 0, count;
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, " count: %ld", &count) == 1)
			pages += count;
	}
	if (file)
		fclose(file);
	return pages * (long)(aux_page_size() / 1024);
}

/* Pages of buffers are no file's, no slab's and no process's. */
static long unexplained_memory(void)
{
	static const char * const explained[] = {
		"MemFree:", "Buffers:", "Cached:", "SwapCached:", "AnonPages:", "Slab:",
		"KernelStack:", "PageTables:", "VmallocUsed:", "Percpu:", NULL
	};
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128], key[64];
	long value, rest = -kept_by_cpus();

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %ld", key, &value) != 2)
			continue;
		if (!strcmp(key, "MemTotal:"))
			rest += value;
		for (int i = 0; explained[i]; i++)
			rest -= strcmp(key, explained[i]) ? 0 : value;
	}
	if (file)
		fclose(file);
	return rest;
}

/* Sum over all CPUs of x86's line NMI; on other processors that name means something else. */
static long nmis(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	char *line = NULL, *at, *end;
	size_t room = 0;
	long sum = -1;

	while (file && getline(&line, &room, file) > 0) {
		at = strstr(line, "NMI:");
		if (!at || !strstr(line, "Non-maskable interrupts"))
			continue;
		sum = 0;
		for (at += strlen("NMI:"); ; at = end) {
			long count = strtol(at, &end, 10);

			if (end == at)
				break;
			sum += count;
		}
	}
	free(line);
	if (file)
		fclose(file);
	return sum;
}

/* What waits to be freed is, and what only may be kept goes. */
static void settle(void)
{
	FILE *file;

	sync();
	sleep(1);
	file = fopen("/proc/sys/vm/drop_caches", "w");
	if (file) {
		fputs("3\n", file);
		fclose(file);
	}
}

/*
 * By default what may wait for memory does not fail, and each failure is a message. Few
 * pages are to wait in lists of CPUs, for they count as used.
 */
static const struct {
	const char *path, *value;
} failure_settings[] = {
	{ "/sys/kernel/debug/failslab/ignore-gfp-wait", "N" },
	{ "/sys/kernel/debug/failslab/verbose", "0" },
	{ "/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N" },
	{ "/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N" },
	{ "/sys/kernel/debug/fail_page_alloc/min-order", "0" },
	{ "/sys/kernel/debug/fail_page_alloc/verbose", "0" },
	{ "/sys/kernel/debug/fail_usercopy/verbose", "0" },
	{ "/proc/sys/vm/percpu_pagelist_high_fraction", "100000" },
};

const char *stress_let_fail(void)
{
	const char *missing = NULL;

	for (size_t i = 0; i < STRESS_COUNT(failure_settings); i++) {
		if (aux_write_file(failure_settings[i].path, failure_settings[i].value))
			missing = missing ?: failure_settings[i].path;
	}
	return missing;
}

void stress_allowance(struct stress_state *state)
{
	for (int i = 0; i < 3; i++)
		state->allowance[i] = aux_ask_child(allowance_as, users[i]);
}

void stress_look(struct stress_state *state)
{
	settle();
	state->unexplained = unexplained_memory();
	state->nmis = nmis();
	state->pinned = aux_status(getpid(), "VmPin");
	stress_allowance(state);
}

static int open_files_of(const char *pid)
{
	char path[300], target[64] = "";
	struct dirent *entry;
	int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[len < 0 ? 0 : len] = 0;
		count += !strcmp(target, "anon_inode:[perf_event]");
	}
	closedir(dir);
	return count;
}

/* Events that any process of this machine has open. */
int stress_open_files(void)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	int count = 0;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			count += open_files_of(entry->d_name);
	}
	if (dir)
		closedir(dir);
	return count;
}

static bool can_open(pid_t pid, int cpu)
{
	struct perf_event_attr attr;
	int fd;

	aux_attr(&attr);
	for (int i = 0; i < TRIES; i++) {
		fd = aux_open(&attr, pid, cpu);
		if (fd >= 0) {
			close(fd);
			return true;
		}
		/* Events are freed a little later. */
		usleep(STEP_USEC);
	}
	printf("an event of task %d on CPU %d: %s\n", pid, cpu, strerrorname_np(errno));
	return false;
}

static bool cpu_counts(const struct perf_event_attr *cycles, int cpu)
{
	struct perf_event_attr attr = *cycles;
	__u64 count = 0;
	int fd;

	attr.sample_period = 0;
	attr.sample_type = 0;
	fd = aux_open(&attr, -1, cpu);
	/* A CPU that is off has no events. */
	if (fd < 0 && errno != ENODEV)
		printf("an event of CPU %d: %s\n", cpu, strerrorname_np(errno));
	if (fd < 0)
		return errno == ENODEV;
	for (int i = 0; i < TRIES && !count; i++) {
		/* Other events may have the counters for a while. */
		if (i)
			usleep(STEP_USEC);
		aux_work(COUNTED_ROUNDS);
		if (read(fd, &count, sizeof(count)) != sizeof(count))
			break;
	}
	close(fd);
	return count;
}

bool stress_cpus_count(const struct perf_event_attr *cycles)
{
	bool all = true;
	cpu_set_t was;

	sched_getaffinity(0, sizeof(was), &was);
	for (int cpu = 0; cpu < STRESS_CPUS; cpu++) {
		if (aux_pin(0, cpu) || cpu_counts(cycles, cpu))
			continue;
		printf("an event of CPU %d does not count\n", cpu);
		all = false;
	}
	sched_setaffinity(0, sizeof(was), &was);
	return all;
}

/* A CPU's event is refused while there is one of a task anywhere, and the other way round. */
bool stress_pmu_is_free(void)
{
	return can_open(-1, 0) && can_open(0, -1) && can_open(-1, 0);
}
