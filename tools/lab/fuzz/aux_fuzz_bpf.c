// SPDX-License-Identifier: GPL-2.0-only
/* The fuzzer of AUX areas: tracepoints and programs in eBPF. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aux_fuzz.h"
#include "aux_stress.h"
#include "aux_util.h"

#define SAMPLE_SIZE	2048

const char * const fuzz_tracepoints[FUZZ_TRACEPOINTS] = {
	"perf_aux_map", "perf_aux_begin", "perf_aux_end", "perf_aux_full", "perf_aux_wakeup",
	"perf_aux_unmap",
};

/* What each is called in perf_event_attr::config; 0 if this kernel has none of that name. */
static int tracepoints[FUZZ_TRACEPOINTS];

static int read_tracepoint(const char *name)
{
	static const char * const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[128];
	int id = 0;

	for (size_t i = 0; !id && i < STRESS_COUNT(places); i++) {
		snprintf(path, sizeof(path), "%s/events/perf_aux/%s/id", places[i], name);
		id = aux_read_number(path);
	}
	return id;
}

/* Before the operations: then, reading files may be what fails. */
void fuzz_find_tracepoints(void)
{
	for (int i = 0; i < FUZZ_TRACEPOINTS; i++)
		tracepoints[i] = read_tracepoint(fuzz_tracepoints[i]);
}

/* In one half of all cases it joins the group of another event, and samples its trace. */
static int open_beside(struct stress_actor *a, struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int leader = -1;

	attr->size = sizeof(*attr);
	attr->sample_period = 1;
	if (stress_random(a, 2)) {
		leader = stress_used_slot(a)->fd;
		attr->sample_type |= PERF_SAMPLE_AUX;
		attr->aux_sample_size = SAMPLE_SIZE;
	}
	return syscall(SYS_perf_event_open, attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);
}

/* An event that a transaction of the same or of another event makes overflow */
int fuzz_open_tracepoint(struct stress_actor *a)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.config = tracepoints[stress_random(a, FUZZ_TRACEPOINTS)],
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_RAW,
	};
	bool of_cpu = a->per_cpu || !stress_random(a, 3);

	return stress_keep(a, open_beside(a, &attr, of_cpu ? -1 : stress_traced_task(a),
					  of_cpu ? (int)stress_random(a, STRESS_CPUS) : -1));
}

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	int ret = syscall(SYS_bpf, command, attr, sizeof(*attr));

	return ret < 0 ? -errno : ret;
}

/* An event that programs write records to, in the buffer of another event if that may be */
static int open_output(struct stress_actor *a, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
	};
	int fd = open_beside(a, &attr, -1, cpu);

	if (fd >= 0)
		ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, stress_used_slot(a)->fd);
	return fd;
}

static int put_event(int map, int cpu, int fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = (unsigned long)&cpu;
	attr.value = (unsigned long)&fd;
	return bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

/*
 * Return: a map with an event for each CPU, which may be of another one, or -errno. When its
 * last descriptor is closed, a map lets its events go, a short while after.
 */
static int map_of_events(struct stress_actor *a)
{
	union bpf_attr attr;
	int map;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY;
	attr.key_size = sizeof(int);
	attr.value_size = sizeof(int);
	attr.max_entries = STRESS_CPUS;
	map = bpf(BPF_MAP_CREATE, &attr);
	for (int cpu = 0; map >= 0 && cpu < STRESS_CPUS; cpu++) {
		bool writes = stress_random(a, 2);
		int fd = writes ? open_output(a, cpu) : stress_used_slot(a)->fd;

		if (!put_event(map, cpu, fd)) {
			a->astray = true;
			a->late = true;
		}
		if (writes && fd >= 0)
			close(fd);
	}
	return map;
}

#define INSN(op, to, from, at, value) \
	{ .code = (op), .dst_reg = (to), .src_reg = (from), .off = (at), .imm = (value) }
#define SET(to, value)		INSN(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value)
/* An instruction of two: SECOND_HALF is to follow. */
#define SET_MAP(to, map)	INSN(BPF_LD | BPF_IMM | BPF_DW, to, BPF_PSEUDO_MAP_FD, 0, map)
#define SECOND_HALF		INSN(0, 0, 0, 0, 0)
/* BPF_F_CURRENT_CPU, 32 bits that are 1: the index of this CPU */
#define SET_THIS_CPU(to)	INSN(BPF_ALU | BPF_MOV | BPF_K, to, 0, 0, -1)
#define CALL(function)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, function)
#define EXIT			INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static int load(enum bpf_prog_type type, const struct bpf_insn *code, size_t count)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insns = (unsigned long)code;
	attr.insn_cnt = count;
	attr.license = (unsigned long)"GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

/* The sample is kept if the answer is not 0. */
static int load_answer(enum bpf_prog_type type, bool answer)
{
	const struct bpf_insn code[] = { SET(BPF_REG_0, answer), EXIT };

	return load(type, code, STRESS_COUNT(code));
}

/* Write a record of eight bytes to an event of the map. */
static int load_output(enum bpf_prog_type type, int map)
{
	const struct bpf_insn code[] = {
		INSN(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -8, 0),
		SET_MAP(BPF_REG_2, map), SECOND_HALF,
		SET_THIS_CPU(BPF_REG_3),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_4, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, -8),
		SET(BPF_REG_5, 8),
		CALL(BPF_FUNC_perf_event_output),
		SET(BPF_REG_0, 1),
		EXIT,
	};

	return load(type, code, STRESS_COUNT(code));
}

/* Read the count of an event of the map. */
static int load_read(enum bpf_prog_type type, int map)
{
	const struct bpf_insn code[] = {
		SET_MAP(BPF_REG_1, map), SECOND_HALF,
		SET_THIS_CPU(BPF_REG_2),
		CALL(BPF_FUNC_perf_event_read),
		SET(BPF_REG_0, 1),
		EXIT,
	};

	return load(type, code, STRESS_COUNT(code));
}

/* A program, and the map that it needs; both are descriptors, -errno, or -1 for no map. */
struct loaded {
	int program, map;
};

static struct loaded load_any(struct stress_actor *a, enum bpf_prog_type type)
{
	unsigned int kind = stress_random(a, 4);
	struct loaded it = { .map = -1 };

	if (kind < 2) {
		it.program = load_answer(type, kind);
		return it;
	}
	it.map = map_of_events(a);
	if (it.map < 0)
		it.program = it.map;
	else
		it.program = kind == 2 ? load_output(type, it.map) : load_read(type, it.map);
	return it;
}

/* The map has its events as long as its descriptor is open. */
static void unload(struct stress_actor *a, const struct loaded *it)
{
	if (it->program >= 0)
		close(it->program);
	if (it->map >= 0)
		stress_keep(a, it->map);
}

/* What an event runs when it overflows, or a tracepoint's event when that is met */
int fuzz_set_program(struct stress_actor *a)
{
	int fd = stress_used_slot(a)->fd;
	bool overflows = stress_random(a, 3);
	struct loaded it = load_any(a, overflows ? BPF_PROG_TYPE_PERF_EVENT :
						   BPF_PROG_TYPE_TRACEPOINT);
	int ret = it.program;

	if (ret >= 0)
		ret = stress_result(ioctl(fd, PERF_EVENT_IOC_SET_BPF, it.program));
	unload(a, &it);
	return ret;
}

/* A program that a tracepoint runs for each event of the machine, until the file is closed */
int fuzz_hook_tracepoint(struct stress_actor *a)
{
	const char *name = fuzz_tracepoints[stress_random(a, FUZZ_TRACEPOINTS)];
	struct loaded it = load_any(a, BPF_PROG_TYPE_RAW_TRACEPOINT);
	int ret = it.program;
	union bpf_attr attr;

	if (ret >= 0) {
		memset(&attr, 0, sizeof(attr));
		attr.raw_tracepoint.name = (unsigned long)name;
		attr.raw_tracepoint.prog_fd = it.program;
		ret = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
	}
	unload(a, &it);
	return ret < 0 ? ret : stress_keep(a, ret);
}
