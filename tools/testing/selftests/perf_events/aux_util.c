// SPDX-License-Identifier: GPL-2.0-only
/* What the tests of AUX areas share. */
#define _GNU_SOURCE
/* A file offset does not fit a long where that has 32 bits. */
#define _FILE_OFFSET_BITS 64
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "aux_util.h"

#define CPU_1_ONLINE	"/sys/devices/system/cpu/cpu1/online"

/* Bytes of a record of BTS */
#define BTS_RECORD	24
/* The interrupt comes 4080 bytes before the end; what is left of two records is skipped, too */
#define BTS_MOST_PADDING	(4080 + 2 * BTS_RECORD)

long aux_read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	long number = 0;

	if (file && fscanf(file, "%ld", &number) != 1)
		number = 0;
	if (file)
		fclose(file);
	return number;
}

size_t aux_page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

static int read_type(const char *pmu)
{
	char path[256];
	int type = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	file = fopen(path, "r");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &type) != 1)
		type = -1;
	fclose(file);
	return type;
}

/* Each is read once by each thread. */
int aux_type_of(const char *pmu)
{
	static __thread struct {
		char name[32];
		int type;
	} known[8];

	for (int i = 0; i < 8; i++) {
		if (!strcmp(known[i].name, pmu))
			return known[i].type;
		if (known[i].name[0])
			continue;
		known[i].type = read_type(pmu);
		snprintf(known[i].name, sizeof(known[i].name), "%s", pmu);
		return known[i].type;
	}
	return read_type(pmu);
}

/* The PMU that is tested */
static char pmu_name[32] = "aux_synth";

void aux_use(const char *pmu)
{
	snprintf(pmu_name, sizeof(pmu_name), "%s", pmu);
}

const char *aux_pmu_name(void)
{
	return pmu_name;
}

/* Not of every C library do constructors get the arguments. */
bool aux_has_arguments(void)
{
	FILE *file = fopen("/proc/self/cmdline", "r");
	unsigned int ends = 0;
	int byte;

	if (!file)
		return false;
	while ((byte = fgetc(file)) != EOF)
		ends += !byte;
	fclose(file);
	return ends > 1;
}

bool aux_has_pmu(void)
{
	return aux_type_of("aux_synth") >= 0 || aux_type_of("intel_pt") >= 0 ||
	       aux_type_of("intel_bts") >= 0;
}

int aux_pmu_type(void)
{
	return aux_type_of(aux_pmu_name());
}

/* A PMU without hardware: packets of 64 bytes, as many as time passes. */
static bool is_synth(void)
{
	return !strncmp(aux_pmu_name(), "aux_synth", strlen("aux_synth"));
}

/* Branch Trace Store: records of 24 bytes, which no others share or stop. */
static bool is_bts(void)
{
	return !strcmp(aux_pmu_name(), "intel_bts");
}

static int try_open(void)
{
	struct perf_event_attr attr;
	int fd;

	aux_attr(&attr);
	fd = aux_open(&attr, 0, -1);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

bool aux_has_cap(int cap)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long long caps = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file) && sscanf(line, "CapEff: %llx", &caps) != 1)
		;
	if (file)
		fclose(file);
	return caps >> cap & 1;
}

static bool may_trace(void)
{
	return aux_has_cap(CAP_PERFMON) || aux_has_cap(CAP_SYS_ADMIN);
}

int aux_become(uid_t uid)
{
	return setgroups(0, NULL) || setresuid(uid, uid, uid) ? -errno : 0;
}

/* If a process with all rights is refused for no reason, the tests must fail. */
static bool is_for_want_of_rights(int ret)
{
	return (ret == -EACCES || ret == -EPERM) &&
	       (!may_trace() || (is_synth() && aux_is_locked_down()));
}

/* Why no event of the PMU can be opened. Return: the reason's length, 0 if there is none */
static int find_reason(char *reason, size_t size)
{
	int ret;

	if (aux_pmu_type() < 0)
		return snprintf(reason, size, "no PMU %s; %s", aux_pmu_name(), is_synth() ?
				"it is CONFIG_PERF_AUX_SYNTH, or modprobe perf_aux_synth" :
				"this machine does not have it");
	ret = try_open();
	if (is_for_want_of_rights(ret))
		return snprintf(reason, size, "%s needs CAP_PERFMON, %s", aux_pmu_name(),
				is_synth() ? "and a kernel that is not locked down" :
					     "or a lower perf_event_paranoid");
	return 0;
}

const char *aux_missing(void)
{
	/* Of each thread, for the PMU of which it was asked last */
	static __thread char asked[32], reason[160];

	if (strcmp(asked, aux_pmu_name())) {
		snprintf(asked, sizeof(asked), "%s", aux_pmu_name());
		if (!find_reason(reason, sizeof(reason)))
			reason[0] = '\0';
	}
	return reason[0] ? reason : NULL;
}

int aux_set_paranoid(int level)
{
	char text[16];

	snprintf(text, sizeof(text), "%d\n", level);
	return aux_write_file(AUX_PARANOID, text);
}

const char *aux_missing_cpu(void)
{
	if (!may_trace() && aux_read_number(AUX_PARANOID) > 0)
		return "a CPU's events need CAP_PERFMON, or a lower perf_event_paranoid";
	return aux_missing();
}

/* From 3 on, some distributions let users without rights open no event. */
const char *aux_missing_events(void)
{
	if (!may_trace() && aux_read_number(AUX_PARANOID) > 2)
		return "events need CAP_PERFMON, or a lower perf_event_paranoid";
	return NULL;
}

bool aux_skips(void)
{
	return is_bts();
}

bool aux_tells_of_kernel(void)
{
	return is_bts();
}

/*
 * Its config: a packet each 50 microseconds. While an emulated machine stands still for
 * some milliseconds, time passes: that must not fill an area that is meant to have room.
 */
#define SYNTH_CONFIG	(50 | 1ULL << 20)
/* Nanoseconds that stand for a round of work */
#define SYNTH_ROUND	200

bool aux_by_time(void)
{
	return is_synth();
}

const char *aux_missing_become(void)
{
	if (!aux_has_cap(CAP_SETUID) || !aux_has_cap(CAP_SETGID))
		return "to become another user needs CAP_SETUID and CAP_SETGID";
	return aux_missing();
}

const char *aux_missing_users(void)
{
	if (aux_missing_become())
		return aux_missing_become();
	if (!aux_has_cap(CAP_SYS_RESOURCE))
		return "to raise a limit of locked memory needs CAP_SYS_RESOURCE";
	if (is_synth())
		return "without CAP_PERFMON, nobody may open events of aux_synth";
	/* From 3 on, some distributions let users without rights trace nothing. */
	if (aux_read_number(AUX_PARANOID) > (is_bts() ? 1 : 2))
		return "perf_event_paranoid lets nobody without CAP_PERFMON trace with this PMU";
	return aux_missing();
}

/* Kernels before aux_action refuse each attribute that has it. */
const char *aux_missing_pause(void)
{
	struct perf_event_attr attr;
	int fd, error;

	if (is_bts())
		return "intel_bts is not paused, and not in samples";
	if (aux_missing())
		return aux_missing();
	aux_attr(&attr);
	aux_set_action(&attr, AUX_START_PAUSED);
	fd = aux_open(&attr, 0, -1);
	error = errno;
	if (fd >= 0)
		close(fd);
	return fd < 0 && error == EINVAL ? "this kernel's events do not pause others" : NULL;
}

/* Whether perf_aux_synth was built apart from the kernel, of which the module's taint tells */
static bool is_foreign_synth(void)
{
	FILE *file = fopen("/sys/module/perf_aux_synth/taint", "r");
	char taint[32] = "";

	if (!file)
		return false;
	if (!fgets(taint, sizeof(taint), file))
		taint[0] = '\0';
	fclose(file);
	return is_synth() && strchr(taint, 'O');
}

static bool samples_are_refused(void)
{
	struct perf_event_attr attr;
	int leader, fd, error;

	aux_attr(&attr);
	leader = aux_open(&attr, 0, -1);
	aux_sampler_attr(&attr, 1);
	attr.sample_type = PERF_SAMPLE_AUX;
	attr.aux_sample_size = 64;
	fd = aux_open_in_group(&attr, 0, -1, leader);
	error = errno;
	if (fd >= 0)
		close(fd);
	if (leader >= 0)
		close(leader);
	return leader >= 0 && fd < 0 && error == EINVAL;
}

/* Kernels that do not know perf_aux_synth may export nothing that writes to a sample. */
const char *aux_missing_samples(void)
{
	if (is_bts())
		return "intel_bts is not paused, and not in samples";
	if (!aux_missing() && is_foreign_synth() && samples_are_refused())
		return "perf_aux_synth was built apart from this kernel, and is not in samples";
	return aux_missing();
}

const char *aux_missing_hotplug(void)
{
	if (access(CPU_1_ONLINE, W_OK))
		return "no CPU that can be taken off";
	return aux_missing();
}

void aux_read_on(struct aux_event *event, struct aux_log *log)
{
	aux_drain(event, log);
	aux_set_tail(event, aux_head(event));
	/* Again if need be: the kernel may disable it only after it has written the record. */
	if (log->flags & PERF_AUX_FLAG_TRUNCATED)
		aux_enable(event);
}

/* intel_pt: PSB; aux_synth: the first word of each packet; intel_bts: any byte */
bool aux_has_trace(const void *data, size_t size)
{
	static const unsigned char psb[16] = {
		0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
		0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	};
	static const __u32 magic = 0x53585541;

	if (is_bts()) {
		for (size_t i = 0; i < size; i++) {
			if (((const char *)data)[i])
				return true;
		}
		return false;
	}
	return is_synth() ? memmem(data, size, &magic, sizeof(magic)) :
			    memmem(data, size, psb, sizeof(psb));
}

void aux_attr(struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = aux_pmu_type();
	attr->config = is_synth() ? SYNTH_CONFIG : 0;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	attr->disabled = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
}

void aux_count(struct perf_event_attr *attr, __u64 hw_event)
{
	int fd;

	attr->type = PERF_TYPE_HARDWARE;
	attr->config = hw_event;
	fd = aux_open(attr, 0, -1);
	if (fd >= 0) {
		close(fd);
	} else if (errno == ENOENT || errno == EOPNOTSUPP) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
	}
}

void aux_sampler_attr(struct perf_event_attr *attr, __u64 period)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	/* Some PMUs count, and cannot interrupt. */
	attr->sample_period = period;
	aux_count(attr, PERF_COUNT_HW_INSTRUCTIONS);
}

void aux_set_action(struct perf_event_attr *attr, __u32 action)
{
	size_t at = offsetof(struct perf_event_attr, aux_sample_size) +
		    sizeof(attr->aux_sample_size);

	memcpy((char *)attr + at, &action, sizeof(action));
}

int aux_open_in_group(struct perf_event_attr *attr, pid_t pid, int cpu, int leader)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);
}

int aux_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return aux_open_in_group(attr, pid, cpu, -1);
}

int aux_map_data(struct aux_event *event, unsigned int pages)
{
	size_t len = (pages + 1) * aux_page_size();
	void *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, event->fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	event->page = map;
	event->data_len = len;
	return 0;
}

int aux_open_mapped(struct aux_event *event, struct perf_event_attr *attr, pid_t pid, int cpu,
		    unsigned int data_pages)
{
	struct perf_event_attr usual;

	aux_attr(&usual);
	*event = (struct aux_event) { .fd = aux_open(attr ?: &usual, pid, cpu) };
	return event->fd < 0 ? -errno : aux_map_data(event, data_pages);
}

void *aux_map_raw(struct aux_event *event, __u64 offset, size_t len, int prot, int flags)
{
	return mmap(NULL, len, prot, flags, event->fd, offset);
}

int aux_map_area(struct aux_event *event, size_t len, int prot)
{
	void *map;

	event->page->aux_offset = event->data_len;
	event->page->aux_size = len;
	map = aux_map_raw(event, event->data_len, len, prot, MAP_SHARED);
	if (map == MAP_FAILED)
		return -errno;
	event->area = map;
	event->area_len = len;
	return 0;
}

void aux_unmap_area(struct aux_event *event)
{
	if (event->area)
		munmap(event->area, event->area_len);
	event->area = NULL;
}

void aux_unmap(struct aux_event *event)
{
	aux_unmap_area(event);
	if (event->page)
		munmap(event->page, event->data_len);
	event->page = NULL;
}

void aux_close(struct aux_event *event)
{
	aux_unmap(event);
	if (event->fd >= 0)
		close(event->fd);
	event->fd = -1;
}

int aux_enable(struct aux_event *event)
{
	return ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
}

int aux_disable(struct aux_event *event)
{
	return ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
}

/*
 * A 64-bit kernel stores and loads head and tail at once. So must a reader that
 * has 32 bits: these builtins do, where two moves could be torn.
 */
__u64 aux_head(struct aux_event *event)
{
	return __atomic_load_n(&event->page->aux_head, __ATOMIC_ACQUIRE);
}

void aux_set_tail(struct aux_event *event, __u64 tail)
{
	__atomic_store_n(&event->page->aux_tail, tail, __ATOMIC_RELEASE);
}

__u64 aux_count_of(int fd)
{
	__u64 count;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

__u64 aux_time_enabled(struct aux_event *event)
{
	__u64 values[2] = { };

	if (read(event->fd, values, sizeof(values)) != sizeof(values))
		return 0;
	return values[1];
}

static void copy_out(struct aux_event *event, __u64 from, void *to, size_t len)
{
	const char *data = (const char *)event->page + event->page->data_offset;
	size_t size = event->page->data_size;
	size_t begin = from % size;
	size_t first = size - begin;

	if (first > len)
		first = len;
	memcpy(to, data + begin, first);
	memcpy((char *)to + first, data, len - first);
}

__u64 aux_data_head(struct aux_event *event)
{
	return __atomic_load_n(&event->page->data_head, __ATOMIC_ACQUIRE);
}

void aux_set_data_tail(struct aux_event *event, __u64 tail)
{
	__atomic_store_n(&event->page->data_tail, tail, __ATOMIC_RELEASE);
}

bool aux_next(struct aux_event *event, struct aux_record *record)
{
	__u64 head = aux_data_head(event);
	__u64 tail = event->page->data_tail;

	if (tail == head)
		return false;

	/* Whatever size a header says, there is room for it. */
	static_assert(sizeof(*record) > (__u16)~0, "a record may not fit");
	copy_out(event, tail, &record->header, sizeof(record->header));
	copy_out(event, tail, record, record->header.size);
	aux_set_data_tail(event, tail + record->header.size);
	return true;
}

bool aux_next_before(struct aux_event *event, __u64 head, struct aux_record *record)
{
	return event->page->data_tail != head && aux_next(event, record);
}

/*
 * Before the end of the area, or of a part of it whose pages are contiguous, BTS skips
 * up to so many bytes, which are zero. The skip ends at a page, or up to 23 bytes behind
 * it: where parts are not, records lie at multiples of 24 bytes all the same.
 */
static bool is_padding(struct aux_event *event, __u64 from, __u64 to)
{
	size_t size = event->area_len;
	const char *area = event->area;
	__u64 tail;

	if (!is_bts() || !area || to % aux_page_size() >= BTS_RECORD ||
	    to - from > BTS_MOST_PADDING)
		return false;
	/* What the reader has given back, the hardware may have overwritten. */
	tail = __atomic_load_n(&event->page->aux_tail, __ATOMIC_RELAXED);
	if (from < tail)
		from = tail;
	while (from < to && !area[from % size])
		from++;
	return from >= to;
}

static void note_aux(struct aux_event *event, struct aux_log *log,
		     const struct aux_record *record)
{
	__u64 end = record->aux.offset + record->aux.size;
	bool padded;

	log->early = log->early || !log->itrace;
	log->aux++;
	log->offset = record->aux.offset;
	log->size = record->aux.size;
	log->flags = record->aux.flags;
	log->flags_seen |= log->flags;
	log->empty += !log->size && !(log->flags & ~(__u64)PERF_AUX_FLAG_OVERWRITE);
	log->dataless += !log->size && log->flags & PERF_AUX_FLAG_TRUNCATED;
	if (!log->size)
		return;
	padded = log->offset != log->end && is_padding(event, log->end, log->offset);
	log->holes += log->offset != log->end && !padded;
	/* The driver wakes the reader for what it skips, too. */
	if (log->watermark && padded)
		log->crossings += log->offset / log->watermark > log->end / log->watermark;
	if (log->watermark)
		log->crossings += end / log->watermark > log->offset / log->watermark ||
				  log->flags & PERF_AUX_FLAG_TRUNCATED;
	log->end = end;
}

void aux_note(struct aux_event *event, struct aux_log *log, const struct aux_record *record)
{
	switch (record->header.type) {
	case PERF_RECORD_AUX:
		note_aux(event, log, record);
		break;
	case PERF_RECORD_ITRACE_START:
		log->itrace++;
		log->pid = record->itrace.pid;
		log->tid = record->itrace.tid;
		break;
	case PERF_RECORD_LOST:
		log->lost += record->lost.lost;
		break;
	}
}

void aux_drain(struct aux_event *event, struct aux_log *log)
{
	__u64 head = aux_data_head(event);
	struct aux_record record;

	while (aux_next_before(event, head, &record))
		aux_note(event, log, &record);
}

char aux_peek(const char *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

static unsigned int add(unsigned int x)
{
	return x + 0x9e3779b9;
}

static unsigned int turn(unsigned int x)
{
	return x << 7 | x >> 25;
}

static unsigned int fold(unsigned int x)
{
	return x & 0x10 ? x ^ x >> 3 : x * 5;
}

/* So many times more bytes than Intel PT's are BTS's of the same work, at least. */
#define BTS_BYTES	16

static unsigned int work_rounds(unsigned int x, unsigned int rounds)
{
	static unsigned int (*const steps[])(unsigned int) = { add, turn, fold, turn };

	while (rounds--)
		x = steps[x & 3](x + rounds);
	return x;
}

static unsigned int work_seconds(unsigned int x, double seconds)
{
	double end = aux_seconds() + seconds;

	while (aux_seconds() < end)
		x = work_rounds(x, 10);
	return x;
}

void aux_work(unsigned int rounds)
{
	static unsigned int sink;
	unsigned int x = __atomic_load_n(&sink, __ATOMIC_RELAXED);

	if (is_bts())
		rounds = (rounds + BTS_BYTES - 1) / BTS_BYTES;

	x = is_synth() ? work_seconds(x, rounds * (SYNTH_ROUND / 1e9)) : work_rounds(x, rounds);
	__atomic_store_n(&sink, x, __ATOMIC_RELAXED);
}

#define FILL_ROUNDS	20000
#define FILL_TRIES	1000
#define FILL_STILL	5

__u64 aux_fill(struct aux_event *event)
{
	__u64 head = aux_head(event), last, time = 0, last_time;
	__u64 limit = head + 2 * event->area_len;
	unsigned int still = 0;

	for (unsigned int i = 0; i < FILL_TRIES && still < FILL_STILL && head < limit; i++) {
		last = head;
		last_time = time;
		aux_work(FILL_ROUNDS);
		head = aux_head(event);
		/* Time may pass without a tick, but not without the event, unless it is off. */
		time = aux_by_time() ? aux_time_enabled(event) : 0;
		/* The head moves with interrupts: at first there is none for a while. */
		still = head == last && time == last_time && head ? still + 1 : 0;
	}
	return head;
}

bool aux_is_locked_down(void)
{
	FILE *file = fopen("/sys/kernel/security/lockdown", "r");
	char text[128] = "";

	if (file) {
		if (!fgets(text, sizeof(text), file))
			text[0] = '\0';
		fclose(file);
	}
	return strstr(text, "[confidentiality]");
}

int aux_cpu(unsigned int n)
{
	static cpu_set_t all;
	int cpu;

	if (!CPU_COUNT(&all) && sched_getaffinity(0, sizeof(all), &all))
		return -1;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && !n--)
			return cpu;
	return -1;
}

int aux_pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(pid, sizeof(set), &set);
}

int aux_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return ret;
}

int aux_switch_cpu_1(bool on)
{
	return aux_write_file(CPU_1_ONLINE, on ? "1" : "0");
}

/* What is written to a file, NULL: what it has now. The path of the last one is NULL. */
struct setting {
	const char *path, *text;
	char now[32];
};

/* Return: false if a file cannot be read, or has more than a number */
static bool read_settings(struct setting *settings)
{
	for (; settings->path; settings++) {
		FILE *file = settings->text ? NULL : fopen(settings->path, "r");

		if (settings->text)
			continue;
		if (file && fgets(settings->now, sizeof(settings->now), file))
			settings->text = settings->now;
		if (file)
			fclose(file);
		if (!settings->text)
			return false;
	}
	return true;
}

/*
 * Wait until no process has the pipe's other end any more, then write. The harness kills
 * the process group of a test, so this process is in a session of its own. When it ends,
 * the first file is unlocked.
 */
static void restore(int end, const struct setting *settings)
{
	char byte;
	int ret = 0;

	setsid();
	while (read(end, &byte, 1) < 0 && errno == EINTR)
		;
	for (; settings->path; settings++)
		ret |= aux_write_file(settings->path, settings->text);
	_exit(ret ? 1 : 0);
}

/* The same for several files, in this order */
static int restore_all_at_end(struct setting *settings)
{
	int ends[2], lock = open(settings->path, O_RDONLY | O_CLOEXEC);
	pid_t pid = -1;

	/* What an earlier test has left to be written is to come before this one looks. */
	if (lock >= 0 && !flock(lock, LOCK_EX) && read_settings(settings) && !pipe(ends)) {
		pid = fork();
		if (!pid) {
			close(ends[1]);
			restore(ends[0], settings);
		}
		close(ends[0]);
	}
	if (lock >= 0)
		close(lock);
	return pid < 0 ? -errno : 0;
}

int aux_restore_at_end(const char *path, const char *text)
{
	return restore_all_at_end((struct setting[]) {
		{ .path = path, .text = text }, { },
	});
}

#define SAMPLE_RATE	"/proc/sys/kernel/perf_event_max_sample_rate"
#define CPU_TIME	"/proc/sys/kernel/perf_cpu_time_max_percent"
/* What the kernel begins with */
#define USUAL_RATE	100000

/* With 0 or 100 percent, the kernel takes no other rate. */
int aux_limit_samples(unsigned int rate)
{
	char text[16];
	int ret;

	snprintf(text, sizeof(text), "%u", rate);
	ret = restore_all_at_end((struct setting[]) {
		{ .path = CPU_TIME, .text = "25" }, { .path = SAMPLE_RATE },
		{ .path = CPU_TIME }, { },
	});
	ret = ret ?: aux_write_file(CPU_TIME, "25");
	return ret ?: aux_write_file(SAMPLE_RATE, text);
}

const char *aux_missing_rate(void)
{
	/* With 0 percent, the kernel does not lower the rate if samples take long. */
	if (!access(SAMPLE_RATE, W_OK) && !aux_limit_samples(USUAL_RATE) &&
	    !aux_write_file(CPU_TIME, "0"))
		return NULL;
	if (aux_read_number(SAMPLE_RATE) < USUAL_RATE / 2)
		return "perf_event_max_sample_rate is lowered, and only root may raise it";
	return NULL;
}

int aux_restore_cpu_1_at_end(void)
{
	return aux_restore_at_end(CPU_1_ONLINE, "1");
}

pid_t aux_worker(int cpu)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (cpu >= 0 && aux_pin(0, cpu))
		_exit(1);
	for (;;) {
		aux_work(10000);
		sched_yield();
	}
}

long long aux_ask_child(long long (*answer)(uid_t uid), uid_t uid)
{
	long long said = -1;
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (!pid) {
		said = answer(uid);
		_exit(write(ends[1], &said, sizeof(said)) != sizeof(said));
	}
	/* The end of a child that says nothing is the pipe's. */
	close(ends[1]);
	if (read(ends[0], &said, sizeof(said)) != sizeof(said))
		said = -1;
	close(ends[0]);
	waitpid(pid, NULL, 0);
	return said;
}

void aux_end_worker(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

long long aux_status(pid_t pid, const char *key)
{
	char path[64], line[256];
	long long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
			value = strtoull(line + strlen(key) + 1, NULL, 10);
	}
	fclose(file);
	return value;
}

/* sysconf() of some C libraries counts those on which this task may run. */
static unsigned int online_cpus(void)
{
	FILE *file = fopen("/sys/devices/system/cpu/online", "r");
	unsigned int first, last, cpus = 0;
	int found;

	while (file && (found = fscanf(file, "%u-%u", &first, &last)) > 0) {
		cpus += found == 2 ? last - first + 1 : 1;
		if (fgetc(file) != ',')
			break;
	}
	if (file)
		fclose(file);
	return cpus;
}

size_t aux_allowance(void)
{
	size_t kib = aux_read_number("/proc/sys/kernel/perf_event_mlock_kb");

	/* The kernel counts pages, for each CPU. */
	return kib * 1024 / aux_page_size() * aux_page_size() * online_cpus();
}

size_t aux_beyond_allowance(void)
{
	size_t len = aux_page_size();

	while (len <= aux_allowance())
		len *= 2;
	return len;
}

__u64 aux_trace(struct aux_event *event, unsigned int rounds)
{
	aux_enable(event);
	aux_work(rounds);
	aux_disable(event);
	return aux_head(event);
}

long aux_minor_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

double aux_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}
