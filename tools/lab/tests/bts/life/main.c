// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch records of a machine whose CPUs go and come, and that sleeps and wakes; run in
 * a guest with two CPUs and the module pt_life, as root. Prints TAP.
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../company/bts_company.h"

#define AREA		(4UL << 20)
#define DATA_PAGES	8
#define STEPS		100

/* A task that takes STEPS when it is told to. */
struct walker {
	pid_t pid;
	int go, done;
};

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err(1, "%s", path);
	close(fd);
}

static void online(bool on)
{
	put("/sys/devices/system/cpu/cpu1/online", on ? "1" : "0");
}

static void start(struct walker *walker, int cpu)
{
	int go[2], done[2];
	char byte = 0;

	if (pipe(go) || pipe(done))
		err(1, "pipe");
	walker->pid = fork();
	if (!walker->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		aux_pin(0, cpu);
		while (read(go[0], &byte, 1) == 1) {
			for (unsigned int i = 0; i < STEPS; i++)
				step_once();
			if (write(done[1], &byte, 1) != 1)
				break;
		}
		_exit(0);
	}
	close(go[0]);
	close(done[1]);
	walker->go = go[1];
	walker->done = done[0];
}

static void walk(struct walker *walker)
{
	char byte = 0;

	if (write(walker->go, &byte, 1) != 1 || read(walker->done, &byte, 1) != 1)
		err(1, "a task that walks");
}

static void end(struct walker *walker)
{
	aux_end_worker(walker->pid);
	close(walker->go);
	close(walker->done);
}

static void begin_trace(struct aux_event *trace, pid_t pid, int cpu)
{
	int ret = aux_open_mapped(trace, NULL, pid, cpu, DATA_PAGES) ?:
		  aux_map_area(trace, AREA, PROT_READ | PROT_WRITE) ?: aux_enable(trace);

	if (ret)
		errx(1, "a trace of task %d, CPU %d: %s", pid, cpu, strerror(-ret));
}

/* That the trace has so many walks, and its end. */
static void end_trace(struct aux_event *trace, unsigned int walks, const char *text)
{
	struct aux_log log = { };
	unsigned int found;

	aux_disable(trace);
	found = recorded_steps(trace);
	aux_drain(trace, &log);
	point(found == walks * STEPS && !log.flags_seen && !log.holes,
	      "%s: %u of %u branches", text, found, walks * STEPS);
	diag("flags %#llx, %u holes, %llu bytes", log.flags_seen, log.holes, aux_head(trace));
	aux_close(trace);
}

/* Both walk, CPU 1 goes, and comes. */
static void go_and_come(struct walker *walkers)
{
	for (int i = 0; i < 3; i++) {
		if (i)
			online(i == 2);
		if (i == 2)
			aux_pin(walkers[1].pid, 1);
		walk(&walkers[0]);
		walk(&walkers[1]);
	}
}

static void test_hotplug(void)
{
	struct walker walkers[2];
	struct aux_event traces[2];

	start(&walkers[0], 0);
	start(&walkers[1], 1);
	begin_trace(&traces[0], walkers[0].pid, 0);
	begin_trace(&traces[1], walkers[1].pid, -1);
	go_and_come(walkers);
	end_trace(&traces[0], 3, "a task's trace goes on when the other CPU goes and comes");
	end_trace(&traces[1], 3, "a task's trace goes on when its CPU goes and comes");

	begin_trace(&traces[0], -1, 0);
	begin_trace(&traces[1], -1, 1);
	go_and_come(walkers);
	/* While CPU 1 is off, both are on CPU 0. */
	end_trace(&traces[0], 4, "a trace of the other CPU goes on");
	end_trace(&traces[1], 1, "a trace of a CPU that goes ends");
	begin_trace(&traces[1], -1, 1);
	walk(&walkers[1]);
	end_trace(&traces[1], 1, "the CPU traces again");
	end(&walkers[0]);
	end(&walkers[1]);
}

/* Traces of tasks and of CPUs exclude each other. */
static void test_sleep(void)
{
	struct walker walkers[2];
	struct aux_event trace;

	start(&walkers[0], 0);
	start(&walkers[1], 1);
	/* CPU 0 is the last one that sleeps, and its trace is on then. */
	begin_trace(&trace, -1, 0);
	walk(&walkers[0]);
	put("/sys/power/state", "mem");
	walk(&walkers[0]);
	end_trace(&trace, 2, "a trace of the CPU that sleeps last goes on");

	aux_pin(walkers[1].pid, 1);
	begin_trace(&trace, walkers[1].pid, -1);
	walk(&walkers[1]);
	put("/sys/power/state", "mem");
	aux_pin(walkers[1].pid, 1);
	walk(&walkers[1]);
	end_trace(&trace, 2, "a task's trace goes on when the machine wakes");
	begin_trace(&trace, -1, 1);
	walk(&walkers[1]);
	end_trace(&trace, 1, "the other CPU traces again");
	end(&walkers[0]);
	end(&walkers[1]);
}

int main(void)
{
	setlinebuf(stdout);
	aux_use("intel_bts");
	/* This CPU never goes off. The program's branches are in its trace, but no step. */
	aux_pin(0, 0);
	test_hotplug();
	test_sleep();
	return end_points();
}
