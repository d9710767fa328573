// SPDX-License-Identifier: GPL-2.0-only
/* The fuzzer of AUX areas: operations whose values no program means. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "aux_fuzz.h"
#include "aux_stress.h"
#include "aux_util.h"

#define PAGE		aux_page_size()
#define COUNT(array)	STRESS_COUNT(array)
/* Flags of perf_event_attr, bits of its sample_type and of its read_format, so far */
#define ATTR_FLAGS	41
/* With big endian, the bit fields of struct perf_event_attr begin at the other end of the word. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FLAG_AT(nr)	(nr)
#else
#define FLAG_AT(nr)	(63 - (nr))
#endif
#define SAMPLE_BITS	26
#define FORMAT_BITS	6
#define MAX_PAGES	1100
#define BRANCH_BITS	20
#define CLOCKS		12
#define OFFLINE_USEC	20000
/* Programs that an ioctl may name to a buffer of 64 bytes */
#define QUERY_IDS	13

/* Values that are next to what code compares with. */
static const __u64 odd_values[] = {
	0, 1, 2, 7, 8, 63, 64, 4095, 4096, 4097, 8192, 65528, 65535, 65536, 1 << 20,
	0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
	0x8000000000000000, 0xfffffffffffff000, 0xffffffffffffffff,
};

static __u64 odd_value(struct stress_actor *a)
{
	return odd_values[stress_random(a, COUNT(odd_values))];
}

/* Up to MOST bits among the lowest COUNT, but none in one half of all cases. */
static __u64 some_bits(struct stress_actor *a, unsigned int most, unsigned int count)
{
	unsigned int wanted = stress_random(a, 2) ? stress_random(a, most + 1) : 0;
	__u64 bits = 0;

	while (wanted--)
		bits |= 1ULL << stress_random(a, count);
	return bits;
}

/* Types that are no AUX PMU's */
static const char * const other_pmus[] = { "kprobe", "uprobe", "msr" };

/* Before the operations: then, reading files may be what fails. */
void fuzz_find_pmus(void)
{
	for (size_t i = 0; i < COUNT(other_pmus); i++)
		aux_type_of(other_pmus[i]);
}

static void set_event(struct stress_actor *a, struct perf_event_attr *attr)
{
	static const char * const pmus[] = {
		"intel_pt", "intel_bts", "aux_synth", "aux_synth_large", "aux_synth_no_sg",
	};
	static const __u64 software[] = {
		PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_DUMMY, PERF_COUNT_SW_CPU_MIGRATIONS,
	};
	unsigned int kind = stress_random(a, 13);

	if (kind < 6) {
		aux_attr(attr);
		/* Where time decides how much is traced, not so much that nothing else runs. */
		attr->config |= aux_by_time() ? some_bits(a, 2, 16) << 32 : some_bits(a, 2, 32);
		attr->config2 = some_bits(a, 1, 16);
	} else if (kind < 8) {
		attr->type = aux_type_of(pmus[stress_random(a, COUNT(pmus))]);
	} else if (kind < 9) {
		*attr = *a->cycles;
	} else if (kind < 11) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = software[stress_random(a, COUNT(software))];
	} else if (kind < 12) {
		attr->type = aux_type_of(other_pmus[stress_random(a, COUNT(other_pmus))]);
		attr->config = odd_value(a);
		attr->config1 = odd_value(a);
	} else {
		attr->type = PERF_TYPE_BREAKPOINT;
		attr->bp_type = HW_BREAKPOINT_W;
		attr->bp_len = HW_BREAKPOINT_LEN_4;
		attr->bp_addr = (unsigned long)&odd_values & ~7UL;
	}
}

/* What events with an AUX area have least to do with: one at a time, now and then. */
static void set_one(struct stress_actor *a, struct perf_event_attr *attr)
{
	/* Where structures of older headers end, and next to it */
	static const __u32 lengths[] = { 0, 1, 63, 64, 65, 72, 80, 96, 104, 112, 120, 128, 136 };

	switch (stress_random(a, 48)) {
	case 0:
		attr->size = lengths[stress_random(a, COUNT(lengths))];
		if (attr->size > sizeof(*attr))
			attr->size = sizeof(*attr);
		break;
	case 1:
		attr->wakeup_events = odd_value(a);
		break;
	case 2:
		attr->config1 ^= odd_value(a);
		break;
	case 3:
		attr->config2 ^= odd_value(a);
		break;
	case 4:
		attr->branch_sample_type = some_bits(a, 4, BRANCH_BITS);
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		break;
	case 5:
		attr->sample_regs_user = odd_value(a);
		break;
	case 6:
		attr->sample_regs_intr = odd_value(a);
		break;
	case 7:
		attr->sample_stack_user = odd_value(a);
		break;
	case 8:
		attr->use_clockid = 1;
		attr->clockid = stress_random(a, CLOCKS);
		break;
	case 9:
		attr->sample_max_stack = odd_value(a);
		break;
	case 10:
		attr->sig_data = odd_value(a);
		break;
#ifdef PERF_ATTR_SIZE_VER8
	case 11:
		attr->config3 = odd_value(a);
		break;
#endif
#ifdef PERF_ATTR_SIZE_VER9
	case 12:
		attr->config4 = odd_value(a);
		break;
#endif
	}
}

static __u64 some_flags(struct stress_actor *a)
{
	__u64 bits = some_bits(a, 3, ATTR_FLAGS), flags = 0;

	for (unsigned int i = 0; i < ATTR_FLAGS; i++)
		flags |= (bits >> i & 1) << FLAG_AT(i);
	return flags;
}

static void set_rest(struct stress_actor *a, struct perf_event_attr *attr)
{
	static const __u32 sizes[] = { 0, 1, 8, 64, 2048, 4096, 65528, 65535, 0x80000000 };
	static const __u64 periods[] = { 0, 1000, 50000, 1000000 };
	__u64 *flags = (__u64 *)((char *)attr + offsetof(struct perf_event_attr, read_format) +
				 sizeof(attr->read_format));

	attr->size = sizeof(*attr);
	/* First, as the choices may be used up before the last. */
	set_one(a, attr);
	*flags ^= some_flags(a);
	attr->sample_type |= some_bits(a, 3, SAMPLE_BITS);
	attr->read_format = some_bits(a, 2, FORMAT_BITS);
	/* Not of each event, or the machine does nothing else. */
	if (attr->type != PERF_TYPE_SOFTWARE || attr->config < PERF_COUNT_SW_PAGE_FAULTS)
		attr->sample_period = periods[stress_random(a, COUNT(periods))];
	attr->aux_watermark = stress_random(a, 2) ? odd_value(a) : 0;
	attr->aux_sample_size = stress_random(a, 3) ? 0 : sizes[stress_random(a, COUNT(sizes))];
	if (!stress_random(a, 4))
		aux_set_action(attr, 1U << stress_random(a, 32));
}

int fuzz_open_any(struct stress_actor *a)
{
	struct perf_event_attr attr = { };
	int leader = stress_random(a, 2) ? stress_used_slot(a)->fd : -1;
	int cpu = (int)stress_random(a, STRESS_CPUS + 2) - 1;
	pid_t pid = a->per_cpu || !stress_random(a, 4) ? -1 : stress_traced_task(a);

	set_event(a, &attr);
	set_rest(a, &attr);
	return stress_keep(a, syscall(SYS_perf_event_open, &attr, pid, cpu, leader,
				      (unsigned long)some_bits(a, 2, 4)));
}

/* Names of programs that the event runs, or other attributes for it, by way of memory */
static int ioctl_memory(struct stress_actor *a, int fd)
{
	struct perf_event_attr attr = { };
	__u32 query[16] = { };

	if (stress_random(a, 2)) {
		query[0] = stress_random(a, QUERY_IDS);
		return stress_result(ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, query));
	}
	set_event(a, &attr);
	set_rest(a, &attr);
	return stress_result(ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr));
}

int fuzz_ioctl_any(struct stress_actor *a)
{
	static const unsigned long requests[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_REFRESH,
		PERF_EVENT_IOC_RESET, PERF_EVENT_IOC_SET_OUTPUT, PERF_EVENT_IOC_SET_BPF,
		PERF_EVENT_IOC_PAUSE_OUTPUT,
	};
	int fd = stress_used_slot(a)->fd;
	unsigned long request = requests[stress_random(a, COUNT(requests))];
	__u64 value = odd_value(a);

	switch (stress_random(a, 6)) {
	case 0:
		return stress_result(ioctl(fd, PERF_EVENT_IOC_PERIOD, &value));
	case 1:
		return stress_result(ioctl(fd, PERF_EVENT_IOC_ID, &value));
	case 2:
		return ioctl_memory(a, fd);
	default:
		return stress_result(ioctl(fd, request, stress_random(a, 2) ? value : 1));
	}
}

/*
 * Append a definition, "ACTION PLACE," as far as there is room. Most are well formed, and
 * "filter 16/16@/proc/self/exe," is one of them if each choice is 0.
 * Return: what is appended, in bytes
 */
static size_t add_filter(struct stress_actor *a, char *text, size_t room)
{
	static const char * const actions[] = {
		"filter", "start", "stop", "tracestop", "common_pid ==", "",
	};
	static const char * const places[] = {
		"16/16@/proc/self/exe", "0/1@/proc/self/exe", "4096/4096@/proc/self/exe",
		"0xffffffff81000000/0x100000", "0xffffffff81001000/4",
		"0", "16@/proc/self/exe", "0/0", "/16", "16/", "-1/1", "0x/16", "0/0@",
		"0/4096@/proc", "0/4096@/nonexistent", "0xffffffffffffffff/2",
		"0x1ffffffffffffffff/16",
	};
	/* The first ones of each are well formed. */
	static const unsigned int fit_actions = 3, fit_places = 5;
	bool fits = stress_random(a, 8) < 7;
	const char *action = actions[stress_random(a, fits ? fit_actions : COUNT(actions))];
	const char *place = places[stress_random(a, fits ? fit_places : COUNT(places))];
	int len = snprintf(text, room, "%s %s,", action, place);

	return (size_t)len < room ? (size_t)len : room - 1;
}

int fuzz_set_filter(struct stress_actor *a)
{
	int fd = stress_used_slot(a)->fd;
	unsigned int count = stress_random(a, 4) < 3 ? 1 : stress_random(a, 6);
	char text[256] = "";
	size_t len = 0;

	while (count--)
		len += add_filter(a, text + len, sizeof(text) - len);
	return stress_result(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, text));
}

/* One of the fields that the reader writes, or anything else. */
int fuzz_scribble(struct stress_actor *a)
{
	static const size_t fields[] = {
		offsetof(struct perf_event_mmap_page, data_tail),
		offsetof(struct perf_event_mmap_page, data_head),
		offsetof(struct perf_event_mmap_page, data_offset),
		offsetof(struct perf_event_mmap_page, data_size),
		offsetof(struct perf_event_mmap_page, aux_head),
		offsetof(struct perf_event_mmap_page, aux_tail),
		offsetof(struct perf_event_mmap_page, aux_offset),
		offsetof(struct perf_event_mmap_page, aux_size),
	};
	unsigned long page = stress_used_slot(a)->maps[0] & ~PAGES_MASK;
	size_t offset;

	if (!page)
		return -EFAULT;
	if (stress_random(a, 8))
		offset = fields[stress_random(a, COUNT(fields))];
	else
		offset = 8 * stress_random(a, 4096 / 8);
	return stress_put(a, page + offset, odd_value(a));
}

static int any_protection(struct stress_actor *a)
{
	static const int all[] = { PROT_READ | PROT_WRITE, PROT_READ, PROT_WRITE, PROT_NONE,
				   PROT_READ | PROT_EXEC };

	return all[stress_random(a, COUNT(all))];
}

static unsigned long any_pages(struct stress_actor *a)
{
	unsigned long order = 1UL << stress_random(a, 11);

	return stress_random(a, 2) ? order : order + stress_random(a, 3) - 1;
}

int fuzz_map_any(struct stress_actor *a)
{
	struct stress_slot *slot = stress_used_slot(a);
	unsigned long pages = any_pages(a);
	off_t offset = stress_random(a, 2) ? 0 : any_pages(a) * PAGE;
	int flags = stress_random(a, 8) ? MAP_SHARED : MAP_PRIVATE;
	int protection = any_protection(a);
	unsigned int changes = slot->changes;
	void *at;

	if (!pages || pages > MAX_PAGES)
		return -EINVAL;
	flags |= stress_random(a, 8) ? 0 : MAP_POPULATE;
	flags |= stress_random(a, 16) ? 0 : MAP_LOCKED;
	at = mmap(NULL, pages * PAGE, protection, flags, slot->fd, offset);
	if (at == MAP_FAILED)
		return -errno;
	stress_keep_map(a, slot, &slot->maps[0], (unsigned long)at | pages, changes);
	return 0;
}

/* All of a mapping, or some pages of it; false: there is none. */
static bool any_range(struct stress_actor *a, char **at, size_t *len)
{
	unsigned long map = *stress_used_map(a, stress_used_slot(a));
	unsigned long pages = map & PAGES_MASK, skipped = 0;

	if (!map)
		return false;
	if (stress_random(a, 2)) {
		skipped = stress_random(a, pages);
		pages = 1 + stress_random(a, pages - skipped);
	}
	*at = (char *)(map & ~PAGES_MASK) + skipped * PAGE;
	*len = pages * PAGE;
	return true;
}

int fuzz_protect(struct stress_actor *a)
{
	size_t len;
	char *at;

	if (!any_range(a, &at, &len))
		return -EFAULT;
	return stress_result(mprotect(at, len, any_protection(a)));
}

/* A mapping is made smaller, larger, or is mapped again; where it came to is not kept. */
int fuzz_remap_any(struct stress_actor *a)
{
	size_t len, new_len = any_pages(a) * PAGE;
	bool again = !stress_random(a, 3);
	char *at, *to;

	if (!any_range(a, &at, &len) || !new_len)
		return -EFAULT;
	to = mremap(at, again ? 0 : len, new_len, stress_random(a, 2) ? MREMAP_MAYMOVE : 0);
	if (to == MAP_FAILED)
		return -errno;
	/* If it was not moved, it is as long as before, or the rest goes with its slot. */
	if (to != at)
		stress_unmap_value((unsigned long)to | new_len / PAGE);
	return 0;
}

/* The rest of it goes with its slot. */
int fuzz_unmap_part(struct stress_actor *a)
{
	size_t len;
	char *at;

	if (!any_range(a, &at, &len))
		return -EFAULT;
	return stress_result(munmap(at, len));
}

int fuzz_advise(struct stress_actor *a)
{
	static const int advices[] = { MADV_DONTNEED, MADV_REMOVE, MADV_DONTFORK, MADV_DOFORK,
				       MADV_WILLNEED, MADV_FREE, MADV_PAGEOUT, MADV_DONTDUMP };
	size_t len;
	char *at;

	if (!any_range(a, &at, &len))
		return -EFAULT;
	if (!stress_random(a, 4))
		return stress_result(mlock(at, len));
	return stress_result(madvise(at, len, advices[stress_random(a, COUNT(advices))]));
}

/* A pipe holds references to pages of the buffer, while it goes perhaps. */
int fuzz_pin_pages(struct stress_actor *a)
{
	struct iovec range;
	int ends[2], ret;
	char *at;

	if (!any_range(a, &at, &range.iov_len))
		return -EFAULT;
	range.iov_base = at;
	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC))
		return -errno;
	ret = stress_result(vmsplice(ends[1], &range, 1, SPLICE_F_NONBLOCK));
	if (!ret && stress_random(a, 2))
		munmap(at, range.iov_len);
	close(ends[0]);
	close(ends[1]);
	return ret;
}

int fuzz_duplicate(struct stress_actor *a)
{
	return stress_keep(a, fcntl(stress_used_slot(a)->fd, F_DUPFD_CLOEXEC, 0));
}

/* A wakeup is a signal, too. */
int fuzz_signal(struct stress_actor *a)
{
	int fd = stress_used_slot(a)->fd;

	signal(SIGIO, SIG_IGN);
	if (fcntl(fd, F_SETOWN, getpid()))
		return -errno;
	if (fcntl(fd, F_SETFL, stress_random(a, 3) ? O_ASYNC | O_NONBLOCK : 0))
		return -errno;
	return stress_result(ioctl(fd, PERF_EVENT_IOC_REFRESH, 1 + stress_random(a, 2)));
}

/* Off and on: where this goes on beside others, each time the event is started anew. */
int fuzz_toggle(struct stress_actor *a)
{
	int fd = stress_used_slot(a)->fd;
	int ret = stress_result(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));

	return ret ?: stress_result(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
}

int fuzz_task_events(struct stress_actor *a)
{
	return stress_result(prctl(stress_random(a, 3) ? PR_TASK_PERF_EVENTS_ENABLE :
							 PR_TASK_PERF_EVENTS_DISABLE));
}

/* A CPU goes, for a short while; seldom, as that takes as long as many other operations. */
int fuzz_hotplug(struct stress_actor *a)
{
	int ret;

	if (stress_random(a, 64) != 1)
		return -EAGAIN;
	ret = aux_switch_cpu_1(false);
	if (ret)
		return ret;
	usleep(stress_random(a, OFFLINE_USEC));
	return aux_switch_cpu_1(true);
}

static const struct stress_op wild_ops[] = {
	{ "open-any",		fuzz_open_any,		24 },
	{ "ioctl-any",		fuzz_ioctl_any,		8 },
	{ "set-filter",		fuzz_set_filter,	4 },
	{ "scribble",		fuzz_scribble,		8 },
	{ "map-any",		fuzz_map_any,		8 },
	{ "protect",		fuzz_protect,		4 },
	{ "remap-any",		fuzz_remap_any,		4 },
	{ "unmap-part",		fuzz_unmap_part,	4 },
	{ "advise",		fuzz_advise,		4 },
	{ "pin-pages",		fuzz_pin_pages,		2 },
	{ "duplicate",		fuzz_duplicate,		4 },
	{ "signal",		fuzz_signal,		2 },
	{ "toggle",		fuzz_toggle,		4 },
	{ "task-events",	fuzz_task_events,	2 },
	{ "hotplug",		fuzz_hotplug,		1 },
	{ "open-tracepoint",	fuzz_open_tracepoint,	6 },
	{ "set-program",	fuzz_set_program,	8 },
	{ "hook-tracepoint",	fuzz_hook_tracepoint,	2 },
};

const struct stress_op *fuzz_op(unsigned int op)
{
	static unsigned int of_stress;

	while (stress_ops[of_stress].name)
		of_stress++;
	if (op < of_stress)
		return &stress_ops[op];
	return op - of_stress < STRESS_COUNT(wild_ops) ? &wild_ops[op - of_stress] : NULL;
}
