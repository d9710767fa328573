// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of AUX areas, events of hardware that are opened, and forks of a task that
 * has events, in which one allocation fails, each of them in turn: what was done before
 * it is undone. For a kernel with fault injection: faults [EVERY]; prints TAP. Of the
 * allocations of an area's pages, which are alike, only each EVERY-th is made to fail.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_stress.h"
#include "aux_util.h"
#include "points.h"

#define DATA_PAGES	8
/* More than the allowance of perf_event_mlock_kb on 2 CPUs: it shows as pinned. */
#define AREA		(2UL << 20)
#define MANY_DATA_PAGES	512
/* More than any mapping has allocations. */
#define MANY		20000
#define RACE_SECONDS	8.0
/* The first of a mapping's allocations, which differ: structs, tables. All of them fail. */
#define DIFFERENT	48
#define WARM		20
/* More events than a CPU has counters, and how long each at most waits for its turn */
#define COUNTERS	16
#define TURN_SECONDS	10.0
/* Pages that wait in lists of CPUs, and the like; of every area a page is more. */
#define NOISE_KIB	2048

/* What a system call does with its allocations. */
struct subject {
	const char *name;
	int (*map)(struct aux_event *event);
	void (*unmap)(struct aux_event *event);
	bool needs_data;
};

static int fail_nth = -1;
static unsigned int every = 1;

/* Which allocation fails after the n-th did. */
static unsigned int next(unsigned int nth)
{
	return nth + (nth < DIFFERENT ? 1 : every);
}

/* Each process, and each thread, has its own. */
static void open_faults(void)
{
	if (fail_nth >= 0)
		close(fail_nth);
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fail_nth < 0)
		err(1, "/proc/thread-self/fail-nth");
}

static void arm(unsigned int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", nth);
	/* What fails may be the access to this text; then nothing fails after it. */
	if (pwrite(fail_nth, text, strlen(text), 0) < 0 && errno != EFAULT)
		err(1, "fail-nth");
}

/* No more faults; whether there was one. */
static bool disarm(void)
{
	char text[16] = "";
	ssize_t len = pread(fail_nth, text, sizeof(text) - 1, 0);

	if (len < 0 && errno == EFAULT)
		return false;
	if (len <= 0)
		err(1, "fail-nth");
	arm(0);
	return !strtoul(text, NULL, 10);
}

static int map_data(struct aux_event *event)
{
	return aux_map_data(event, DATA_PAGES);
}

static int map_much_data(struct aux_event *event)
{
	return aux_map_data(event, MANY_DATA_PAGES);
}

static int map_full(struct aux_event *event)
{
	return aux_map_area(event, AREA, PROT_READ | PROT_WRITE);
}

static int map_overwrite(struct aux_event *event)
{
	return aux_map_area(event, AREA, PROT_READ);
}

static const struct subject data = {
	.name = "data", .map = map_much_data, .unmap = aux_unmap,
};

static const struct subject area = {
	.name = "area", .map = map_full, .unmap = aux_unmap_area, .needs_data = true,
};

static const struct subject area_overwritten = {
	.name = "area that is overwritten", .map = map_overwrite, .unmap = aux_unmap_area,
	.needs_data = true,
};

static long long pinned(void)
{
	return aux_status(getpid(), "VmPin");
}

static struct aux_event open_event(pid_t pid, int cpu)
{
	struct aux_event event = { };
	struct perf_event_attr attr;

	aux_attr(&attr);
	event.fd = aux_open(&attr, pid, cpu);
	if (event.fd < 0)
		err(1, "perf_event_open(%s)", aux_pmu_name());
	return event;
}

/* What became of a mapping whose n-th allocation failed, for all n. */
struct tally {
	unsigned int refused, mapped, other;
	/* counters were not as before; a mapping without a fault did not follow */
	unsigned int charged, stuck;
};

/* Whether there was an n-th allocation. */
static bool map_with_fault(const struct subject *s, struct aux_event *event, unsigned int nth,
			   struct tally *tally)
{
	bool reached;
	int ret;

	arm(nth);
	ret = s->map(event);
	reached = disarm();

	tally->mapped += !ret;
	tally->refused += reached && ret == -ENOMEM;
	if (ret && (ret != -ENOMEM || !reached)) {
		tally->other++;
		diag("%s: %s with fault %u", s->name, strerror(-ret), nth);
	}
	if (!ret)
		s->unmap(event);
	return reached;
}

/* KiB that a mapping without a fault pins, or -1. */
static long long map_well(const struct subject *s, struct aux_event *event)
{
	long long kib;

	if (s->map(event))
		return -1;
	kib = pinned();
	s->unmap(event);
	return kib;
}

/* How many allocations there are. */
static unsigned int fail_each(const struct subject *s)
{
	struct aux_event event = open_event(0, -1);
	struct tally tally = { };
	long long free, used;
	unsigned int nth;

	if (s->needs_data && map_data(&event))
		errx(1, "no data buffer");
	free = pinned();
	used = map_well(s, &event);
	for (nth = 1; nth < MANY && map_with_fault(s, &event, nth, &tally); nth = next(nth)) {
		tally.charged += pinned() != free;
		tally.stuck += map_well(s, &event) != used;
	}
	aux_close(&event);

	diag("%s, %s: %u allocations, one in %u made to fail, %u of them needed",
	     aux_pmu_name(), s->name, nth - 1, every, tally.refused);
	point(tally.refused && nth < MANY && !tally.other,
	      "%s, %s: no memory is ENOMEM", aux_pmu_name(), s->name);
	point(used >= 0 && !tally.charged, "%s, %s: what was refused is not charged",
	      aux_pmu_name(), s->name);
	point(!tally.stuck, "%s, %s: it can be mapped, and costs as much, after each fault",
	      aux_pmu_name(), s->name);
	return nth - 1;
}

static bool traces(struct aux_event *event)
{
	if (map_data(event) || map_full(event) || aux_enable(event))
		return false;
	aux_work(100);
	return !aux_disable(event) && aux_head(event);
}

/* What is opened in spite of a fault is an event that traces. */
static void fail_each_open(void)
{
	unsigned int nth = 0, refused = 0, other = 0, dead = 0;
	bool reached = true;
	int error;

	while (reached && ++nth < MANY) {
		struct aux_event event = { };
		struct perf_event_attr attr;

		aux_attr(&attr);
		arm(nth);
		event.fd = aux_open(&attr, 0, -1);
		error = errno;
		reached = disarm();
		if (event.fd >= 0) {
			dead += !traces(&event);
			aux_close(&event);
			continue;
		}
		refused += reached && error == ENOMEM;
		/* The kernel's copy of the attribute comes first. */
		if (reached && error == EFAULT && !refused)
			continue;
		if (!reached || error != ENOMEM) {
			other++;
			diag("%s: %s with fault %u", aux_pmu_name(), strerror(error), nth);
		}
	}
	diag("%s: %u allocations to open an event, %u of them needed", aux_pmu_name(), nth - 1,
	     refused);
	point(refused && nth < MANY && !other, "%s, open: no memory is ENOMEM", aux_pmu_name());
	point(!dead, "%s, open: an event that was opened traces", aux_pmu_name());
}

/* Bytes that are not 0 in an area that nobody has written. */
static unsigned long touch(struct aux_event *event)
{
	unsigned long bad = 0;

	for (size_t at = 0; at < event->area_len; at += aux_page_size())
		bad += !!aux_peek((char *)event->area + at);
	return bad;
}

/* Both sides of a race; the other one has no faults. */
struct race {
	atomic_bool over;
	atomic_ulong refused, mapped, wrong, others_mapped, others_wrong;
};

/* Newer kernels let only the event map a buffer that has it by mmap(). */
static void map_again_and_again(struct race *race, int fd, int owner)
{
	struct aux_event mine = { .fd = fd };
	int ret = map_data(&mine);

	if (ret == -EBUSY) {
		mine.fd = owner;
		ret = map_data(&mine);
	}
	if (ret)
		_exit(1);
	while (!atomic_load(&race->over)) {
		if (map_full(&mine)) {
			atomic_fetch_add(&race->others_wrong, 1);
			continue;
		}
		for (size_t at = 0; at < AREA; at += aux_page_size())
			aux_peek((char *)mine.area + at);
		aux_unmap_area(&mine);
		atomic_fetch_add(&race->others_mapped, 1);
	}
	_exit(0);
}

static void map_with_faults(struct race *race, struct aux_event *event, unsigned int faults)
{
	double begin = aux_seconds();
	int ret;

	for (unsigned int i = 0; aux_seconds() - begin < RACE_SECONDS; i++) {
		/* Where the sibling has made the area, there are few. */
		arm(1 + i % faults);
		ret = map_full(event);
		disarm();
		if (!ret)
			aux_unmap_area(event);
		atomic_fetch_add(!ret ? &race->mapped :
				 ret == -ENOMEM ? &race->refused : &race->wrong, 1);
	}
	atomic_store(&race->over, true);
}

/* Two events of two tasks that are traced, and one buffer, whose area both processes map. */
static void race_for_an_area(unsigned int faults)
{
	struct race *race = mmap(NULL, sizeof(*race), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t workers[] = { aux_worker(0), aux_worker(0) }, other;
	struct aux_event events[] = { open_event(workers[0], 0), open_event(workers[1], 0) };
	int status;

	if (race == MAP_FAILED || map_data(&events[0]))
		errx(1, "no data buffer");
	if (ioctl(events[1].fd, PERF_EVENT_IOC_SET_OUTPUT, events[0].fd) ||
	    aux_enable(&events[0]) || aux_enable(&events[1]))
		err(1, "two events with a buffer");
	other = fork();
	if (!other)
		map_again_and_again(race, events[1].fd, events[0].fd);
	map_with_faults(race, &events[0], faults);
	waitpid(other, &status, 0);
	for (int i = 0; i < 2; i++) {
		aux_end_worker(workers[i]);
		aux_close(&events[i]);
	}
	diag("%s: %lu refused, %lu mapped, %lu by the sibling", aux_pmu_name(), race->refused,
	     race->mapped, race->others_mapped);
	point(race->refused && race->mapped && !race->wrong,
	      "%s: a sibling maps meanwhile: no memory is ENOMEM", aux_pmu_name());
	point(race->others_mapped && !race->others_wrong && !status,
	      "%s: the sibling is never refused", aux_pmu_name());
	munmap(race, sizeof(*race));
}

static void all_of(const char *pmu)
{
	unsigned int faults;

	aux_use(pmu);
	if (aux_missing())
		errx(1, "%s", aux_missing());
	fail_each_open();
	fail_each(&data);
	fail_each(&area_overwritten);
	faults = fail_each(&area);
	race_for_an_area(faults);
}

static bool have_had_a_turn(const int *fds, __u64 *before)
{
	struct { __u64 count, running; } now;
	bool all = true;

	for (int i = 0; i < COUNTERS; i++) {
		if (read(fds[i], &now, sizeof(now)) != sizeof(now))
			err(1, "read");
		all = all && now.running > before[i];
	}
	return all;
}

/* Whether each of the events runs within some seconds. */
static bool take_turns(const int *fds)
{
	double begin = aux_seconds();
	__u64 before[COUNTERS] = { };
	struct { __u64 count, running; } now;

	for (int i = 0; i < COUNTERS; i++)
		before[i] = read(fds[i], &now, sizeof(now)) > 0 ? now.running : 0;
	while (!have_had_a_turn(fds, before)) {
		if (aux_seconds() - begin > TURN_SECONDS)
			return false;
		aux_work(10);
	}
	return true;
}

/* More events than counters, which take turns, and are inherited if all goes well. */
static void fail_each_fork(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr), .inherit = 1,
		.config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	unsigned int nth = 0, refused = 0, other = 0;
	bool reached = true, turn = true;
	int fds[COUNTERS], error;
	pid_t child;

	for (int i = 0; i < COUNTERS; i++) {
		fds[i] = aux_open(&attr, 0, -1);
		if (fds[i] < 0)
			err(1, "no events of hardware");
	}
	while (reached && turn && ++nth < MANY) {
		arm(nth);
		child = fork();
		error = errno;
		if (!child)
			_exit(0);
		reached = disarm();
		if (child > 0) {
			waitpid(child, NULL, 0);
			continue;
		}
		refused++;
		other += error != ENOMEM && error != EAGAIN;
		turn = take_turns(fds);
	}
	for (int i = 0; i < COUNTERS; i++)
		close(fds[i]);
	diag("fork: %u allocations, %u of them needed", nth - 1, refused);
	point(refused > COUNTERS && !other, "fork: no memory is ENOMEM or EAGAIN");
	point(turn, "fork: events take turns after each that failed");
}

/* The first time takes memory for good: caches, tables. */
static void warm_up(void)
{
	struct aux_event event;

	aux_use("intel_pt");
	for (unsigned int i = 0; i < WARM; i++) {
		event = open_event(0, -1);
		if (map_data(&event) || map_full(&event) || touch(&event))
			errx(1, "no area");
		aux_close(&event);
	}
}

/*
 * KiB of pages for addresses that the kernel has freed and will reuse some day: until then KASAN
 * keeps an eighth of their size, which tells that nothing is there. Areas of BTS have addresses of
 * their own.
 */
static long shadow_of_unused(void)
{
	FILE *file = fopen("/proc/vmallocinfo", "r");
	unsigned long size, sum = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "unpurged") && sscanf(line, "%*s %lu", &size) == 1)
			sum += size;
	if (file)
		fclose(file);
	return sum / 8 / 1024;
}

static void look(struct stress_state *state)
{
	stress_look(state);
	state->unexplained -= shadow_of_unused();
}

static void compare(const struct stress_state *was, const struct stress_state *is)
{
	bool same = is->pinned == was->pinned;

	for (int i = 0; i < 3; i++)
		same = same && is->allowance[i] == was->allowance[i];
	point(same, "users and processes may lock as much as before");
	diag("KiB of unexplained memory: %ld, %ld", was->unexplained, is->unexplained);
	point(is->unexplained <= was->unexplained + NOISE_KIB, "no pages are lost");
}

int main(int argc, char **argv)
{
	struct stress_state before, after;
	const char *missing;

	if (argc > 1)
		every = strtoul(argv[1], NULL, 0);
	if (argc > 2 || !every)
		errx(1, "usage: faults [EVERY]");
	/* What was said is kept when the program dies. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	missing = stress_let_fail();
	if (missing)
		errx(1, "%s cannot be set: is this kernel built with fault injection?", missing);
	open_faults();
	warm_up();
	look(&before);
	all_of("intel_pt");
	all_of("intel_bts");
	all_of("aux_synth");
	all_of("aux_synth_no_sg");
	fail_each_fork();
	look(&after);
	compare(&before, &after);
	return end_points();
}
