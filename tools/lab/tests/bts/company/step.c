// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tracer that steps a task from branch to branch (PTRACE_SINGLEBLOCK) while the
 * task's branches are recorded: the kernel changes IA32_DEBUGCTL for both of them. Steps
 * and records must be of the same branches.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../pt/beside.h"
#include "bts_company.h"

#define AREA		(1UL << 20)
/* With each step the kernel has some thousand branches. */
#define LARGE_AREA	(32UL << 20)
#define DATA_PAGES	8
#define CALLS		100
#define MOST_STOPS	100000
/* Where the task is */
#define STEPPED_CPU	1
/* Instructions of user space; fewer than there are in a call of step_once() */
#define NMI_PERIOD	7
/* syscall, as a number */
#define SYSCALL_INSN	0x050f

/* Where the task stood; by_kernel: not for a step, but behind a system call. */
static struct stop {
	__u64 ip;
	bool by_kernel;
} stops[MOST_STOPS];
static unsigned int nr_stops;

static pid_t stopped_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		for (unsigned int i = 0; i < CALLS; i++)
			step_once();
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

/* Takes down a stop; false: it has another reason than these two. */
static bool note_stop(pid_t pid)
{
	struct stop *stop = &stops[nr_stops++];
	struct user_regs_struct regs;
	siginfo_t info;
	long code;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) || ptrace(PTRACE_GETSIGINFO, pid, NULL, &info))
		return false;
	stop->ip = regs.rip;
	stop->by_kernel = info.si_code == TRAP_BRKPT;
	code = ptrace(PTRACE_PEEKTEXT, pid, regs.rip - 2, NULL);
	return info.si_code == TRAP_TRACE ||
	       (stop->by_kernel && (code & 0xffff) == SYSCALL_INSN);
}

/* Steps until the child stops by itself. */
static bool steps(pid_t pid, int request)
{
	int status;

	nr_stops = 0;
	while (nr_stops < MOST_STOPS) {
		if (ptrace(request, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid ||
		    !WIFSTOPPED(status))
			return false;
		if (WSTOPSIG(status) == SIGSTOP)
			return true;
		if (WSTOPSIG(status) != SIGTRAP || !note_stop(pid)) {
			diag("stop %u: signal %d", nr_stops, WSTOPSIG(status));
			return false;
		}
	}
	return false;
}

/* How often the processor stopped at an address. */
static unsigned int stops_at(const void *ip)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < nr_stops; i++)
		count += stops[i].ip == (unsigned long)ip && !stops[i].by_kernel;
	return count;
}

/*
 * Each branch has a stop where it leads, in order. What else has one: by branches nothing,
 * by instructions (@others) whatever is no branch.
 */
static bool stops_match(const struct aux_event *trace, bool others)
{
	const struct branch *branch = NULL;
	unsigned int i = 0, count = 0;

	while ((branch = next_user_branch(trace, branch))) {
		while (i < nr_stops &&
		       (stops[i].by_kernel || (others && stops[i].ip != branch->to)))
			i++;
		if (i == nr_stops || stops[i].ip != branch->to) {
			diag("branch %u, 0x%llx -> 0x%llx, has no stop; %u of %u is at 0x%llx",
			     count, branch->from, branch->to, i, nr_stops,
			     i == nr_stops ? 0 : stops[i].ip);
			return false;
		}
		i++;
		count++;
	}
	for (; i < nr_stops && !others; i++) {
		if (!stops[i].by_kernel) {
			diag("stop %u of %u, at 0x%llx, is behind no branch", i, nr_stops,
			     stops[i].ip);
			return false;
		}
	}
	return count >= CALLS;
}

/*
 * What is traced: the task in user space; its kernel as well, so that NMIs, whose branches are
 * not to be recorded, switch the trace off and on; or whoever is on the task's CPU, so that the
 * trace is on while tasks are switched.
 */
enum subject { TASK, TASK_AND_KERNEL, CPU };

static int open_trace(struct aux_event *trace, pid_t pid, enum subject subject)
{
	struct perf_event_attr attr;
	int ret;

	aux_attr(&attr);
	attr.exclude_kernel = subject != TASK_AND_KERNEL;
	ret = subject == CPU ? aux_open_mapped(trace, &attr, -1, STEPPED_CPU, DATA_PAGES)
			     : aux_open_mapped(trace, &attr, pid, -1, DATA_PAGES);
	return ret ?: aux_map_area(trace, subject == TASK ? AREA : LARGE_AREA,
				   PROT_READ | PROT_WRITE);
}

/* Who interrupts the task, in user space. */
static int open_nmis(struct aux_event *nmis, pid_t pid)
{
	struct perf_event_attr attr;

	sampler_attr(&attr, PERF_COUNT_HW_INSTRUCTIONS, NMI_PERIOD);
	attr.exclude_kernel = 1;
	return aux_open_mapped(nmis, &attr, pid, -1, DATA_PAGES);
}

static void test_steps(int request, const char *name, enum subject subject)
{
	struct aux_event trace = { .fd = -1 }, nmis = { .fd = -1 };
	bool others = request == PTRACE_SINGLESTEP, done = false;
	pid_t pid = stopped_child();
	unsigned int found = 0;
	int ret;

	ret = aux_pin(pid, STEPPED_CPU) ?: open_trace(&trace, pid, subject) ?:
	      (subject == TASK_AND_KERNEL ? open_nmis(&nmis, pid) : 0) ?: aux_enable(&trace);
	if (!ret) {
		done = steps(pid, request);
		aux_disable(&trace);
		found = recorded_steps(&trace);
	}
	diag("%s, %u stops, %llu bytes", strerror(-ret), nr_stops, ret ? 0 : aux_head(&trace));
	point(done && found == CALLS, "%s: each of %u branches is recorded, %u found", name, CALLS,
	      found);
	if (request != PTRACE_CONT)
		point(done && stops_at(step_to) == CALLS && stops_at(step_from) == CALLS,
		      "%s: each of them has a stop", name);
	/* A CPU's trace has branches of others. */
	if (request != PTRACE_CONT && subject != CPU)
		point(done && stops_match(&trace, others), "%s: each record has a stop%s", name,
		      others ? "" : ", and nothing else has");
	if (nmis.fd >= 0) {
		found = drain_samples(&nmis);
		point(found >= CALLS, "%s: there were %u", name, found);
		aux_close(&nmis);
	}
	aux_close(&trace);
	aux_end_worker(pid);
}

void test_block_step(void)
{
	unsigned int by_branches;

	test_steps(PTRACE_CONT, "a task that is not stepped", TASK);
	test_steps(PTRACE_SINGLEBLOCK, "a task that is stepped by branches", TASK);
	by_branches = nr_stops;
	test_steps(PTRACE_SINGLEBLOCK, "a task that is stepped by branches, amid NMIs",
		   TASK_AND_KERNEL);
	test_steps(PTRACE_SINGLEBLOCK, "a task that is stepped by branches on a traced CPU", CPU);
	test_steps(PTRACE_SINGLESTEP, "a task that is stepped by instructions", TASK);
	point(nr_stops > by_branches, "steps by instructions are more than those by branches");
}
