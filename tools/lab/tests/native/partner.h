/* SPDX-License-Identifier: GPL-2.0-only */
/* A second task, so that the caller sleeps and wakes: each call is a switch out and in. */
#ifndef PARTNER_H
#define PARTNER_H

#include <sys/types.h>

struct partner {
	pid_t pid;
	/* ends of pipes */
	int to, from;
};

/* Fork it, on the CPUs that the caller has; where that fails, the program ends. */
void partner_start(struct partner *partner);
/* Give it a byte and sleep until it has given it back. */
void partner_call(struct partner *partner);
void partner_end(struct partner *partner);

#endif
