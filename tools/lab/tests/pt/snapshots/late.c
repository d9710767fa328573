// SPDX-License-Identifier: GPL-2.0-only
/*
 * To be preloaded into perf: if there is a file 'late', SIGUSR2 comes when perf has decided to
 * sleep, just before it does. The file is removed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int (*real)(struct pollfd *, nfds_t, int) = dlsym(RTLD_NEXT, "poll");

	if (timeout < 0 && !unlink("late"))
		raise(SIGUSR2);
	return real(fds, count, timeout);
}
