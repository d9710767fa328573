// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stress of AUX areas: aux_stress SECONDS [SEED] [PMU]
 *
 * In rounds of a few seconds, some processes of two threads each open, map,
 * share, trace, unmap and pass on events at random, while a CPU goes off and
 * on. Some of the processes end by being killed, some just exit, some clean up
 * first. At the end all counters have to be what they were. What a debug
 * kernel says meanwhile is for the caller to look at.
 *
 * The choices of each thread follow from SEED; their order among threads does
 * not, and neither does what they meet.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "aux_stress.h"
#include "aux_util.h"

#define ACTORS		3
#define THREADS		2
#define ROUND_SECONDS	2.5
/* How much longer it may take, at most, until each operation has succeeded once. */
#define PATIENCE	150.0
/* Pages that wait in lists of CPUs, and the like. */
#define NOISE_KIB	8192

/* The operations of the main program, counted behind those of the list. */
enum { OP_CPU_OFF = STRESS_MAX_OPS - 2, OP_CPU_ON };

struct stress {
	uint64_t seed;
	double end;
	int mailbox[2];
	struct stress_counts *counts;
	struct perf_event_attr cycles;
	unsigned int round, killed, failures;
};

/* A thread of a process, until the round is over. */
struct thread {
	pthread_t id;
	struct stress_actor actor;
	double end;
};

static void fail(struct stress *s, const char *what)
{
	printf("FAIL: %s\n", what);
	s->failures++;
}

static void *act(void *arg)
{
	struct thread *thread = arg;

	thread->actor.scratch = memfd_create("scratch", MFD_CLOEXEC);
	while (aux_seconds() < thread->end)
		stress_step(&thread->actor);
	close(thread->actor.scratch);
	return NULL;
}

/* One process of a round; alone: its own counters have to be 0 at its end. */
static int process(struct stress *s, unsigned int number, pid_t mate, bool alone, double end)
{
	struct stress_slot slots[STRESS_SLOTS] = { };
	struct thread threads[THREADS] = { };
	long pinned;

	for (int i = 0; i < STRESS_SLOTS; i++)
		slots[i].fd = -1;
	for (int i = 0; i < THREADS; i++) {
		threads[i].end = end;
		threads[i].actor = (struct stress_actor) {
			.random = s->seed + s->round * 1000003ULL + number * 1009 + i,
			.mailbox = { s->mailbox[0], s->mailbox[1] },
			.per_cpu = s->round & 1, .alone = alone, .mate = mate,
			.slots = slots, .counts = s->counts, .cycles = &s->cycles,
		};
		if (pthread_create(&threads[i].id, NULL, act, &threads[i]))
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i].id, NULL);
	/* Half of them leave everything to exit(). */
	if (!alone && ((s->round + number) & 2))
		return 0;
	stress_close_all(&threads[0].actor);
	pinned = aux_status(getpid(), "VmPin");
	if (alone && pinned)
		printf("FAIL: %ld KiB are still pinned by who has unmapped all\n", pinned);
	return alone && pinned;
}

static pid_t start_process(struct stress *s, unsigned int number, pid_t mate, bool alone,
			   double end)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		pid = process(s, number, mate, alone, end);
		fflush(stdout);
		_exit(pid);
	}
	return pid;
}

/* Events that are on their way to nobody. */
static void empty_mailbox(struct stress *s)
{
	close(s->mailbox[0]);
	close(s->mailbox[1]);
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, s->mailbox))
		fail(s, "no pair of sockets");
}

static void round_of(struct stress *s, unsigned int processes, bool alone)
{
	double end = aux_seconds() + ROUND_SECONDS;
	pid_t pids[ACTORS];
	int status;

	for (unsigned int i = 0; i < processes; i++)
		pids[i] = start_process(s, i, i ? pids[i - 1] : getpid(), alone, end);
	/* One of them in the middle of it all. */
	if (!alone && s->round % 3 == 2) {
		usleep(ROUND_SECONDS * 0.8e6);
		kill(pids[0], SIGKILL);
		s->killed++;
	}
	/* Orphans too, whose parents were killed. */
	while (wait(&status) > 0) {
		if (alone && status)
			fail(s, "the process that was alone");
	}
	empty_mailbox(s);
	s->round++;
}

static void switch_cpu(struct stress *s, bool on)
{
	stress_count(s->counts, on ? OP_CPU_ON : OP_CPU_OFF, aux_switch_cpu_1(on));
}

static void *hotplug(void *arg)
{
	struct stress *s = arg;
	struct stress_actor chance = { .random = s->seed };

	while (aux_seconds() < s->end) {
		usleep(300000 + stress_random(&chance, 1000000));
		switch_cpu(s, false);
		usleep(50000 + stress_random(&chance, 300000));
		switch_cpu(s, true);
	}
	return NULL;
}

static void report_op(struct stress *s, const char *name, unsigned int op, bool possible)
{
	printf("%-20s %8lu", name, s->counts->of[op][0]);
	for (int i = 1; i < STRESS_ERRNOS; i++) {
		if (s->counts->of[op][i])
			printf("  %s %lu", strerrorname_np(i), s->counts->of[op][i]);
	}
	printf("\n");
	if (possible != !!s->counts->of[op][0])
		fail(s, possible ? "it never succeeded" : "it succeeded");
}

/* Whether the machine and the PMU allow it to succeed */
static bool is_possible(const struct stress_op *op)
{
	return (!op->links || !aux_missing_pause()) && (!op->cgroups || stress_has_cgroups());
}

static void report(struct stress *s)
{
	for (unsigned int op = 0; stress_ops[op].name; op++)
		report_op(s, stress_ops[op].name, op,
			  is_possible(&stress_ops[op]));
	report_op(s, "cpu-off", OP_CPU_OFF, true);
	report_op(s, "cpu-on", OP_CPU_ON, true);
	printf("%u rounds, %u processes killed\n", s->round, s->killed);
}

static void compare(struct stress *s, const struct stress_state *was,
		    const struct stress_state *is)
{
	long granted = aux_allowance() / aux_page_size();

	for (int i = 0; i < 3; i++) {
		printf("pages that user %d may lock: %ld, %ld, %ld\n", i, granted,
		       was->allowance[i], is->allowance[i]);
		if (was->allowance[i] != granted || is->allowance[i] != granted)
			fail(s, "a user's allowance is not what it was");
	}
	printf("NMIs: %ld, %ld\n", was->nmis, is->nmis);
	/* If the clock stands for a counter, no event interrupts by NMIs. */
	if (s->cycles.type == PERF_TYPE_HARDWARE && is->nmis >= 0 && is->nmis == was->nmis)
		fail(s, "there was no NMI");
	printf("KiB pinned: %ld, %ld\n", was->pinned, is->pinned);
	if (was->pinned || is->pinned)
		fail(s, "memory is pinned");
	printf("KiB of unexplained memory: %ld, %ld\n", was->unexplained, is->unexplained);
	if (is->unexplained > was->unexplained + NOISE_KIB)
		fail(s, "pages are lost");
}

static void look_for_events(struct stress *s)
{
	if (stress_open_files())
		fail(s, "an event is still open");
	if (!stress_pmu_is_free())
		fail(s, "the PMU still counts an event that nobody has");
	if (!stress_cpus_count(&s->cycles))
		fail(s, "a PMU stays disabled");
	if (!stress_remove_cgroups())
		fail(s, "a control group cannot be removed");
}

/* A CPU that goes gives back pages that it keeps at hand. */
static void look(struct stress *s, struct stress_state *state)
{
	switch_cpu(s, false);
	switch_cpu(s, true);
	stress_look(state);
}

static bool all_succeeded(struct stress *s)
{
	for (unsigned int op = 0; stress_ops[op].name; op++) {
		if (!s->counts->of[op][0] && is_possible(&stress_ops[op]))
			return false;
	}
	return true;
}

static void stress(struct stress *s, double seconds)
{
	struct stress_state before, after;
	pthread_t plugger;

	/* The first time takes memory for good: stacks, caches, tables. */
	round_of(s, ACTORS, false);
	round_of(s, ACTORS, false);
	look(s, &before);
	s->end = aux_seconds() + seconds;
	if (pthread_create(&plugger, NULL, hotplug, s)) {
		fail(s, "no thread");
		return;
	}
	/* On a slow machine what is seldom needs more time. */
	while (aux_seconds() < s->end ||
	       (!all_succeeded(s) && aux_seconds() < s->end + PATIENCE))
		round_of(s, ACTORS, false);
	pthread_join(plugger, NULL);
	round_of(s, 1, true);
	round_of(s, 1, true);
	look(s, &after);
	report(s);
	compare(s, &before, &after);
	look_for_events(s);
}

int main(int argc, char **argv)
{
	struct stress s = { .seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL) };
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 0;

	if (argc == 2 && !strcmp(argv[1], "--executed")) {
		stress_executed();
		return 0;
	}
	if (argc > 3)
		aux_use(argv[3]);
	if (seconds <= 0 || aux_missing()) {
		fprintf(stderr, "usage: aux_stress SECONDS [SEED] [PMU]\n%s\n",
			aux_missing() ?: "");
		return 2;
	}
	s.counts = mmap(NULL, sizeof(*s.counts), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s.counts == MAP_FAILED ||
	    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, s.mailbox))
		return 2;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	stress_cycles_attr(&s.cycles);
	if (!stress_make_cgroups())
		printf("no control group can have events\n");
	printf("aux_stress %g %llu %s\n", seconds, (unsigned long long)s.seed, aux_pmu_name());
	stress(&s, seconds);
	return s.failures ? 1 : 0;
}
