// SPDX-License-Identifier: GPL-2.0-only
/* The module of the AUX PMU without hardware, and events: for the programs that drive it. */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aux_bench.h"
#include "aux_util.h"

void aux_bench_load(const char *module)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		err(1, "%s", module);
	close(fd);
}

void aux_bench_choose(const char *pmu, struct perf_event_attr *attr)
{
	aux_use(pmu);
	aux_attr(attr);
	attr->read_format = 0;
}
