// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event of the hardware joins a group that software leads and that has an AUX event, so the group
 * moves, while its task is switched out and in again all the time. If the leader leaves first, a
 * switch does not schedule the AUX event out, and it is removed on another CPU than its own.
 *
 * Since: b04243ef7006 ("perf: Complete software pmu grouping")
 * Mended by: fix-group-move
 * Says: perf_mmap_close
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>

#include "event.h"

#define SECONDS		8
#define AREA_PAGES	16

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(2, "CPU %d", cpu);
}

/* Two tasks on CPU 1, of which one waits for the other; the first of them is returned. */
static pid_t switching(void)
{
	int there[2], back[2];
	pid_t pid[2];
	char byte = 0;

	if (pipe(there) || pipe(back))
		err(2, "pipe");
	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_on(1);
		for (;;)
			if (i ? read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1 :
				write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
				_exit(1);
	}
	return pid[0];
}

static void move_a_group_of(pid_t pid)
{
	struct perf_event_attr dummy = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .disabled = 1,
	};
	struct perf_event_attr trace = trace_attr(), cycles = cycles_attr();
	size_t page = sysconf(_SC_PAGESIZE);
	int leader = open_event_on(&dummy, pid, -1, -1), counter;
	int traced = open_event_on(&trace, pid, -1, leader);
	struct perf_event_mmap_page *user = map(traced, 0, 0);
	void *area;

	user->aux_offset = (1 + DATA_PAGES) * page;
	user->aux_size = AREA_PAGES * page;
	area = mmap(NULL, user->aux_size, PROT_READ, MAP_SHARED, traced, user->aux_offset);
	if (area == MAP_FAILED || ioctl(leader, PERF_EVENT_IOC_ENABLE, 0))
		err(2, "group");
	counter = open_event_on(&cycles, pid, -1, leader);
	if (counter < 0)
		err(2, "counter");
	munmap(area, AREA_PAGES * page);
	munmap(user, (1 + DATA_PAGES) * page);
	close(counter);
	close(traced);
	close(leader);
}

int main(void)
{
	pid_t pid = switching();
	time_t end = time(NULL) + SECONDS;

	run_on(0);
	while (time(NULL) < end)
		move_a_group_of(pid);
	return 0;
}
