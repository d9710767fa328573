// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tracer that steps a task from branch to branch (PTRACE_SINGLEBLOCK) while the
 * task's branches are recorded: the kernel changes IA32_DEBUGCTL for both of them.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bts_company.h"

#define AREA		(1UL << 20)
#define DATA_PAGES	8
#define CALLS		100
#define MOST_STEPS	100000

static pid_t stopped_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		for (unsigned int i = 0; i < CALLS; i++)
			step_once();
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

/* How many steps there were until the child stops by itself; -1 where it does not. */
static int steps(pid_t pid, int request)
{
	int status;

	for (int i = 0; i < MOST_STEPS; i++) {
		if (ptrace(request, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid ||
		    !WIFSTOPPED(status))
			return -1;
		if (WSTOPSIG(status) == SIGSTOP)
			return i;
	}
	return -1;
}

static void test_steps(int request, const char *name, bool stepped)
{
	struct aux_event trace = { .fd = -1 };
	pid_t pid = stopped_child();
	unsigned int found = 0;
	int count = -1, ret;

	ret = aux_open_mapped(&trace, NULL, pid, -1, DATA_PAGES) ?:
	      aux_map_area(&trace, AREA, PROT_READ | PROT_WRITE) ?: aux_enable(&trace);
	if (!ret) {
		count = steps(pid, request);
		aux_disable(&trace);
		found = recorded_steps(&trace);
	}
	diag("%s, %d steps, %llu bytes", strerror(-ret), count, ret ? 0 : aux_head(&trace));
	point(!ret && (stepped ? count > CALLS : !count) && found == CALLS,
	      "%s: each of %u branches is recorded, %u found", name, CALLS, found);
	aux_close(&trace);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void test_block_step(void)
{
	test_steps(PTRACE_CONT, "a task that is not stepped", false);
	test_steps(PTRACE_SINGLEBLOCK, "a task that is stepped by branches", true);
	test_steps(PTRACE_SINGLESTEP, "a task that is stepped by instructions", true);
}
