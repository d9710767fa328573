/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of AUX areas share: opening, mapping, reading, keeping busy. */
#ifndef AUX_UTIL_H
#define AUX_UTIL_H

#include <linux/capability.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* An event with its buffer; what is not mapped is NULL. */
struct aux_event {
	int fd;
	struct perf_event_mmap_page *page;
	size_t data_len;
	void *area;
	size_t area_len;
};

/* One record of the data buffer. */
struct aux_record {
	struct perf_event_header header;
	union {
		struct {
			__u64 offset, size, flags;
		} aux;
		struct {
			__u32 pid, tid;
		} itrace;
		struct {
			__u64 id, lost;
		} lost;
		char bytes[65536];
	};
};

/* What aux_drain() has seen in all. */
struct aux_log {
	unsigned int aux, itrace, lost, empty;
	/* AUX records that say TRUNCATED and nothing else */
	unsigned int dataless;
	/* what the last AUX record said; flags of all of them */
	__u64 offset, size, flags, flags_seen;
	/* AUX records so far cover everything from here to end without a hole */
	__u64 end;
	unsigned int holes;
	/* wakeups to expect: one for each record that passes a watermark or says TRUNCATED */
	__u64 watermark, crossings;
	__u32 pid, tid;
	/* an AUX record was seen before the first ITRACE_START */
	bool early;
};

#define AUX_PARANOID	"/proc/sys/kernel/perf_event_paranoid"

size_t aux_page_size(void);
/* Choose the PMU that is tested: aux_synth if none is chosen. Of the whole process */
void aux_use(const char *pmu);
const char *aux_pmu_name(void);
bool aux_has_arguments(void);
/* Whether this machine has a PMU that is tested. */
bool aux_has_pmu(void);
/* perf_event_attr::type of the PMU, or of another one by name; -1 where there is none. */
int aux_pmu_type(void);
int aux_type_of(const char *pmu);

/* User space only, disabled at first. */
void aux_attr(struct perf_event_attr *attr);
int aux_open(struct perf_event_attr *attr, pid_t pid, int cpu);
int aux_open_in_group(struct perf_event_attr *attr, pid_t pid, int cpu, int leader);

/* Set what ATTR counts: an event of the hardware; or time, if no counter counts that event. */
void aux_count(struct perf_event_attr *attr, __u64 hw_event);

/*
 * An event that overflows each so many instructions of user space; or so many
 * nanoseconds of it, where no counter counts instructions.
 */
void aux_sampler_attr(struct perf_event_attr *attr, __u64 period);

/*
 * perf_event_attr::aux_action, which older headers do not have. Its bit fields begin
 * at the other end where the byte order does.
 */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define AUX_START_PAUSED	0x00000001
#define AUX_PAUSE		0x00000002
#define AUX_RESUME		0x00000004
/* The first bit that has no meaning */
#define AUX_NO_ACTION		0x00000008
#else
#define AUX_START_PAUSED	0x80000000
#define AUX_PAUSE		0x40000000
#define AUX_RESUME		0x20000000
#define AUX_NO_ACTION		0x10000000
#endif
void aux_set_action(struct perf_event_attr *attr, __u32 action);

/* These return 0 or -errno. */
/* An event and its data buffer; NULL: an event as aux_attr() says. */
int aux_open_mapped(struct aux_event *event, struct perf_event_attr *attr, pid_t pid, int cpu,
		    unsigned int data_pages);
int aux_map_data(struct aux_event *event, unsigned int pages);
int aux_map_area(struct aux_event *event, size_t len, int prot);
/* The area, without touching the user page; MAP_FAILED with errno. */
void *aux_map_raw(struct aux_event *event, __u64 offset, size_t len, int prot, int flags);
void aux_unmap_area(struct aux_event *event);
void aux_unmap(struct aux_event *event);
void aux_close(struct aux_event *event);

int aux_enable(struct aux_event *event);
int aux_disable(struct aux_event *event);

__u64 aux_head(struct aux_event *event);
void aux_set_tail(struct aux_event *event, __u64 tail);
/* The same of the data buffer. */
__u64 aux_data_head(struct aux_event *event);
void aux_set_data_tail(struct aux_event *event, __u64 tail);
/* What an event has counted; 0 if it is in error. */
__u64 aux_count_of(int fd);
/* perf_event_attr::read_format must be TOTAL_TIME_ENABLED. */
__u64 aux_time_enabled(struct aux_event *event);

/* Take the next record, if there is one. What is beyond its size is left as it was. */
bool aux_next(struct aux_event *event, struct aux_record *record);
/* Take the next record up to a head; behind it, records may come faster than they are taken. */
bool aux_next_before(struct aux_event *event, __u64 head, struct aux_record *record);
/* What a record tells */
void aux_note(struct aux_event *event, struct aux_log *log, const struct aux_record *record);
/* Take all records there are now. */
void aux_drain(struct aux_event *event, struct aux_log *log);

/*
 * Read on: take all records and data there are, and enable the event if the last record said that
 * the area was full. What a test has disabled otherwise stays so.
 */
void aux_read_on(struct aux_event *event, struct aux_log *log);

/* Whether so much of a trace has what each trace has now and then. */
bool aux_has_trace(const void *data, size_t size);

/* A byte as it is now; the page is touched for sure. */
char aux_peek(const char *at);

/* Many branches, direct and indirect; or time passes, if that is what the PMU traces. */
void aux_work(unsigned int rounds);
/* Enable the event, work so much, and disable it. Returns aux_head then. */
__u64 aux_trace(struct aux_event *event, unsigned int rounds);
/*
 * Work until aux_head stands still, or has moved by twice the size of the area, which no
 * kernel should let it without a reader. Returns its value then.
 */
__u64 aux_fill(struct aux_event *event);

/*
 * Number N, from 0 on, of the CPUs on which this process could run when it first asked, as it may
 * be in a cpuset; -1 if there are fewer.
 */
int aux_cpu(unsigned int n);
int aux_pin(pid_t pid, int cpu);
/* 0 or -errno, as those below */
int aux_write_file(const char *path, const char *text);
/* Take CPU 1 off, or put it back. */
int aux_switch_cpu_1(bool on);
/*
 * Have TEXT, or if that is NULL what it has now, written to a file when the caller ends, even if it
 * is killed; once for each file. It first waits until what was so left by others is written.
 */
int aux_restore_at_end(const char *path, const char *text);
/* ... so that CPU 1 is on again. */
int aux_restore_cpu_1_at_end(void);
/*
 * Set the sysctl perf_event_max_sample_rate to @rate until the caller ends. The kernel may lower
 * it further if a sample takes long. 0 or -errno
 */
int aux_limit_samples(unsigned int rate);
/*
 * Why events cannot overflow some 50 times in a tick here, or NULL. Sets both sysctls of samples
 * until the caller ends, if it may.
 */
const char *aux_missing_rate(void);
/* A child that works forever on a CPU, -1: on any that the caller may run on. */
pid_t aux_worker(int cpu);
/* What a child says, which becomes that user and may do so in any way; -1 if it says nothing. */
long long aux_ask_child(long long (*answer)(uid_t uid), uid_t uid);
void aux_end_worker(pid_t pid);
/* A number from /proc/PID/status, or -1. */
long long aux_status(pid_t pid, const char *key);
/* The number in a file; 0 where there is none. */
long aux_read_number(const char *path);
/* Bytes that perf_event_mlock_kb grants to each user. */
size_t aux_allowance(void);
/* The smallest area that is larger than that */
size_t aux_beyond_allowance(void);
long aux_minor_faults(void);
double aux_seconds(void);

/* Whether root may not see the kernel's secrets; false if securityfs is not mounted. */
bool aux_is_locked_down(void);

/* Whether this process has a capability, of linux/capability.h. */
bool aux_has_cap(int cap);
/* Become that user, in no other group; 0 or -errno. */
int aux_become(uid_t uid);
int aux_set_paranoid(int level);

/* The driver skips the end of an area, and wakes the reader for that, too. */
bool aux_skips(void);

/*
 * The trace of a task's user space has addresses of the kernel, so to open the event takes
 * the right to trace the kernel.
 */
bool aux_tells_of_kernel(void);

/* How much is traced depends on the time that passes, not on what is executed meanwhile. */
bool aux_by_time(void);

/* Why the tests of this file cannot be made here, or NULL. */
const char *aux_missing(void);
/* ... of a CPU */
const char *aux_missing_cpu(void);
/* Why not even an event of software can be opened here, or NULL. */
const char *aux_missing_events(void);
/* ... for those that become other users. */
const char *aux_missing_become(void);
/* ... for those in which users without rights trace, which may have to lock memory. */
const char *aux_missing_users(void);
/* ... for those in which other events pause the trace. */
const char *aux_missing_pause(void);
/* ... for those in which they have it in samples. */
const char *aux_missing_samples(void);
/* ... for those in which CPU 1 goes off. */
const char *aux_missing_hotplug(void);

#endif
