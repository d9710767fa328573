// SPDX-License-Identifier: GPL-2.0-only
/* The fuzzer of AUX areas: the process that runs steps, in two threads. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
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

#include "aux_fuzz.h"
#include "aux_util.h"

/* A step takes some milliseconds, or a second if a CPU goes. */
#define STUCK_SECONDS	120
/* Cycles, or nanoseconds where the clock stands in. The few events of a program soon go. */
#define CYCLES_PERIOD	200000
#define MEETING_SECONDS	0.005
/* A step that runs again and again beside others does so no longer. */
#define BESIDE_SECONDS	0.02
#define PINNED_SECONDS	5
#define LATE_USEC	2000
#define LATE_TRIES	50

/* A thread with what it is to do. */
struct fuzz_thread {
	/* must come first */
	struct stress_actor actor;
	const struct fuzz_step *step;
	atomic_ulong *steps_done, *failures;
	unsigned int drawn;
	/* of a step that runs again and again: the time that this is */
	unsigned int round;
	/* /proc/thread-self/fail-nth, or -1 */
	int fail;
	/* of the second thread */
	sem_t begin, done;
	atomic_bool started, enough;
	bool busy;
};

struct fuzz_process {
	struct fuzz_thread first, second;
	struct stress_slot slots[STRESS_SLOTS];
	struct perf_event_attr cycles;
	struct fuzz_shared *shared;
	int mailbox[2];
	/* of the list: the program that runs */
	unsigned int program;
	pthread_t id;
};

static uint64_t choose(struct stress_actor *actor, uint64_t below)
{
	struct fuzz_thread *thread = (struct fuzz_thread *)actor;
	unsigned int at = thread->drawn;

	if (at >= FUZZ_CHOICES)
		return 0;
	thread->drawn++;
	/* Mostly the first one is the event, which stays the same; each time with other values. */
	return (thread->step->choices[at] + (at ? thread->round : 0)) % below;
}

static void set_fail(struct fuzz_thread *thread, unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	/* What fails may be this, and then it has been the last. */
	if (thread->fail >= 0 && pwrite(thread->fail, text, len, 0) < 0 && errno != EFAULT)
		warn("fail-nth");
}

/* The number is 0 if what it counts has come to the one that was to fail. */
static void note_failure(struct fuzz_thread *thread)
{
	char text[16] = "";

	if (pread(thread->fail, text, sizeof(text) - 1, 0) > 0 && !strtoul(text, NULL, 10))
		atomic_fetch_add(thread->failures, 1);
}

static int do_once(struct fuzz_thread *thread)
{
	const struct fuzz_step *step = thread->step;
	int ret;

	thread->drawn = 0;
	if (step->fail)
		set_fail(thread, step->fail);
	ret = fuzz_op(step->op)->run(&thread->actor);
	if (step->fail) {
		note_failure(thread);
		set_fail(thread, 0);
	}
	return ret;
}

/* Two steps that run once meet rarely: one of them may go on while the other one runs. */
static void do_step(struct fuzz_thread *thread)
{
	double end = aux_seconds() + BESIDE_SECONDS;
	int ret;

	thread->round = 0;
	do {
		ret = do_once(thread);
	} while (++thread->round < thread->step->beside && !thread->enough &&
		 aux_seconds() < end);
	/* However often, it is one operation. */
	stress_count(thread->actor.counts, thread->step->op, ret);
	atomic_fetch_add(thread->steps_done, 1);
}

static void start_actor(struct fuzz_process *process, struct fuzz_thread *thread)
{
	thread->actor = (struct stress_actor) {
		.choose = choose, .scratch = memfd_create("scratch", MFD_CLOEXEC),
		.mailbox = { process->mailbox[0], process->mailbox[1] },
		.mate = getppid(), .slots = process->slots,
		.counts = &process->shared->counts, .cycles = &process->cycles,
	};
	thread->steps_done = &process->shared->steps_done;
	thread->failures = &process->shared->failures;
	thread->fail = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
}

/* Once for each thread: later, reading them may be what fails. */
static void read_types(void)
{
	for (int i = 0; fuzz_pmus[i]; i++)
		aux_type_of(fuzz_pmus[i]);
}

static void *run_second(void *arg)
{
	struct fuzz_process *process = arg;
	struct fuzz_thread *thread = &process->second;

	read_types();
	start_actor(process, thread);
	sem_post(&thread->done);
	for (;;) {
		sem_wait(&thread->begin);
		thread->started = true;
		do_step(thread);
		sem_post(&thread->done);
	}
	return NULL;
}

static void wait_for_second(struct fuzz_process *process)
{
	if (!process->second.busy)
		return;
	process->second.enough = true;
	sem_wait(&process->second.done);
	process->second.busy = false;
}

static void hand_over(struct fuzz_process *process, const struct fuzz_step *step)
{
	double begin;

	wait_for_second(process);
	process->second.step = step;
	process->second.busy = true;
	process->second.started = false;
	process->second.enough = false;
	sem_post(&process->second.begin);
	/* To wake up takes longer than most steps: the next one is to meet this one. */
	begin = aux_seconds();
	while (!process->second.started && aux_seconds() < begin + MEETING_SECONDS)
		;
}

static void find(struct fuzz_shared *shared, const char *what)
{
	if (!shared->finding[0])
		snprintf(shared->finding, sizeof(shared->finding), "%s", what);
}

static void check_stopped(struct fuzz_process *process)
{
	if (process->first.actor.astray || process->second.actor.astray)
		return;
	if (fuzz_traces_on(&process->first.actor)) {
		printf("in program %u of the list, for %s\n", process->program,
		       aux_pmu_name());
		fflush(stdout);
		find(process->shared, FUZZ_TRACES_ON);
	}
}

/* What the first thread has come to; KCOV has room for that of some steps only. */
static void note_cover(struct fuzz_process *process)
{
	if (fuzz_cover_take(process->shared))
		process->shared->is_new[process->program % FUZZ_PROGRAMS] = true;
}

static void renew_mailbox(struct fuzz_process *process)
{
	close(process->mailbox[0]);
	close(process->mailbox[1]);
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, process->mailbox))
		warn("mailbox");
	for (int i = 0; i < 2; i++) {
		process->first.actor.mailbox[i] = process->mailbox[i];
		process->second.actor.mailbox[i] = process->mailbox[i];
	}
}

/* Events of a map are gone a while after it: the next program finds its PMU free all the same. */
static void wait_for_events(struct fuzz_process *process)
{
	if (!process->first.actor.late && !process->second.actor.late)
		return;
	for (int i = 0; i < LATE_TRIES && !stress_pmu_is_free(); i++)
		usleep(LATE_USEC);
}

/* Whichever CPU steps have chosen: what comes now may run on each. */
static void unpin(void)
{
	cpu_set_t all;

	CPU_ZERO(&all);
	for (int i = 0; i < STRESS_CPUS; i++)
		CPU_SET(i, &all);
	sched_setaffinity(0, sizeof(all), &all);
}

static void end_program(struct fuzz_process *process)
{
	wait_for_second(process);
	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	check_stopped(process);
	unpin();
	stress_enter(STRESS_CGROUPS);
	note_cover(process);
	stress_close_all(&process->first.actor);
	if (process->first.actor.astray || process->second.actor.astray)
		renew_mailbox(process);
	wait_for_events(process);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* Which PMU operations take that do not choose, and whether events are of CPUs or of tasks. */
static void begin_program(struct fuzz_process *process, const struct fuzz_step *step)
{
	unsigned int pmu = step->choices[0] % FUZZ_PMUS;

	for (unsigned int i = 0; i < FUZZ_PMUS && aux_type_of(fuzz_pmus[pmu]) < 0; i++)
		pmu = (pmu + 1) % FUZZ_PMUS;
	aux_use(fuzz_pmus[pmu]);
	process->first.actor.per_cpu = step->choices[1] & 1;
	process->second.actor.per_cpu = step->choices[1] & 1;
	process->first.actor.astray = false;
	process->second.actor.astray = false;
	process->first.actor.late = false;
	process->second.actor.late = false;
}

static void start(struct fuzz_process *process)
{
	for (int i = 0; i < STRESS_SLOTS; i++)
		process->slots[i].fd = -1;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, process->mailbox))
		err(2, "mailbox");
	stress_cycles_attr(&process->cycles);
	process->cycles.sample_period = CYCLES_PERIOD;
	start_actor(process, &process->first);
	sem_init(&process->second.begin, 0, 0);
	sem_init(&process->second.done, 0, 0);
	if (pthread_create(&process->id, NULL, run_second, process))
		errx(2, "no thread");
	sem_wait(&process->second.done);
	fuzz_cover_start();
}

/*
 * If a driver keeps its transaction while the area is unmapped, a worker of the kernel frees the
 * area later.
 */
static bool stays_pinned(void)
{
	double end = aux_seconds() + PINNED_SECONDS;

	while (aux_status(getpid(), "VmPin")) {
		if (aux_seconds() > end)
			return true;
		usleep(LATE_USEC);
	}
	return false;
}

/* Run the programs of a list, one after the other. */
static void run(const struct fuzz_list *list, struct fuzz_shared *shared)
{
	struct fuzz_process *process = calloc(1, sizeof(*process));

	if (!process)
		err(2, "process");
	process->shared = shared;
	start(process);
	for (size_t i = 0; i < list->count && !shared->finding[0]; i++) {
		const struct fuzz_step *step = &list->steps[i];

		if (step->op == FUZZ_BEGIN) {
			if (i) {
				end_program(process);
				process->program++;
			}
			begin_program(process, step);
		} else if (step->beside) {
			hand_over(process, step);
		} else {
			process->first.step = step;
			do_step(&process->first);
			note_cover(process);
		}
	}
	wait_for_second(process);
	note_cover(process);
	/* One half of them leaves its events and mappings to exit(). */
	if (!(list->count & 1))
		return;
	end_program(process);
	if (stays_pinned())
		find(shared, fuzz_count_maps() ? "the fuzzer has lost a mapping" :
					   "memory is pinned though nothing is mapped");
}

/* Of the process that made them; those that run steps end by _exit(). */
static void remove_cgroups(void)
{
	stress_remove_cgroups();
}

/*
 * Signals of events are not to end a process, and have no handler: what fails may be the
 * frame of one.
 */
void fuzz_prepare(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fuzz_find_pmus();
	read_types();
	fuzz_find_tracepoints();
	stress_make_cgroups();
	atexit(remove_cgroups);
	signal(SIGIO, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Return: false if the process does not end, and no step of it either */
static bool ends(pid_t pid, int *status, struct fuzz_shared *shared)
{
	double since = aux_seconds();
	unsigned long done = 0;

	while (waitpid(pid, status, WNOHANG) != pid) {
		if (done != shared->steps_done) {
			done = shared->steps_done;
			since = aux_seconds();
		}
		if (aux_seconds() > since + STUCK_SECONDS)
			return false;
		usleep(1000);
	}
	return true;
}

/* Return: what is wrong, if anything is */
const char *fuzz_run_in_child(const struct fuzz_list *list, struct fuzz_shared *shared)
{
	char what[64];
	int status = 0;
	pid_t pid;

	shared->finding[0] = 0;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		run(list, shared);
		_exit(0);
	}
	if (pid < 0)
		return "fork() fails";
	if (!ends(pid, &status, shared)) {
		kill(pid, SIGKILL);
		if (!ends(pid, &status, shared))
			return "a process does not end even if it is killed";
		find(shared, "a system call does not return");
	}
	/* Orphans of a process that was killed. */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	if (WIFSIGNALED(status)) {
		snprintf(what, sizeof(what), "signal %s ends the process",
			 sigabbrev_np(WTERMSIG(status)) ?: "?");
		find(shared, what);
	}
	aux_switch_cpu_1(true);
	return shared->finding[0] ? shared->finding : NULL;
}
