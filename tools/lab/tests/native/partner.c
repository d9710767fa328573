// SPDX-License-Identifier: GPL-2.0-only
/* See partner.h. */
#include <err.h>
#include <sys/wait.h>
#include <unistd.h>

#include "partner.h"

static void __attribute__((noreturn)) give_back(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1 && write(out, &byte, 1) == 1)
		;
	_exit(0);
}

void partner_start(struct partner *partner)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		err(1, "pipe");
	partner->pid = fork();
	if (partner->pid < 0)
		err(1, "fork");
	if (!partner->pid) {
		/* Or it would wait for itself when the caller is gone. */
		close(there[1]);
		close(back[0]);
		give_back(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	partner->to = there[1];
	partner->from = back[0];
}

void partner_call(struct partner *partner)
{
	char byte = 0;

	if (write(partner->to, &byte, 1) != 1 || read(partner->from, &byte, 1) != 1)
		errx(1, "the other task is gone");
}

void partner_end(struct partner *partner)
{
	close(partner->to);
	close(partner->from);
	waitpid(partner->pid, NULL, 0);
}
