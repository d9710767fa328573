// SPDX-License-Identifier: GPL-2.0-only
/* Loads the module of the AUX PMU without hardware, for a program that drives it. */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aux_bench.h"

void aux_bench_load(const char *module)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		err(1, "%s", module);
	close(fd);
}
