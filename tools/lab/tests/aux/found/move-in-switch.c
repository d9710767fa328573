// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event of the hardware joins a group that software leads and that has an AUX event, so the group
 * moves, while its task is switched out and in again all the time. If the leader leaves first, a
 * switch does not schedule the AUX event out, and it is removed on another CPU than its own.
 *
 * Since: b04243ef7006 ("perf: Complete software pmu grouping")
 * Fixed by: fix-group-move
 * Says: perf_mmap_close
 */
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>

#include "event.h"

#define SECONDS		8
#define AREA_PAGES	16

static void run_on(unsigned int cpu)
{
	unsigned long mask = 1UL << cpu;

	if (syscall(SYS_sched_setaffinity, 0, sizeof(mask), &mask) < 0)
		err(2, "CPU %u", cpu);
}

/* A task on CPU 1 that passes a byte on; one of them makes it. */
static pid_t passing(int from, int to, bool makes)
{
	pid_t pid = fork();
	char byte = 0;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(1);
	while ((makes || read(from, &byte, 1) == 1) && write(to, &byte, 1) == 1)
		makes = false;
	_exit(1);
}

/* One of two tasks that wait for each other */
static pid_t switching(void)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		err(2, "pipe");
	passing(there[0], back[1], false);
	return passing(back[0], there[1], true);
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
