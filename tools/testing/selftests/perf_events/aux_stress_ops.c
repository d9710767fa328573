// SPDX-License-Identifier: GPL-2.0-only
/* The stress of AUX areas: what its threads do to events and mappings. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "aux_stress.h"
#include "aux_util.h"

#define PAGE		aux_page_size()
#define MAX_DATA_ORDER	5
#define MAX_AREA_ORDER	10
#define PERIOD		50000
/*
 * Nanoseconds, where no counter counts cycles and the clock stands in. A dozen such events may
 * be on one CPU, and an emulated machine takes 130 us for each interrupt of one: each PERIOD
 * nanoseconds, they would leave no time for anything else.
 */
#define CLOCK_PERIOD	2000000
#define SAMPLE_SIZE	2048
#define WORK_ROUNDS	20000

void stress_count(struct stress_counts *counts, unsigned int op, int ret)
{
	unsigned int error = ret < 0 ? -ret : 0;

	/* The kernel's ENOTSUPP, 524, which it should not tell to users: a map is mapped. */
	if (error >= STRESS_ERRNOS)
		error = EOPNOTSUPP;
	atomic_fetch_add(&counts->of[op][error], 1);
}

/* splitmix64, unless the choices are another's */
uint64_t stress_random(struct stress_actor *a, uint64_t below)
{
	uint64_t z;

	if (a->choose)
		return a->choose(a, below);
	z = a->random += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % below;
}

int stress_result(long ret)
{
	return ret < 0 ? -errno : 0;
}

struct stress_slot *stress_any_slot(struct stress_actor *a)
{
	return &a->slots[stress_random(a, STRESS_SLOTS)];
}

/* A slot with an event, if there is one. */
struct stress_slot *stress_used_slot(struct stress_actor *a)
{
	uint64_t first = stress_random(a, STRESS_SLOTS);
	struct stress_slot *slot = &a->slots[first];

	for (int i = 0; i < STRESS_SLOTS && slot->fd < 0; i++)
		slot = &a->slots[(first + i) % STRESS_SLOTS];
	return slot;
}

/* A mapping of an event, if it has one. */
atomic_ulong *stress_used_map(struct stress_actor *a, struct stress_slot *slot)
{
	uint64_t first = stress_random(a, STRESS_MAPS);
	atomic_ulong *map = &slot->maps[first];

	for (int i = 0; i < STRESS_MAPS && !*map; i++)
		map = &slot->maps[(first + i) % STRESS_MAPS];
	return map;
}

/*
 * Unmap what a slot had. The slot does not refer to the mapping any more, so a mapping that
 * stayed would stay until the process ends. Where failures are injected, munmap() may fail
 * with ENOMEM, but not twice.
 */
int stress_unmap_value(unsigned long value)
{
	int ret = 0;

	for (int i = 0; value && i < 2; i++) {
		ret = stress_result(munmap((void *)(value & ~PAGES_MASK),
					   (value & PAGES_MASK) * PAGE));
		if (ret != -ENOMEM)
			break;
	}
	return ret;
}

static void unmap(atomic_ulong *map)
{
	stress_unmap_value(atomic_exchange(map, 0));
}

static void unmap_all(struct stress_slot *slot)
{
	for (int i = 0; i < STRESS_MAPS; i++)
		unmap(&slot->maps[i]);
}

/*
 * A mapping comes into a slot. The caller has read the slot's changes before it used its file or
 * took the mapping from there. If another thread was replacing or closing the event then, or has
 * done so since, that event may live on by this mapping. Otherwise the other thread, whenever it
 * does, finds the mapping in the slot. Only a fuzzer reads the mark, and only two of its threads
 * share slots.
 */
void stress_keep_map(struct stress_actor *a, struct stress_slot *slot, atomic_ulong *map,
		     unsigned long value, unsigned int changes)
{
	/* What another thread has mapped there meanwhile is unmapped. */
	stress_unmap_value(atomic_exchange(map, value));
	if (slot->changes != changes || changes & 1)
		a->astray = true;
}

/* The event of a slot goes from there, but lives on if it is mapped. */
static void note_astray(struct stress_actor *a, const struct stress_slot *slot)
{
	for (int i = 0; i < STRESS_MAPS; i++)
		a->astray |= !!slot->maps[i];
}

/* An event comes into a slot; now and then the old one's mappings outlive it. */
int stress_keep(struct stress_actor *a, int fd)
{
	struct stress_slot *slot = stress_any_slot(a);
	int old;

	if (fd < 0)
		return -errno;
	slot->changes++;
	old = atomic_exchange(&slot->fd, fd);
	if (old >= 0)
		close(old);
	if (stress_random(a, 4))
		unmap_all(slot);
	else
		note_astray(a, slot);
	slot->changes++;
	return 0;
}

pid_t stress_traced_task(struct stress_actor *a)
{
	switch (stress_random(a, 3)) {
	case 0:
		return a->mate;
	case 1:
		return getpid();
	default:
		return 0;
	}
}

static pid_t any_target(struct stress_actor *a)
{
	return a->per_cpu ? -1 : stress_traced_task(a);
}

static int open_attr(struct stress_actor *a, struct perf_event_attr *attr, pid_t pid, int cpu,
		     int leader)
{
	attr->aux_watermark = stress_random(a, 2) ? PAGE << stress_random(a, 4) : 0;
	return syscall(SYS_perf_event_open, attr, pid, cpu, leader,
		       stress_random(a, 4) ? PERF_FLAG_FD_CLOEXEC : 0);
}

static int op_open(struct stress_actor *a)
{
	struct perf_event_attr attr;
	int cpu = a->per_cpu ? (int)stress_random(a, STRESS_CPUS) :
			       (int)stress_random(a, STRESS_CPUS + 1) - 1;

	aux_attr(&attr);
	attr.disabled = stress_random(a, 2);
	return stress_keep(a, open_attr(a, &attr, any_target(a), cpu, -1));
}

static int op_open_inherited(struct stress_actor *a)
{
	struct perf_event_attr attr;
	int cpu = stress_random(a, STRESS_CPUS);

	aux_attr(&attr);
	attr.disabled = stress_random(a, 2);
	attr.inherit = 1;
	return stress_keep(a, open_attr(a, &attr, any_target(a), cpu, -1));
}

/* Overflows after some cycles, on x86 in an NMI, which interrupts what the leader does. */
void stress_cycles_attr(struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->sample_period = PERIOD;
	aux_count(attr, PERF_COUNT_HW_CPU_CYCLES);
	if (attr->type == PERF_TYPE_SOFTWARE)
		attr->sample_period = CLOCK_PERIOD;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	attr->exclude_hv = 1;
}

/*
 * A leader that traces, and members; all are kept, and any may be mapped.
 */
static int open_group(struct stress_actor *a, struct perf_event_attr *trace,
		      struct perf_event_attr *member, int members)
{
	int cpu = a->per_cpu ? (int)stress_random(a, STRESS_CPUS) : -1;
	pid_t pid = any_target(a);
	int leader, ret = 0;

	leader = open_attr(a, trace, pid, cpu, -1);
	if (leader < 0)
		return -errno;
	for (int i = 0; i < members && !ret; i++)
		ret = stress_keep(a, open_attr(a, &member[i], pid, cpu, leader));
	stress_keep(a, leader);
	return ret;
}

static int op_open_sampled(struct stress_actor *a)
{
	struct perf_event_attr trace, member;

	aux_attr(&trace);
	member = *a->cycles;
	member.sample_type |= PERF_SAMPLE_AUX;
	member.aux_sample_size = SAMPLE_SIZE;
	return open_group(a, &trace, &member, 1);
}

static int op_open_paused(struct stress_actor *a)
{
	struct perf_event_attr trace, members[2];

	aux_attr(&trace);
	aux_set_action(&trace, stress_random(a, 2) ? AUX_START_PAUSED : 0);
	members[0] = *a->cycles;
	aux_set_action(&members[0], AUX_PAUSE);
	members[1] = *a->cycles;
	members[1].sample_period = a->cycles->sample_period * 3 / 2;
	aux_set_action(&members[1], AUX_RESUME);
	return open_group(a, &trace, members, 2);
}

static int op_close(struct stress_actor *a)
{
	struct stress_slot *slot = stress_any_slot(a);
	int fd;

	slot->changes++;
	fd = atomic_exchange(&slot->fd, -1);
	if (fd >= 0)
		note_astray(a, slot);
	slot->changes++;
	return fd < 0 ? -EBADF : stress_result(close(fd));
}

/* The old mapping of that place goes: in any order, that is. */
static int map(struct stress_actor *a, struct stress_slot *slot, int index, unsigned long pages,
	       int prot, off_t offset)
{
	unsigned int changes = slot->changes;
	void *at;

	unmap(&slot->maps[index]);
	at = mmap(NULL, pages * PAGE, prot, MAP_SHARED, slot->fd, offset);
	if (at == MAP_FAILED)
		return -errno;
	stress_keep_map(a, slot, &slot->maps[index], (unsigned long)at | pages, changes);
	return 0;
}

/* One page of data is full at once. */
static int op_map_data(struct stress_actor *a)
{
	unsigned int order = stress_random(a, 2) ? 0 : stress_random(a, MAX_DATA_ORDER + 1);

	return map(a, stress_used_slot(a), 0, 1 + (1UL << order), PROT_READ | PROT_WRITE, 0);
}

/* Once more the same, elsewhere. */
static int op_map_data_again(struct stress_actor *a)
{
	struct stress_slot *slot = stress_used_slot(a);
	unsigned long pages = slot->maps[0] & PAGES_MASK;

	return map(a, slot, STRESS_MAPS - 1, pages ?: 2, PROT_READ, 0);
}

/* Where a field of the user page is. */
#define FIELD(page, name) ((page) + offsetof(struct perf_event_mmap_page, name))

/* An area of some size, or the one that there is. */
static int map_area(struct stress_actor *a, int prot)
{
	struct stress_slot *slot = stress_used_slot(a);
	unsigned long page = slot->maps[0] & ~PAGES_MASK, pages = slot->maps[0] & PAGES_MASK;
	__u64 size = 0;
	int ret;

	/* There has to be a buffer first. */
	if (!page)
		return map(a, slot, 0, 2, PROT_READ | PROT_WRITE, 0);
	ret = stress_get(a, FIELD(page, aux_size), &size);
	if (ret)
		return ret;
	if (!size || size > PAGE << MAX_AREA_ORDER || !stress_random(a, 4))
		size = PAGE << stress_random(a, MAX_AREA_ORDER + 1);
	ret = stress_put(a, FIELD(page, aux_offset), pages * PAGE);
	ret = ret ?: stress_put(a, FIELD(page, aux_size), size);
	return ret ?: map(a, slot, 1 + stress_random(a, STRESS_MAPS - 1), size / PAGE, prot,
			  pages * PAGE);
}

static int op_map_area(struct stress_actor *a)
{
	return map_area(a, PROT_READ | PROT_WRITE);
}

static int op_map_area_overwrite(struct stress_actor *a)
{
	return map_area(a, PROT_READ);
}

static int op_unmap(struct stress_actor *a)
{
	atomic_ulong *map = stress_used_map(a, stress_any_slot(a));
	unsigned long value = atomic_exchange(map, 0);

	return value ? stress_unmap_value(value) : -EFAULT;
}

/* Somewhere else in the address space: open() and close() of a mapping that lives. */
static int op_mremap(struct stress_actor *a)
{
	struct stress_slot *slot = stress_used_slot(a);
	atomic_ulong *map = stress_used_map(a, slot);
	unsigned int changes = slot->changes;
	unsigned long value = atomic_exchange(map, 0);
	size_t len = (value & PAGES_MASK) * PAGE;
	void *from = (void *)(value & ~PAGES_MASK), *to;
	int ret = 0;

	if (!value)
		return -EFAULT;
	to = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (to == MAP_FAILED) {
		ret = -errno;
		stress_keep_map(a, slot, map, value, changes);
		return ret;
	}
	if (mremap(from, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
		ret = -errno;
		stress_unmap_value((unsigned long)to | len / PAGE);
		to = from;
	}
	/* Without memory to unmap it there, it is in both places. A fuzzer uses none twice. */
	if (!ret && a->choose)
		stress_unmap_value((unsigned long)from | len / PAGE);
	stress_keep_map(a, slot, map, (unsigned long)to | len / PAGE, changes);
	return ret;
}

/* A page, or all that is there. */
static int op_touch(struct stress_actor *a)
{
	unsigned long value = *stress_used_map(a, stress_used_slot(a));
	unsigned long pages = value & PAGES_MASK, at = value & ~PAGES_MASK;
	bool all = !stress_random(a, 8);

	if (!value)
		return -EFAULT;
	if (!all)
		at += stress_random(a, pages) * PAGE;
	return stress_touch(a, at, all ? pages * PAGE : PAGE);
}

/* The reader has read all, and may enable what was full. */
static int op_consume(struct stress_actor *a)
{
	struct stress_slot *slot = stress_used_slot(a);
	unsigned long page = slot->maps[0] & ~PAGES_MASK;
	__u64 head;
	int ret;

	if (!page)
		return -EFAULT;
	ret = stress_get(a, FIELD(page, aux_head), &head);
	ret = ret ?: stress_put(a, FIELD(page, aux_tail), head);
	ret = ret ?: stress_get(a, FIELD(page, data_head), &head);
	ret = ret ?: stress_put(a, FIELD(page, data_tail), head);
	return ret ?: stress_result(ioctl(slot->fd, PERF_EVENT_IOC_ENABLE, 0));
}

/* As if the reader had read nothing for long: there is no room, whenever the event looks. */
static int op_fill(struct stress_actor *a)
{
	unsigned long page = stress_used_slot(a)->maps[0] & ~PAGES_MASK;
	__u64 head, size;
	int ret;

	if (!page)
		return -EFAULT;
	ret = stress_get(a, FIELD(page, aux_head), &head);
	ret = ret ?: stress_get(a, FIELD(page, aux_size), &size);
	return ret ?: stress_put(a, FIELD(page, aux_tail), head - size);
}

static int control(struct stress_actor *a, unsigned long request, unsigned long arg)
{
	return stress_result(ioctl(stress_used_slot(a)->fd, request, arg));
}

static int op_enable(struct stress_actor *a)
{
	return control(a, PERF_EVENT_IOC_ENABLE,
		       stress_random(a, 2) ? PERF_IOC_FLAG_GROUP : 0);
}

static int op_disable(struct stress_actor *a)
{
	return control(a, PERF_EVENT_IOC_DISABLE,
		       stress_random(a, 2) ? PERF_IOC_FLAG_GROUP : 0);
}

static int op_pause_output(struct stress_actor *a)
{
	return control(a, PERF_EVENT_IOC_PAUSE_OUTPUT, stress_random(a, 2));
}

/* A new event of some CPU, if there may be one, to the buffer of an event of that CPU. */
static int redirect_new(struct stress_actor *a, int to)
{
	struct perf_event_attr attr;
	int fd, ret = 0;

	if (stress_random(a, 2))
		aux_attr(&attr);
	else
		attr = *a->cycles;
	for (int cpu = 0; cpu < STRESS_CPUS; cpu++) {
		fd = open_attr(a, &attr, any_target(a), cpu, -1);
		ret = fd < 0 ? -errno : stress_result(ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, to));
		if (!ret)
			return stress_keep(a, fd);
		if (fd >= 0)
			close(fd);
	}
	return ret;
}

/* An event that is mapped stays with its buffer. */
static int op_set_output(struct stress_actor *a)
{
	struct stress_slot *from = stress_used_slot(a), *to = stress_used_slot(a);

	if (stress_random(a, 2))
		return redirect_new(a, to->fd);
	if (stress_random(a, 2))
		unmap_all(from);
	return stress_result(ioctl(from->fd, PERF_EVENT_IOC_SET_OUTPUT, to->fd));
}

static int op_unset_output(struct stress_actor *a)
{
	return control(a, PERF_EVENT_IOC_SET_OUTPUT, -1);
}

static int op_poll(struct stress_actor *a)
{
	struct pollfd file = { .fd = stress_used_slot(a)->fd, .events = POLLIN };

	return stress_result(poll(&file, 1, stress_random(a, 20)));
}

static int op_read(struct stress_actor *a)
{
	__u64 values[8];

	return stress_result(read(stress_used_slot(a)->fd, values, sizeof(values)));
}

static int op_work(struct stress_actor *a)
{
	aux_work(stress_random(a, WORK_ROUNDS));
	return 0;
}

static int op_pin(struct stress_actor *a)
{
	return stress_result(aux_pin(0, stress_random(a, STRESS_CPUS)));
}

/* The event lives on in another process, or in no process at all for a while. */
static int op_send(struct stress_actor *a)
{
	char control[CMSG_SPACE(sizeof(int))] = { }, byte = 0;
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int fd = stress_used_slot(a)->fd, ret;

	if (a->alone)
		return -EPERM;
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	ret = stress_result(sendmsg(a->mailbox[0], &message, MSG_DONTWAIT));
	a->astray |= !ret;
	return ret;
}

static int op_receive(struct stress_actor *a)
{
	char control[CMSG_SPACE(sizeof(int))] = { }, byte;
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *header;
	int fd;

	if (recvmsg(a->mailbox[1], &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return -errno;
	header = CMSG_FIRSTHDR(&message);
	if (!header)
		return -EBADF;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return stress_keep(a, fd);
}

static int op_enter_cgroup(struct stress_actor *a)
{
	return stress_enter(stress_random(a, STRESS_CGROUPS + 1));
}

const struct stress_op stress_ops[] = {
	{ "open",		op_open,		8 },
	{ "open-inherited",	op_open_inherited,	4 },
	{ "open-sampled",	op_open_sampled,	6, true },
	{ "open-paused",	op_open_paused,		4, true },
	{ "close",		op_close,		4 },
	{ "map-data",		op_map_data,		16 },
	{ "map-data-again",	op_map_data_again,	2 },
	{ "map-area",		op_map_area,		16 },
	{ "map-area-overwrite",	op_map_area_overwrite,	16 },
	{ "unmap",		op_unmap,		16 },
	{ "mremap",		op_mremap,		4 },
	{ "touch",		op_touch,		12 },
	{ "consume",		op_consume,		16 },
	{ "fill",		op_fill,		8 },
	{ "enable",		op_enable,		12 },
	{ "disable",		op_disable,		4 },
	{ "pause-output",	op_pause_output,	4 },
	{ "set-output",		op_set_output,		8 },
	{ "unset-output",	op_unset_output,	2 },
	{ "poll",		op_poll,		2 },
	{ "read",		op_read,		2 },
	{ "work",		op_work,		20 },
	{ "pin",		op_pin,			4 },
	{ "send",		op_send,		2 },
	{ "receive",		op_receive,		2 },
	{ "fork-and-map",	stress_fork_and_map,	2 },
	{ "exit-traced",	stress_exit_traced,	1 },
	{ "kill-traced",	stress_kill_traced,	1 },
	{ "exec-traced",	stress_exec_traced,	1 },
	{ "open-cgroup",	stress_open_cgroup,	6,	.cgroups = true },
	{ "enter-cgroup",	op_enter_cgroup,	6,	.cgroups = true },
	{ }
};

static unsigned int total_weight(void)
{
	unsigned int sum = 0;

	for (const struct stress_op *op = stress_ops; op->name; op++)
		sum += op->weight;
	return sum;
}

void stress_step(struct stress_actor *a)
{
	unsigned int at = stress_random(a, total_weight());
	unsigned int op = 0;

	while (at >= stress_ops[op].weight)
		at -= stress_ops[op++].weight;
	stress_count(a->counts, op, stress_ops[op].run(a));
}

void stress_close_all(struct stress_actor *a)
{
	for (struct stress_slot *slot = a->slots; slot < a->slots + STRESS_SLOTS; slot++) {
		unmap_all(slot);
		if (slot->fd >= 0)
			close(slot->fd);
		slot->fd = -1;
	}
}
