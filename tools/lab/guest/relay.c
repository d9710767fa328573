// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies the command's input and output between its pipes and the virtio
 * ports, until the command has ended and all that it wrote is out.
 *
 * Input arrives in frames, a 32-bit little-endian length and that many bytes;
 * length 0 is the end of input. A port has no end-of-file of its own that could
 * be told from a host that has not connected yet.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "guest.h"

#define CHUNK		65536
#define PORT_TRIES	1000
#define PORT_WAIT_US	10000

/**
 * struct input - standard input on its way
 * @port:	where frames come from
 * @left:	bytes of the current frame that have not been read
 * @data:	read, but not yet taken by the command
 * @pos:	first byte of @data that was not taken
 * @len:	end of @data
 */
struct input {
	int	 port;
	uint32_t left;
	char	 data[CHUNK];
	size_t	 pos;
	size_t	 len;
};

static struct input input;

/* Ports are numbered as the kernel finds them: look for the name. */
static int find_port(const char *name)
{
	DIR *dir = opendir("/sys/class/virtio-ports");
	char path[300], found[64];
	struct dirent *entry;
	int fd = -1;

	while (dir && fd < 0 && (entry = readdir(dir))) {
		FILE *file;

		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(found, sizeof(found), file)) {
			found[strcspn(found, "\n")] = '\0';
			snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
			if (!strcmp(found, name))
				fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
		}
		fclose(file);
	}
	if (dir)
		closedir(dir);
	return fd;
}

/* The device announces its ports one by one, while init already runs. */
int open_port(const char *name)
{
	int fd = find_port(name);

	for (int i = 0; fd < 0 && i < PORT_TRIES; i++) {
		usleep(PORT_WAIT_US);
		fd = find_port(name);
	}
	return fd;
}

static void close_input(struct job *job)
{
	if (job->in >= 0)
		close(job->in);
	job->in = -1;
}

/* The header of a frame is so small that it is read in one go. */
static void next_frame(struct job *job)
{
	uint32_t len;
	ssize_t n = read(input.port, &len, sizeof(len));

	if (n <= 0)
		return;
	if (n != sizeof(len) || !len)
		close_input(job);
	else
		input.left = len;
}

static void read_input(struct job *job)
{
	size_t want = input.left < CHUNK ? input.left : CHUNK;
	ssize_t n;

	if (!input.left) {
		next_frame(job);
		return;
	}
	n = read(input.port, input.data, want);
	if (n <= 0)
		return;
	input.left -= n;
	input.pos = 0;
	input.len = n;
}

static void write_input(struct job *job)
{
	ssize_t n = write(job->in, input.data + input.pos, input.len - input.pos);

	if (n > 0)
		input.pos += n;
	else if (errno == EPIPE)
		close_input(job);
}

/* One read and its write; false at the end of the pipe or when it is empty. */
static int copy_output(int *from, int to)
{
	static char data[CHUNK];
	ssize_t n = read(*from, data, sizeof(data));

	if (n > 0) {
		write_all(to, data, n);
		return 1;
	}
	if (n == 0) {
		close(*from);
		*from = -1;
	}
	return 0;
}

static void read_control(const struct job *job, int control)
{
	char line[64];
	int rows, cols;
	ssize_t n = read(control, line, sizeof(line) - 1);

	if (n <= 0)
		return;
	line[n] = '\0';
	if (sscanf(line, "winsize %d %d", &rows, &cols) == 2)
		tty_resize(job->tty, rows, cols);
}

/* True once the command is gone; other children are orphans and reaped. */
static int reap(const struct job *job, int sigfd, int *status)
{
	struct signalfd_siginfo info;
	int one, ended = 0;
	pid_t pid;

	if (read(sigfd, &info, sizeof(info)) < 0)
		return 0;
	while ((pid = waitpid(-1, &one, WNOHANG)) > 0) {
		if (pid == job->pid) {
			*status = one;
			ended = 1;
		}
	}
	return ended;
}

static int child_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void drain(int *from, int to)
{
	if (*from < 0)
		return;
	fcntl(*from, F_SETFL, O_NONBLOCK);
	while (*from >= 0 && copy_output(from, to))
		;
}

static void open_ports(const struct job *job, int *out, int *err)
{
	if (job->tty >= 0)
		return;
	*out = open_port("lab.out");
	*err = open_port("lab.err");
	input.port = open_port("lab.in");
	if (*out < 0 || *err < 0 || input.port < 0)
		fatal("ports");
	fcntl(job->in, F_SETFL, O_NONBLOCK);
}

int relay(struct job *job, int control)
{
	int sigfd = child_signals(), status = 0, ended = 0, out = -1, err = -1;

	open_ports(job, &out, &err);
	/* The command may have ended before SIGCHLD was blocked. */
	raise(SIGCHLD);
	while (!ended) {
		int pending = input.pos < input.len;
		struct pollfd fds[] = {
			{ .fd = sigfd, .events = POLLIN },
			{ .fd = job->out, .events = POLLIN },
			{ .fd = job->err, .events = POLLIN },
			{ .fd = job->in >= 0 && !pending ? input.port : -1, .events = POLLIN },
			{ .fd = pending ? job->in : -1, .events = POLLOUT },
			{ .fd = job->tty >= 0 ? control : -1, .events = POLLIN },
		};

		poll(fds, sizeof(fds) / sizeof(fds[0]), -1);
		if (fds[1].revents)
			copy_output(&job->out, out);
		if (fds[2].revents)
			copy_output(&job->err, err);
		if (fds[3].revents & POLLIN)
			read_input(job);
		if (fds[4].revents)
			write_input(job);
		if (fds[5].revents & POLLIN)
			read_control(job, control);
		if (fds[0].revents)
			ended = reap(job, sigfd, &status);
	}
	if (job->tty >= 0)
		tcdrain(job->tty);
	drain(&job->out, out);
	drain(&job->err, err);
	return status;
}
