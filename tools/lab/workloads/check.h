/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.h - the workloads verify their own results: a wrong trace must not hide a wrong run. */
#ifndef WORKLOAD_CHECK_H
#define WORKLOAD_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(cond)							\
	do {								\
		if (!(cond)) {						\
			fprintf(stderr, "%s:%d: failed: %s\n",		\
				__FILE__, __LINE__, #cond);		\
			exit(1);					\
		}							\
	} while (0)

#define NOINLINE	__attribute__((noinline, noclone))

/* The first argument multiplies the work; 1 without it. */
static inline unsigned long workload_scale(int argc, char **argv)
{
	char *end;
	unsigned long scale;

	if (argc < 2)
		return 1;
	scale = strtoul(argv[1], &end, 10);
	if (!*argv[1] || *end || !scale) {
		fprintf(stderr, "usage: %s [SCALE]\n", argv[0]);
		exit(1);
	}
	return scale;
}

#endif
