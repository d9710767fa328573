// SPDX-License-Identifier: GPL-2.0-only
/*
 * To be preloaded: the kernel refuses attr.aux_action, as those before 6.13 do, with the errno
 * that OLD_KERNEL has. Where attr ends before aux_action that is E2BIG, otherwise EINVAL.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* of attr.aux_action in struct perf_event_attr */
#define OFFSET 116

long syscall(long number, ...)
{
	long (*real)(long number, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	unsigned int action = 0;
	long arg[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(list, long);
	va_end(list);

	if (number == SYS_perf_event_open)
		memcpy(&action, (char *)arg[0] + OFFSET, sizeof(action));
	if (action) {
		errno = atoi(getenv("OLD_KERNEL"));
		return -1;
	}
	return real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
