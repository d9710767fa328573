// SPDX-License-Identifier: GPL-2.0-only
/*
 * AUX drivers of other shapes than those of x86, by a PMU without hardware: what
 * becomes of their areas when they are unmapped in the middle of a trace. Loads
 * the module that its argument names; prints TAP.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aux_bench.h"
#include "aux_util.h"
#include "points.h"

#define DATA_PAGES	16
#define AREA		0x10000UL
#define ROUNDS		50
#define AFTER_ROUNDS	500
#define STEP		4096
#define PATIENCE	5.0
/* A worker has run by then. */
#define WORKER_USEC	50000

static struct aux_event open_event(pid_t pid, int cpu, __u64 shape)
{
	struct aux_event event = { };
	struct perf_event_attr attr;

	aux_attr(&attr);
	attr.config = STEP;
	attr.config2 = shape;
	event.fd = aux_open(&attr, pid, cpu);
	if (event.fd < 0)
		err(1, "perf_event_open(%s)", aux_pmu_name());
	if (aux_map_data(&event, DATA_PAGES))
		errx(1, "no data buffer");
	return event;
}

static int map(struct aux_event *event)
{
	return aux_map_area(event, AREA, PROT_READ | PROT_WRITE);
}

/* The worker that frees it may take a while. */
static bool can_map_soon(struct aux_event *event)
{
	double begin = aux_seconds();
	int ret;

	while ((ret = map(event)) == -EBUSY && aux_seconds() - begin < PATIENCE)
		usleep(1000);
	return !ret;
}

/* Its transaction outlives stop(): the area waits for the end, and charges are kept until then. */
static void kept_transaction(int cpu)
{
	struct aux_event event = open_event(-1, cpu, AUX_BENCH_KEEP);
	long long before = aux_status(getpid(), "VmPin");
	bool busy = true, again = true, back = true;

	for (int i = 0; i < ROUNDS; i++) {
		if (map(&event) || aux_enable(&event))
			errx(1, "an area that is free cannot be mapped");
		aux_unmap_area(&event);
		busy = busy && map(&event) == -EBUSY;
		aux_disable(&event);
		aux_set_tail(&event, aux_head(&event));
		again = again && can_map_soon(&event);
		aux_unmap_area(&event);
		back = back && aux_status(getpid(), "VmPin") == before;
	}
	point(busy, "kept transaction: the area is busy while it is open");
	point(again, "kept transaction: the area is free after its end");
	point(back, "kept transaction: the charge is given back");
	aux_close(&event);
}

/* Closed for good while the transaction is open: whoever ends it frees everything. */
static void kept_and_closed(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct aux_event event = open_event(0, -1, AUX_BENCH_KEEP);

		if (map(&event) || aux_enable(&event))
			errx(1, "an area that is free cannot be mapped");
		aux_close(&event);
	}
	point(true, "kept transaction: event and area closed together");
}

/*
 * It ends its transaction in an interrupt of its own just after stop(), and uses the pages
 * until that interrupt is over.
 */
static void end_after_stop(void)
{
	pid_t worker = aux_worker(1);
	struct aux_event event = open_event(-1, 1, AUX_BENCH_AFTER);
	bool again = true;

	for (int i = 0; i < AFTER_ROUNDS; i++) {
		if (!can_map_soon(&event) || aux_enable(&event))
			errx(1, "an area that is free cannot be mapped");
		aux_unmap_area(&event);
		aux_disable(&event);
		aux_set_tail(&event, aux_head(&event));
		again = again && can_map_soon(&event);
		aux_unmap_area(&event);
	}
	point(again, "end after stop: the area is free when the interrupt is over");
	aux_close(&event);
	aux_end_worker(worker);
}

static void set_policy(pid_t pid, int policy)
{
	struct sched_param param = { .sched_priority = policy == SCHED_FIFO };

	if (sched_setscheduler(pid, policy, &param))
		err(1, "sched_setscheduler");
}

static bool is_traced(struct aux_event *event)
{
	__u64 before = aux_head(event);

	if (aux_enable(event))
		errx(1, "the event cannot be enabled");
	aux_disable(event);
	return aux_head(event) != before;
}

/*
 * munmap() frees the area itself, and a worker comes later to look for one that is left. By then
 * the next area is mapped: a task that lets no other run delays the worker until then.
 */
static void mapped_anew(void)
{
	pid_t worker = aux_worker(1);
	struct aux_event event = open_event(-1, 1, 0);
	bool traced = true;

	for (int i = 0; i < ROUNDS / 5; i++) {
		if (map(&event) || aux_enable(&event))
			errx(1, "an area that is free cannot be mapped");
		set_policy(worker, SCHED_FIFO);
		aux_unmap_area(&event);
		aux_disable(&event);
		if (map(&event))
			errx(1, "an area that was freed cannot be mapped again");
		set_policy(worker, SCHED_OTHER);
		usleep(WORKER_USEC);
		aux_set_tail(&event, aux_head(&event));
		traced = traced && is_traced(&event);
		aux_set_tail(&event, aux_head(&event));
		aux_unmap_area(&event);
	}
	point(traced, "mapped again: the worker of the area before it lets it be");
	aux_close(&event);
	aux_end_worker(worker);
}

/* It writes in stop(), without a transaction: the pages must be there until then. */
static void late_writer(bool per_task)
{
	pid_t worker = aux_worker(1);
	struct aux_event event = per_task ? open_event(worker, -1, AUX_BENCH_LATE)
					  : open_event(-1, 1, AUX_BENCH_LATE);
	bool traced = true;
	__u64 before;

	for (int i = 0; i < ROUNDS; i++) {
		before = aux_head(&event);
		if (map(&event) || aux_enable(&event))
			errx(1, "an area that is free cannot be mapped");
		for (int wait = 0; wait < 50000 && aux_head(&event) == before; wait++)
			usleep(100);
		traced = traced && aux_head(&event) != before;
		aux_set_tail(&event, aux_head(&event));
		aux_unmap_area(&event);
		aux_disable(&event);
	}
	point(traced, per_task ? "late writer, per task: unmapped while it runs"
			       : "late writer, per CPU: unmapped while it runs");
	aux_close(&event);
	aux_end_worker(worker);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(1, "usage: shapes MODULE");
	aux_bench_load(argv[1]);
	aux_use("aux_bench");
	aux_pin(0, 0);
	kept_transaction(0);
	kept_transaction(1);
	kept_and_closed();
	end_after_stop();
	mapped_anew();
	late_writer(false);
	late_writer(true);
	return end_points();
}
