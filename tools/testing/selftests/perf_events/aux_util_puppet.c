// SPDX-License-Identifier: GPL-2.0-only
/* A child that is traced, and does one thing at a time, when the test tells it to. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_util_puppet.h"
#include "aux_util.h"

/* In the environment of a child that has executed this program again: its pipes, and the PMU */
#define MARK	"AUX_PUPPET"

const char *aux_puppet_file = "/proc/self/exe";

static void execute(int told, int say)
{
	char mark[64];

	snprintf(mark, sizeof(mark), "%d %d %s", told, say, aux_pmu_name());
	setenv(MARK, mark, 1);
	execl(aux_puppet_file, "aux_puppet", NULL);
	_exit(2);
}

static bool is_asleep(pid_t pid)
{
	char path[32], state = '?';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		_exit(3);
	fclose(file);
	return state == 'S';
}

/* The puppet goes on when its child has ended; the child, when the puppet does nothing any more. */
static void replace(void)
{
	pid_t puppet = getpid(), pid = fork();

	if (pid < 0 || (pid && waitpid(pid, NULL, 0) != pid))
		_exit(3);
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!is_asleep(puppet))
		sched_yield();
}

/* Without a test that could tell anything, it ends. */
static void obey(int told, int say)
{
	char what;

	while (read(told, &what, 1) == 1) {
		if (what == PUPPET_END)
			break;
		if (what == PUPPET_EXEC)
			execute(told, say);
		else if (what == PUPPET_FORK)
			replace();
		else
			aux_puppet_act(what);
		if (write(say, "", 1) != 1)
			break;
	}
	_exit(0);
}

__attribute__((constructor)) static void executed(void)
{
	const char *mark = getenv(MARK);
	int told, say;
	char pmu[32];

	if (!mark || sscanf(mark, "%d %d %31s", &told, &say, pmu) != 3)
		return;
	aux_use(pmu);
	if (write(say, "", 1) != 1)
		_exit(4);
	obey(told, say);
}

bool aux_puppet_start(struct aux_puppet *puppet)
{
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		return false;
	puppet->tell = to[1];
	puppet->hear = from[0];
	puppet->pid = fork();
	if (!puppet->pid) {
		close(puppet->tell);
		close(puppet->hear);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		obey(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	return puppet->pid > 0;
}

bool aux_puppet_do(struct aux_puppet *puppet, char what)
{
	char byte;

	return write(puppet->tell, &what, 1) == 1 && read(puppet->hear, &byte, 1) == 1;
}

void aux_puppet_end(struct aux_puppet *puppet)
{
	if (puppet->pid <= 0)
		return;
	aux_end_worker(puppet->pid);
	close(puppet->tell);
	close(puppet->hear);
}
