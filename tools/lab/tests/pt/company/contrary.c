// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace that is paused whenever it starts, and resumed whenever it stops: by the
 * tracepoint of the register write that does so. It must not go on for ever.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "company.h"

#define TRACEFS		"/sys/kernel/tracing"
#define WRITE_MSR	TRACEFS "/events/msr/write_msr/id"
#define STARTS		"msr == 0x570 && val & 1"
#define STOPS		"msr == 0x570 && !(val & 1)"
#define TICK_NS		1000000
#define AREA		(1UL << 20)
#define ROUNDS		200000
#define SWITCHES	200

static long long tracepoint_id(void)
{
	long long id = -1;
	FILE *file;

	if (access(WRITE_MSR, R_OK))
		mount("tracefs", TRACEFS, "tracefs", 0, NULL);
	file = fopen(WRITE_MSR, "r");
	if (!file || fscanf(file, "%lld", &id) != 1)
		diag("%s: %s", WRITE_MSR, strerror(errno));
	if (file)
		fclose(file);
	return id;
}

static int add(int leader, __u32 type, __u64 config, __u64 period, __u32 action,
	       const char *filter)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.sample_period = period,
	};
	int fd;

	aux_set_action(&attr, action);
	fd = aux_open_in_group(&attr, 0, -1, leader);
	if (fd >= 0 && filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The clock makes the first change, and so does each task switch. */
static bool add_all(int leader, int *fds)
{
	long long id = tracepoint_id();

	fds[0] = add(leader, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, TICK_NS, AUX_PAUSE, NULL);
	fds[1] = add(leader, PERF_TYPE_TRACEPOINT, id, 1, AUX_PAUSE, STARTS);
	fds[2] = add(leader, PERF_TYPE_TRACEPOINT, id, 1, AUX_RESUME, STOPS);
	return id >= 0 && fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0;
}

static __u64 overflows(int fd)
{
	__u64 count = 0;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

void test_contrary(void)
{
	struct aux_event trace = { .fd = -1 };
	int fds[3] = { -1, -1, -1 };
	__u64 head;
	bool good;

	good = !aux_open_mapped(&trace, NULL, 0, -1, 1) &&
	       !aux_map_area(&trace, AREA, PROT_READ) && add_all(trace.fd, fds);
	point(good, "events that undo each start and each stop of a trace can be opened");
	if (good) {
		aux_enable(&trace);
		aux_work(ROUNDS);
		for (unsigned int i = 0; i < SWITCHES; i++)
			usleep(1);
		aux_disable(&trace);
	}
	point(overflows(fds[1]) && overflows(fds[2]),
	      "they do, and the processor does something else as well");
	for (unsigned int i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		close(fds[i]);

	/* Without them, the trace is on. */
	head = aux_head(&trace);
	aux_enable(&trace);
	for (unsigned int i = 0; i < SWITCHES; i++)
		usleep(1);
	aux_work(ROUNDS);
	aux_disable(&trace);
	point(aux_head(&trace) != head, "the trace goes on without them");
	aux_close(&trace);
}
