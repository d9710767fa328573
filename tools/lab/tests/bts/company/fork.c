// SPDX-License-Identifier: GPL-2.0-only
/* A task that root traces becomes another user, who may not trace the kernel, and forks. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bts_company.h"

#define NOBODY		65534
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

/* A child that becomes nobody, and then waits for a byte; its status is an errno. */
static pid_t forking_child(int go)
{
	pid_t pid = fork(), grandchild;
	char byte;

	if (pid)
		return pid;
	if (setresuid(NOBODY, NOBODY, NOBODY) || read(go, &byte, 1) != 1)
		_exit(errno ?: EIO);
	grandchild = fork();
	if (!grandchild)
		_exit(0);
	if (grandchild < 0)
		_exit(errno);
	waitpid(grandchild, NULL, 0);
	_exit(0);
}

void test_fork(void)
{
	FILE *paranoid = fopen(PARANOID, "w");
	struct perf_event_attr attr;
	int go[2], fd, status = -1;
	pid_t pid;

	if (!paranoid || fputs("2", paranoid) < 0 || fclose(paranoid) || pipe(go)) {
		point(false, "%s: %s", PARANOID, strerror(errno));
		return;
	}
	pid = forking_child(go[0]);
	aux_attr(&attr);
	attr.inherit = 1;
	fd = aux_open(&attr, pid, -1);
	if (write(go[1], "", 1) != 1)
		diag("%s", strerror(errno));
	waitpid(pid, &status, 0);
	if (fd < 0)
		diag("the event cannot be opened");
	if (!point(fd >= 0 && WIFEXITED(status) && !WEXITSTATUS(status),
		   "a task that is traced and has another user forks"))
		diag("%s", strerror(WEXITSTATUS(status)));
	close(fd);
	close(go[0]);
	close(go[1]);
}
