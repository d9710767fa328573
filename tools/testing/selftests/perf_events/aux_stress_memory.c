// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stress of AUX areas: access to mapped memory.
 *
 * Another thread may unmap it at any time. By way of a file, that is an errno and no signal.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>

#include "aux_stress.h"

int stress_put(struct stress_actor *a, unsigned long at, __u64 value)
{
	if (pwrite(a->scratch, &value, sizeof(value), 0) < 0)
		return -errno;
	return stress_result(pread(a->scratch, (void *)at, sizeof(value), 0));
}

int stress_get(struct stress_actor *a, unsigned long at, __u64 *value)
{
	if (pwrite(a->scratch, (void *)at, sizeof(*value), 0) < 0)
		return -errno;
	return stress_result(pread(a->scratch, value, sizeof(*value), 0));
}

/* Return: number of bytes that have been copied; less than len where memory cannot be read */
size_t stress_copy(struct stress_actor *a, unsigned long at, size_t len, char *to)
{
	ssize_t got = pwrite(a->scratch, (void *)at, len, 0);

	got = got > 0 ? pread(a->scratch, to, got, 0) : 0;
	return got < 0 ? 0 : got;
}

int stress_touch(struct stress_actor *a, unsigned long at, size_t len)
{
	return stress_result(pwrite(a->scratch, (void *)at, len, 0));
}
