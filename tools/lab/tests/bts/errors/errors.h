/* SPDX-License-Identifier: GPL-2.0-only */
/* What is refused of Branch Trace Store, a case for each way to meet an errno. */
#ifndef BTS_ERRORS_H
#define BTS_ERRORS_H

#include <stddef.h>
#include <sys/types.h>

#include "../../pt/company/company.h"

#define OPEN		"perf_event_open"
#define MMAP		"mmap"
#define IOCTL		"ioctl"

#define ANYWHERE	(-1)
#define EVERYBODY	(-1)

/*
 * @call: the system call that fails
 * @when: on what condition, in the words of Documentation/admin-guide/perf/intel-bts.rst
 * @what: what is done
 * @meet: does it; 0 if it is not refused, -errno, or BROKEN if it could not be tried
 * @paranoid: if there is one, an ordinary user does it, with this perf_event_paranoid
 * @enough: with this one it is allowed, if there is one
 *
 * Instead of @meet:
 *
 * @with_event: the same, with an event whose area can be mapped
 * @beside: opens an event, and then the one that is refused; alone, it is not
 */
struct refusal {
	const char *call, *when, *what;
	int (*meet)(void);
	const char *paranoid, *enough;
	int (*with_event)(struct aux_event *event);
	int (*beside[2])(void);
};

/* No errno */
#define BROKEN		4096

/* The cases of each file; the last one's call is NULL. */
extern const struct refusal missing[];		/* open.c: there is no PMU */
extern const struct refusal by_privilege[];	/* open.c */
extern const struct refusal by_attr[];		/* open.c */
extern const struct refusal by_level[];		/* open.c: there is no DS-CPL */
extern const struct refusal by_cpu[];		/* cpus.c */
extern const struct refusal by_trace[];		/* beside.c */
extern const struct refusal by_others[];	/* beside.c: whatever the processor */
extern const struct refusal by_pt[];		/* beside.c: PT excludes BTS */
extern const struct refusal by_area[];		/* area.c */
extern const struct refusal by_memory[];	/* area.c: larger areas than there is memory for */

/* An event of BTS; a file descriptor, or -errno. */
int open_trace(struct perf_event_attr *attr, pid_t pid, int cpu);
/* The file descriptor is closed; 0 or -errno. */
int close_trace(int fd);
/* What perf_event_open(2) says of such an event, on this thread, anywhere. */
int try_open(struct perf_event_attr *attr);
/* ... of one with default attributes, on a CPU. */
int try_cpu(pid_t pid, int cpu);

/* A file of the kernel's; BROKEN if that cannot be. */
int write_file(const char *path, const char *text);

/* What the two other kinds of cases meet. */
int meet_with_event(int (*attempt)(struct aux_event *event));	/* area.c */
int meet_beside(int (*first)(void), int (*second)(void));	/* beside.c */

/* What a child that is an ordinary user meets; @attempt returns as refusal::meet does. */
int as_nobody(const char *paranoid, int (*attempt)(void));

#endif
