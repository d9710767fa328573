// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ptstop.c - a debugger and its program: a plain loop that is stopped and continued many times
 * under ptrace, and sometimes single-stepped.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define STOPS	100
#define STEPS	20

static NOINLINE void plain_loop(void)
{
	volatile unsigned int sum = 0;

	for (;;)
		sum++;
}

static void wait_stop(pid_t pid, int sig)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == sig);
}

static void stop_and_go(pid_t pid)
{
	CHECK(!kill(pid, SIGSTOP));
	wait_stop(pid, SIGSTOP);
	CHECK(!ptrace(PTRACE_CONT, pid, 0, 0));
}

static void steps(pid_t pid)
{
	int i;

	CHECK(!kill(pid, SIGSTOP));
	wait_stop(pid, SIGSTOP);
	for (i = 0; i < STEPS; i++) {
		CHECK(!ptrace(PTRACE_SINGLESTEP, pid, 0, 0));
		wait_stop(pid, SIGTRAP);
	}
	CHECK(!ptrace(PTRACE_CONT, pid, 0, 0));
}

int main(int argc, char **argv)
{
	unsigned long scale = workload_scale(argc, argv), i;
	int status;
	pid_t pid;

	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK(!ptrace(PTRACE_TRACEME, 0, 0, 0));
		raise(SIGSTOP);
		plain_loop();
	}
	wait_stop(pid, SIGSTOP);
	CHECK(!ptrace(PTRACE_CONT, pid, 0, 0));
	for (i = 0; i < scale * STOPS; i++) {
		stop_and_go(pid);
		if (i % 25 == 24)
			steps(pid);
	}
	CHECK(!kill(pid, SIGKILL));
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	printf("ptstop ok\n");
	return 0;
}
