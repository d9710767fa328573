/* SPDX-License-Identifier: GPL-2.0-only */
/* A child that is traced, and does one thing at a time, when the test tells it to. */
#ifndef AUX_UTIL_PUPPET_H
#define AUX_UTIL_PUPPET_H

#include <stdbool.h>
#include <sys/types.h>

/* What it can be told in each program; the other letters are the program's. */
#define PUPPET_EXEC	'x'
/* Its child obeys from now on; it waits until the child is told to end, and obeys again. */
#define PUPPET_FORK	'f'
#define PUPPET_END	'e'

struct aux_puppet {
	pid_t pid;
	/* to the child, and from it */
	int tell, hear;
};

/* Each program that has a puppet says what the child does when it is told so. */
void aux_puppet_act(char what);
/* The file of that program for PUPPET_EXEC, if it is a copy; to be set before the puppet starts */
extern const char *aux_puppet_file;

/* Start a child that sleeps until it is told something. */
bool aux_puppet_start(struct aux_puppet *puppet);
/* Tell it to do something, and wait until it has; false if it has ended instead. */
bool aux_puppet_do(struct aux_puppet *puppet, char what);
void aux_puppet_end(struct aux_puppet *puppet);

#endif
