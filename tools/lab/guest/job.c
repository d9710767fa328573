// SPDX-License-Identifier: GPL-2.0-only
/*
 * Start of the command: its files, user, directory and environment.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "guest.h"

/* As a shell has it: found but not executable, and not found. */
#define EXIT_CANNOT_RUN	126
#define EXIT_NOT_FOUND	127

#define TTY_TRIES	1000
#define TTY_WAIT_US	10000

void tty_resize(int tty, int rows, int cols)
{
	struct winsize size = { .ws_row = rows, .ws_col = cols };

	ioctl(tty, TIOCSWINSZ, &size);
}

static void become_user(const struct spec *spec)
{
	if (setgroups(spec->nr_groups, spec->groups) ||
	    setgid(spec->gid) || setuid(spec->uid)) {
		perror("lab-init: cannot change user");
		_exit(EXIT_CANNOT_RUN);
	}
}

static void run_command(const struct spec *spec)
{
	signal(SIGPIPE, SIG_DFL);
	if (chdir(spec->cwd)) {
		fprintf(stderr, "lab-init: no directory %s in the guest\n", spec->cwd);
		_exit(EXIT_CANNOT_RUN);
	}
	become_user(spec);
	execvpe(spec->argv[0], spec->argv, spec->envp);
	fprintf(stderr, "lab-init: cannot run %s: %s\n", spec->argv[0], strerror(errno));
	_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

static void child_with_tty(const struct spec *spec, int tty)
{
	setsid();
	ioctl(tty, TIOCSCTTY, 0);
	dup2(tty, STDIN_FILENO);
	dup2(tty, STDOUT_FILENO);
	dup2(tty, STDERR_FILENO);
	if (fchown(tty, spec->uid, spec->gid))
		perror("lab-init: terminal");
	run_command(spec);
}

/*
 * Pipes stand between the command and the ports, because a port cannot be
 * opened twice and "echo > /dev/stderr" is common.
 */
static void child_with_pipes(const struct spec *spec, int fds[3])
{
	int i;

	setsid();
	for (i = 0; i < 3; i++) {
		if (fchown(fds[i], spec->uid, spec->gid) || dup2(fds[i], i) < 0) {
			perror("lab-init: pipes");
			_exit(EXIT_CANNOT_RUN);
		}
	}
	run_command(spec);
}

static void start_with_tty(struct job *job, const struct spec *spec)
{
	/* Announced by the device like any port, some time after boot. */
	for (int i = 0; job->tty < 0 && i < TTY_TRIES; i++) {
		job->tty = open("/dev/hvc0", O_RDWR | O_NOCTTY | O_CLOEXEC);
		if (job->tty < 0)
			usleep(TTY_WAIT_US);
	}
	if (job->tty < 0)
		fatal("terminal");
	tty_resize(job->tty, spec->rows, spec->cols);
	job->pid = fork();
	if (!job->pid)
		child_with_tty(spec, job->tty);
}

static void start_with_pipes(struct job *job, const struct spec *spec)
{
	int in[2], out[2], err[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		fatal("pipes");
	job->pid = fork();
	if (!job->pid)
		child_with_pipes(spec, (int[]){ in[0], out[1], err[1] });
	close(in[0]);
	close(out[1]);
	close(err[1]);
	job->in = in[1];
	job->out = out[0];
	job->err = err[0];
}

void job_start(struct job *job, const struct spec *spec)
{
	const char *path = "/usr/sbin:/usr/bin:/sbin:/bin";
	int i;

	*job = (struct job){ .in = -1, .out = -1, .err = -1, .tty = -1 };
	/* execvpe() searches the PATH of init, not the one that it passes on. */
	for (i = 0; spec->envp[i]; i++)
		if (!strncmp(spec->envp[i], "PATH=", 5))
			path = spec->envp[i] + 5;
	setenv("PATH", path, 1);

	if (spec->tty)
		start_with_tty(job, spec);
	else
		start_with_pipes(job, spec);
	if (job->pid < 0)
		fatal("fork");
}
