/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the stress of AUX areas share. */
#ifndef AUX_STRESS_H
#define AUX_STRESS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#define STRESS_COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define STRESS_ERRNOS	134
#define STRESS_MAX_OPS	64
/* Events of a process, and mappings of each of them; the first is user page and data. */
#define STRESS_SLOTS	4
#define STRESS_MAPS	4
/* The CPUs that are used, from 0 on */
#define STRESS_CPUS	2
#define STRESS_CGROUPS	2

/* How often each operation returned 0 and each errno; shared by all processes. */
struct stress_counts {
	atomic_ulong of[STRESS_MAX_OPS][STRESS_ERRNOS];
};

/* Bits that are 0 in the address of a mapping, whatever the page size is. */
#define PAGES_MASK	4095UL

/*
 * An event and its mappings. The threads take no lock. A thread that closes or unmaps
 * exchanges the number or the address for "none" first, so that only one thread does. Other
 * threads may still use what they have read before: a file that is closed, or an address
 * where nothing or something else is mapped. The kernel has to refuse that.
 */
struct stress_slot {
	atomic_int fd;
	/* incremented before and after fd changes, so odd meanwhile; see stress_keep_map() */
	atomic_uint changes;
	/* address | number of pages, in the bits of PAGES_MASK; 0: none */
	atomic_ulong maps[STRESS_MAPS];
};

/* A thread that does random things. */
struct stress_actor {
	/* Returns each choice, a number less than BELOW; if NULL, they follow from random. */
	uint64_t (*choose)(struct stress_actor *actor, uint64_t below);
	uint64_t random;
	/* Memory is read and written by way of this file, so that a fault is an errno. */
	int scratch;
	/* Other processes take events out of the one what is put into the other. */
	int mailbox[2];
	/* Traces of CPUs, not of tasks: a PMU with one stream does not mix them. */
	bool per_cpu;
	/* No event may leave this process. */
	bool alone;
	/* Set once an event may live, and trace, that is in no slot. */
	bool astray;
	/* Set once an event may live for a short while after the last file was closed. */
	bool late;
	pid_t mate;
	struct stress_slot *slots;
	struct stress_counts *counts;
	/* from stress_cycles_attr() */
	const struct perf_event_attr *cycles;
};

struct stress_op {
	const char *name;
	/* 0 or -errno */
	int (*run)(struct stress_actor *actor);
	unsigned int weight;
	/* other events act on the trace, which not every PMU allows */
	bool links;
	/* needs control groups that may have events */
	bool cgroups;
};

/* aux_stress_ops.c; the list ends with a name that is NULL */
extern const struct stress_op stress_ops[];
void stress_count(struct stress_counts *counts, unsigned int op, int ret);
uint64_t stress_random(struct stress_actor *actor, uint64_t below);
void stress_cycles_attr(struct perf_event_attr *attr);
void stress_step(struct stress_actor *actor);
void stress_close_all(struct stress_actor *actor);

/* ... what the operations are made of */
int stress_result(long ret);
struct stress_slot *stress_any_slot(struct stress_actor *actor);
struct stress_slot *stress_used_slot(struct stress_actor *actor);
atomic_ulong *stress_used_map(struct stress_actor *actor, struct stress_slot *slot);
int stress_unmap_value(unsigned long value);
void stress_keep_map(struct stress_actor *actor, struct stress_slot *slot, atomic_ulong *map,
		     unsigned long value, unsigned int changes);
int stress_keep(struct stress_actor *actor, int fd);
pid_t stress_traced_task(struct stress_actor *actor);

/* aux_stress_memory.c: mapped memory, by way of a file; 0 or -errno, or a number of bytes */
int stress_put(struct stress_actor *actor, unsigned long at, __u64 value);
int stress_get(struct stress_actor *actor, unsigned long at, __u64 *value);
size_t stress_copy(struct stress_actor *actor, unsigned long at, size_t len, char *to);
int stress_touch(struct stress_actor *actor, unsigned long at, size_t len);

/* aux_stress_life.c: operations that are the life of a process */
int stress_fork_and_map(struct stress_actor *actor);
int stress_exit_traced(struct stress_actor *actor);
int stress_kill_traced(struct stress_actor *actor);
int stress_exec_traced(struct stress_actor *actor);
void stress_executed(void);

/* aux_stress_cgroup.c: control groups, which are made before the operations */
bool stress_make_cgroups(void);
bool stress_has_cgroups(void);
bool stress_remove_cgroups(void);
/* The number of a group by its open directory, or -1 */
int stress_cgroup_of(int directory);
/* This process enters a group; STRESS_CGROUPS: the root of all. 0 or -errno */
int stress_enter(int number);
int stress_open_cgroup(struct stress_actor *actor);

/* aux_stress_check.c: what has to be as it was */
struct stress_state {
	/* pages that a user may lock without a limit of its own */
	long allowance[3];
	long pinned;
	/* on all CPUs; -1 if no line of /proc/interrupts counts NMIs */
	long nmis;
	/* KiB that no counter of /proc/meminfo explains */
	long unexplained;
};

void stress_look(struct stress_state *state);
void stress_allowance(struct stress_state *state);
/* All that can be made to fail does; the first setting that cannot be made, or NULL */
const char *stress_let_fail(void);
int stress_open_files(void);
bool stress_pmu_is_free(void);
/* Whether events of each CPU count, by an event from stress_cycles_attr() */
bool stress_cpus_count(const struct perf_event_attr *cycles);

#endif
