/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of the lab's init call of each other.
 */
#ifndef LAB_GUEST_H
#define LAB_GUEST_H

#include <stddef.h>
#include <sys/types.h>

#define SPEC_MAX	1024

/**
 * struct spec - what to run, as the host wrote it
 * @cwd:	working directory of the command
 * @argv:	the command, NULL terminated
 * @envp:	its whole environment, NULL terminated
 * @share:	directories to mount read-write, at the same path as on the host
 * @tag:	the 9p mount tag of each share
 * @nr_shares:	their number
 * @coverage:	where the kernel's counters of its own code go, one of @share; or NULL
 * @uid:	user of the command; with @gid and @groups
 * @gid:	group of the command
 * @groups:	supplementary groups
 * @nr_groups:	their number
 * @tty:	connect the command to a terminal rather than to pipes
 * @rows:	size of that terminal
 * @cols:	size of that terminal
 */
struct spec {
	const char	*cwd;
	char		*argv[SPEC_MAX];
	char		*envp[SPEC_MAX];
	const char	*share[8];
	const char	*tag[8];
	int		nr_shares;
	const char	*coverage;
	uid_t		uid;
	gid_t		gid;
	gid_t		groups[64];
	int		nr_groups;
	int		tty;
	int		rows;
	int		cols;
};

/**
 * struct job - the running command
 * @pid:	its process
 * @in:		pipe to its standard input, -1 when it has none or was closed
 * @out:	pipe from its standard output, -1 with a terminal
 * @err:	pipe from its standard error, -1 with a terminal
 * @tty:	the terminal, -1 without
 */
struct job {
	pid_t	pid;
	int	in;
	int	out;
	int	err;
	int	tty;
};

/* report.c */
int write_all(int fd, const void *data, size_t len);
/* Where the lines of report() go; until then they go nowhere. */
void report_to(int fd);
void report(const char *line);
void fatal(const char *what) __attribute__((noreturn));
void power_off(void) __attribute__((noreturn));

/* spec.c */
int spec_read(struct spec *spec, const char *path);

/* mounts.c */
void mount_early(void);
void mount_root(const struct spec *spec);
void unmount_shares(const struct spec *spec);
void tune_guest(void);

/* coverage.c */
void keep_coverage(const struct spec *spec);

/* job.c */
void job_start(struct job *job, const struct spec *spec);
void tty_resize(int tty, int rows, int cols);

/* relay.c */
int open_port(const char *name);
int relay(struct job *job, int control_fd);

#endif
