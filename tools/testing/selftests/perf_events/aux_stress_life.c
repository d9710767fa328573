// SPDX-License-Identifier: GPL-2.0-only
/* The stress of AUX areas: processes that map, end and execute while they are traced. */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_stress.h"
#include "aux_util.h"

#define NOBODY		65534
#define WORK_ROUNDS	20000
#define DATA_PAGES	2
#define AREA		(64UL * 1024)

/* Waits for a child; what it returns is the errno that it met. */
static int errno_of(pid_t pid)
{
	int status;

	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) ? -WEXITSTATUS(status) : 0;
}

static void become_nobody(void)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	if (setrlimit(RLIMIT_MEMLOCK, &all) || setgroups(0, NULL) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		_exit(errno);
}

/* A child maps an event of its parent, perhaps as another user; the child's exit unmaps it. */
static int map_of_parent(struct stress_slot *slot, bool nobody)
{
	unsigned long pages = slot->maps[0] & PAGES_MASK;
	struct aux_event event = { .fd = slot->fd };
	int ret;

	if (nobody)
		become_nobody();
	ret = aux_map_data(&event, pages ? pages - 1 : DATA_PAGES);
	if (ret)
		return -ret;
	ret = aux_map_area(&event, event.page->aux_size ?: AREA, PROT_READ | PROT_WRITE);
	if (ret)
		return -ret;
	aux_peek(event.area);
	return 0;
}

int stress_fork_and_map(struct stress_actor *a)
{
	struct stress_slot *slot = &a->slots[stress_random(a, STRESS_SLOTS)];
	bool nobody = !geteuid() && stress_random(a, 2);
	pid_t pid = fork();

	if (!pid)
		_exit(map_of_parent(slot, nobody));
	return errno_of(pid);
}

/* The calling process is traced from now on, or from the next exec. */
static int trace_oneself(bool exec, bool inherit, int cpu, bool overwrite)
{
	struct aux_event event = { };
	struct perf_event_attr attr;
	int ret;

	aux_attr(&attr);
	attr.disabled = exec;
	attr.enable_on_exec = exec;
	attr.inherit = inherit;
	event.fd = aux_open(&attr, 0, inherit ? cpu : -1);
	if (event.fd < 0)
		return -errno;
	ret = aux_map_data(&event, DATA_PAGES);
	return ret ?: aux_map_area(&event, AREA,
				   overwrite ? PROT_READ : PROT_READ | PROT_WRITE);
}

/* A child that is traced, and a grandchild that is if tracing is inherited. */
static pid_t traced_child(struct stress_actor *a, unsigned int rounds)
{
	bool inherit = stress_random(a, 2), overwrite = stress_random(a, 2);
	int cpu = stress_random(a, STRESS_CPUS), ret;
	pid_t pid;

	/* Nobody waits for the grandchild, which has copies of all files. */
	if (inherit)
		a->astray = true;
	pid = fork();
	if (pid)
		return pid;
	ret = trace_oneself(false, inherit, cpu, overwrite);
	if (ret)
		_exit(-ret);
	if (inherit && !fork()) {
		aux_work(WORK_ROUNDS);
		_exit(0);
	}
	aux_work(rounds);
	_exit(0);
}

int stress_exit_traced(struct stress_actor *a)
{
	return errno_of(traced_child(a, stress_random(a, WORK_ROUNDS)));
}

/* Somewhere on its way. */
int stress_kill_traced(struct stress_actor *a)
{
	pid_t pid = traced_child(a, WORK_ROUNDS * 100);

	if (pid > 0) {
		usleep(stress_random(a, 30000));
		kill(pid, SIGKILL);
	}
	return errno_of(pid);
}

int stress_exec_traced(struct stress_actor *a)
{
	bool overwrite = stress_random(a, 2);
	pid_t pid = fork();
	int ret;

	if (pid)
		return errno_of(pid);
	ret = trace_oneself(true, false, -1, overwrite);
	if (ret)
		_exit(-ret);
	execl("/proc/self/exe", "aux_stress", "--executed", NULL);
	_exit(errno);
}

void stress_executed(void)
{
	aux_work(WORK_ROUNDS);
}
