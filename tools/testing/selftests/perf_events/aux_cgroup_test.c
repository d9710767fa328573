// SPDX-License-Identifier: GPL-2.0-only
/*
 * AUX events of control groups: the trace is that of the group's tasks; and whatever becomes of
 * the trace in the middle of a switch between two groups, the CPU's counters go on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_harness.h"
#include "aux_synth.h"
#include "aux_util_cgroup.h"

#define CPU		1
#define DATA_PAGES	8
#define AREA_PAGES	16
/* Switches of the CPU between tasks of two groups */
#define SWITCHES	20
#define LAPS		5
/* Seconds */
#define PATIENCE	10
#define STEP_USEC	1000
#define DISABLED_USEC	200000
#define PERIOD		1000000
#define COUNTERS	64
/* So many in a row that the kernel by itself does not update the time between all of them */
#define READS		10

enum { A, B, GROUPS };

FIXTURE(aux_cgroup)
{
	char path[GROUPS][CGROUP_PATH];
	int group[GROUPS];
	/* on CPU 1, one of each group */
	pid_t worker[GROUPS];
	struct aux_event event;
	struct aux_log log;
	/* of all that CPU 1 does */
	int counter;
};

FIXTURE_VARIANT(aux_cgroup)
{
	const char *pmu;
};

FIXTURE_VARIANT_ADD(aux_cgroup, synth) { .pmu = "aux_synth" };
FIXTURE_VARIANT_ADD(aux_cgroup, pt) { .pmu = "intel_pt" };
FIXTURE_VARIANT_ADD(aux_cgroup, bts) { .pmu = "intel_bts" };

static void counter_attr(struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	aux_count(attr, PERF_COUNT_HW_INSTRUCTIONS);
}

static int open_counter(void)
{
	struct perf_event_attr attr;

	counter_attr(&attr);
	return aux_open(&attr, -1, CPU);
}

/* Wait until a condition holds; false if it does not in PATIENCE. */
#define comes(condition)						\
({									\
	double end_ = aux_seconds() + PATIENCE;				\
	bool holds_;							\
									\
	while (!(holds_ = (condition)) && aux_seconds() < end_)		\
		usleep(STEP_USEC);					\
	holds_;								\
})

/* The workers of both groups run on the CPU, so a counter that counts what it does moves. */
static bool counts(int counter)
{
	__u64 before = aux_count_of(counter);

	return comes(aux_count_of(counter) > before);
}

/* Whether a counter that is opened now counts, too. */
static bool new_one_counts(void)
{
	int fd = open_counter();
	bool ok = fd >= 0 && counts(fd);

	close(fd);
	return ok;
}

static long long switches_of(pid_t pid)
{
	return aux_status(pid, "voluntary_ctxt_switches") +
	       aux_status(pid, "nonvoluntary_ctxt_switches");
}

/* Wait until each of the two workers has been scheduled out @times more times. */
static bool groups_switch(const pid_t *worker, unsigned int times)
{
	long long a = switches_of(worker[A]) + times, b = switches_of(worker[B]) + times;

	return comes(switches_of(worker[A]) >= a && switches_of(worker[B]) >= b);
}

static int can_open_of(int group)
{
	struct perf_event_attr attr;
	int fd;

	aux_attr(&attr);
	fd = cgroup_open_event(&attr, group, CPU, -1);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Why nothing of this can be tested, or NULL */
static const char *missing(const char *pmu, char *root)
{
	aux_use(pmu);
	if (aux_missing())
		return aux_missing();
	if (aux_pin(0, CPU) || aux_pin(0, 0))
		return "needs CPUs 0 and 1";
	if (!cgroup_find("perf_event", root))
		return "no hierarchy of control groups is mounted";
	return NULL;
}

static void remove_groups(FIXTURE_DATA(aux_cgroup) *self)
{
	for (int i = 0; i < GROUPS; i++) {
		aux_end_worker(self->worker[i]);
		close(self->group[i]);
		if (self->path[i][0])
			comes(cgroup_remove(self->path[i]) != -EBUSY);
	}
}

/* A task on the CPU in each of the groups; why that cannot be, or NULL */
static const char *make_groups(FIXTURE_DATA(aux_cgroup) *self, const char *root)
{
	for (int i = 0; i < GROUPS; i++) {
		if (!cgroup_make(root, self->path[i])) {
			self->path[i][0] = '\0';
			return "cannot make a control group";
		}
		self->group[i] = open(self->path[i], O_RDONLY | O_CLOEXEC | O_DIRECTORY);
		self->worker[i] = aux_worker(CPU);
		if (cgroup_enter(self->path[i], self->worker[i]))
			return "no task can be moved to a control group";
	}
	/* Until something was written there, groups of cgroup2 lack what each has by default. */
	switch (can_open_of(self->group[A])) {
	case -ENOENT:
		return "nobody has written to cgroup.subtree_control of the root, as systemd does";
	case -EINVAL:
		return "the kernel has no events of control groups (CONFIG_CGROUP_PERF)";
	default:
		return NULL;
	}
}

/*
 * All tests share it: one of them has found that CPU 1 counts nothing, which lasts until the next
 * boot. That one fails, and the others have nothing to find out.
 */
static bool *is_dead;

static void __attribute__((constructor)) share(void)
{
	is_dead = mmap(NULL, sizeof(*is_dead), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
}

/* Nothing is left to undo if this skips. */
FIXTURE_SETUP(aux_cgroup)
{
	char root[CGROUP_PATH];
	const char *why = missing(variant->pmu, root);

	self->event.fd = -1;
	for (int i = 0; i < GROUPS; i++)
		self->group[i] = -1;
	if (why)
		SKIP(return, "%s", why);
	why = make_groups(self, root);
	if (!why && *is_dead)
		why = "CPU 1 counts nothing, until the next boot";
	if (why) {
		remove_groups(self);
		SKIP(return, "%s", why);
	}
	self->counter = open_counter();
	*is_dead = !counts(self->counter);
	EXPECT_FALSE(*is_dead);
}

/* After each test, the CPU counts. */
FIXTURE_TEARDOWN(aux_cgroup)
{
	aux_close(&self->event);
	*is_dead = !counts(self->counter);
	EXPECT_FALSE(*is_dead);
	close(self->counter);
	remove_groups(self);
}

static int trace_to(struct aux_event *event, struct perf_event_attr *attr, int group, int prot)
{
	*event = (struct aux_event) { .fd = cgroup_open_event(attr, group, CPU, -1) };
	if (event->fd < 0)
		return -errno;
	return aux_map_data(event, DATA_PAGES) ?:
	       aux_map_area(event, AREA_PAGES * aux_page_size(), prot);
}

/* An event of a group whose area a reader empties, as far as a test lets it */
static int trace(struct aux_event *event, struct perf_event_attr *attr, int group)
{
	return trace_to(event, attr, group, PROT_READ | PROT_WRITE);
}

static void make_room(struct aux_event *event, struct aux_log *log)
{
	aux_drain(event, log);
	aux_set_tail(event, aux_head(event));
	aux_enable(event);
}

/* Until more is traced */
static bool goes_on(struct aux_event *event, struct aux_log *log)
{
	__u64 before = aux_head(event);

	return comes(({ make_room(event, log); aux_head(event) > before; }));
}

/* A member of the group runs while the trace does. */
static bool member_counts(struct aux_event *event, struct aux_log *log, int member)
{
	__u64 before = aux_count_of(member);

	return comes(({ make_room(event, log); aux_count_of(member) > before; }));
}

/* The event is off, or no task of its group runs: it is neither scheduled nor tried. */
static bool stands_still(struct aux_event *event, const pid_t *worker)
{
	__u64 head = aux_head(event), time = aux_time_enabled(event);

	return groups_switch(worker, SWITCHES) && aux_head(event) == head &&
	       aux_time_enabled(event) == time;
}

/*
 * A task that is told to have stopped may still be about to leave its CPU. If this process has run
 * there since, it has left.
 */
static void stop(pid_t pid)
{
	int status;

	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	aux_pin(0, CPU);
	aux_pin(0, 0);
}

/* Nothing of group A runs, then there is no room, then it runs again. */
static bool is_full_when_scheduled_in(struct aux_event *event, const pid_t *worker)
{
	stop(worker[A]);
	/* It may have been full, and off, before. */
	aux_set_tail(event, aux_head(event));
	aux_enable(event);
	aux_set_tail(event, aux_head(event) + 1);
	kill(worker[A], SIGCONT);
	return groups_switch(worker, SWITCHES);
}

/* Add a counter of the processor's PMU to @event's group; perf schedules both with that PMU. */
static int add_counter(struct aux_event *event, int group, bool disabled)
{
	struct perf_event_attr attr;

	counter_attr(&attr);
	attr.disabled = disabled;
	return cgroup_open_event(&attr, group, CPU, event->fd);
}

/* How full_at_switch_in() sets up the event whose area is full: flags */
enum { WITH_COUNTER = 1, WITH_COUNTER_OFF = 2, PINNED = 4 };

static void full_at_switch_in(struct __test_metadata *_metadata,
			      FIXTURE_DATA(aux_cgroup) *self, unsigned int how)
{
	struct perf_event_attr attr;
	int member = -1;

	aux_attr(&attr);
	attr.pinned = !!(how & PINNED);
	ASSERT_EQ(trace(&self->event, &attr, self->group[A]), 0);
	if (how & (WITH_COUNTER | WITH_COUNTER_OFF)) {
		member = add_counter(&self->event, self->group[A], how & WITH_COUNTER_OFF);
		ASSERT_GE(member, 0);
	}
	ASSERT_EQ(aux_enable(&self->event), 0);
	for (unsigned int i = 0; i < LAPS; i++) {
		ASSERT_TRUE(goes_on(&self->event, &self->log));
		if (how & WITH_COUNTER)
			EXPECT_TRUE(member_counts(&self->event, &self->log, member));
		ASSERT_TRUE(is_full_when_scheduled_in(&self->event, self->worker));
		/* It may have had to wait for its turn. */
		EXPECT_TRUE(comes(stands_still(&self->event, self->worker)));
		EXPECT_TRUE(counts(self->counter));
		EXPECT_TRUE(new_one_counts());
	}
	/* Not in error, of which read() would tell */
	EXPECT_GT(aux_time_enabled(&self->event), 0);
	EXPECT_TRUE(goes_on(&self->event, &self->log));
	close(member);
}

TEST_F_TIMEOUT(aux_cgroup, full_at_switch_in, 120)
{
	full_at_switch_in(_metadata, self, 0);
}

TEST_F_TIMEOUT(aux_cgroup, full_at_switch_in_with_a_counter, 120)
{
	full_at_switch_in(_metadata, self, WITH_COUNTER);
}

TEST_F_TIMEOUT(aux_cgroup, full_at_switch_in_with_a_counter_that_is_off, 120)
{
	full_at_switch_in(_metadata, self, WITH_COUNTER_OFF);
}

TEST_F_TIMEOUT(aux_cgroup, full_at_switch_in_pinned, 120)
{
	full_at_switch_in(_metadata, self, PINNED);
}

TEST_F_TIMEOUT(aux_cgroup, full_at_switch_in_pinned_with_a_counter_that_is_off, 120)
{
	full_at_switch_in(_metadata, self, PINNED | WITH_COUNTER_OFF);
}

/*
 * With aux_synth, each switch out ends a transaction that says TRUNCATED. With others, the area
 * is so small that some do.
 */
static void full_at_switch_out(struct __test_metadata *_metadata,
			       FIXTURE_DATA(aux_cgroup) *self, bool pinned)
{
	struct perf_event_attr attr;
	int member;

	aux_attr(&attr);
	attr.pinned = pinned;
	if (aux_by_time())
		attr.config |= SYNTH_ERROR(SYNTH_TRUNCATED);
	ASSERT_EQ(trace(&self->event, &attr, self->group[A]), 0);
	member = add_counter(&self->event, self->group[A], true);
	ASSERT_GE(member, 0);
	for (unsigned int i = 0; i < LAPS * SWITCHES; i++) {
		EXPECT_TRUE(goes_on(&self->event, &self->log));
		EXPECT_TRUE(groups_switch(self->worker, 1));
	}
	aux_drain(&self->event, &self->log);
	EXPECT_TRUE(self->log.flags_seen & PERF_AUX_FLAG_TRUNCATED);
	EXPECT_TRUE(counts(self->counter));
	EXPECT_TRUE(new_one_counts());
	close(member);
}

TEST_F_TIMEOUT(aux_cgroup, full_at_switch_out, 120)
{
	full_at_switch_out(_metadata, self, false);
}

TEST_F_TIMEOUT(aux_cgroup, full_at_switch_out_pinned, 120)
{
	full_at_switch_out(_metadata, self, true);
}

TEST_F_TIMEOUT(aux_cgroup, follows_tasks_between_groups, 120)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	ASSERT_EQ(trace(&self->event, &attr, self->group[A]), 0);
	ASSERT_EQ(aux_enable(&self->event), 0);
	for (unsigned int i = 0; i < LAPS; i++) {
		EXPECT_TRUE(goes_on(&self->event, &self->log));
		/* Out of the group: none is left there. */
		ASSERT_EQ(cgroup_enter(self->path[B], self->worker[A]), 0);
		EXPECT_TRUE(stands_still(&self->event, self->worker));
		EXPECT_TRUE(counts(self->counter));
		/* The other task into it, then both, then as before. */
		ASSERT_EQ(cgroup_enter(self->path[A], self->worker[B]), 0);
		EXPECT_TRUE(goes_on(&self->event, &self->log));
		ASSERT_EQ(cgroup_enter(self->path[A], self->worker[A]), 0);
		EXPECT_TRUE(goes_on(&self->event, &self->log));
		ASSERT_EQ(cgroup_enter(self->path[B], self->worker[B]), 0);
		EXPECT_TRUE(goes_on(&self->event, &self->log));
		EXPECT_TRUE(counts(self->counter));
	}
}

/* The group goes while its event is enabled, after the last of its tasks. */
TEST_F_TIMEOUT(aux_cgroup, group_is_removed, 120)
{
	struct perf_event_attr attr;
	struct aux_event event;

	aux_attr(&attr);
	ASSERT_EQ(trace(&self->event, &attr, self->group[A]), 0);
	ASSERT_EQ(aux_enable(&self->event), 0);
	EXPECT_TRUE(goes_on(&self->event, &self->log));
	aux_end_worker(self->worker[A]);
	self->worker[A] = 0;
	EXPECT_TRUE(comes(!cgroup_remove(self->path[A])));
	self->path[A][0] = '\0';
	EXPECT_TRUE(counts(self->counter));
	EXPECT_EQ(aux_disable(&self->event), 0);
	EXPECT_EQ(aux_enable(&self->event), 0);
	EXPECT_TRUE(counts(self->counter));
	/* A group that has gone, which takes a while, has no new events. */
	EXPECT_TRUE(comes(can_open_of(self->group[A]) == -ENOENT));
	aux_close(&self->event);
	EXPECT_TRUE(counts(self->counter));

	/* ... and the PMU is free for others. */
	EXPECT_TRUE(comes(!trace(&event, &attr, self->group[B])));
	EXPECT_TRUE(goes_on(&event, &self->log));
	aux_close(&event);
}

/* Events of two groups write to one buffer; the area is full and empty again meanwhile. */
TEST_F_TIMEOUT(aux_cgroup, two_groups_with_one_buffer, 120)
{
	struct aux_record record;
	struct perf_event_attr attr;
	unsigned int samples = 0;
	int other;

	aux_attr(&attr);
	ASSERT_EQ(trace(&self->event, &attr, self->group[A]), 0);
	/* A PMU that traces one thing at a time has no event of another group, either. */
	EXPECT_EQ(cgroup_open_event(&attr, self->group[B], CPU, -1), -1);
	EXPECT_EQ(errno, EBUSY);

	aux_sampler_attr(&attr, PERIOD);
	attr.sample_type = PERF_SAMPLE_TID;
	other = cgroup_open_event(&attr, self->group[B], CPU, -1);
	ASSERT_GE(other, 0);
	ASSERT_EQ(ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, self->event.fd), 0);
	for (unsigned int i = 0; i < LAPS; i++) {
		EXPECT_TRUE(goes_on(&self->event, &self->log));
		EXPECT_TRUE(is_full_when_scheduled_in(&self->event, self->worker));
		EXPECT_TRUE(counts(self->counter));
		EXPECT_TRUE(comes(({
			while (aux_next(&self->event, &record)) {
				if (record.header.type != PERF_RECORD_SAMPLE)
					continue;
				samples++;
				EXPECT_EQ(record.itrace.pid, self->worker[B]);
			}
			samples > i;
		})));
	}
	close(other);
	EXPECT_TRUE(goes_on(&self->event, &self->log));
}

/*
 * The time that an event says it was enabled, in seconds, is not longer than that. The CPU has
 * another event meanwhile, so its own time goes on.
 */
TEST_F_TIMEOUT(aux_cgroup, enabled_no_longer_than_it_was, 120)
{
	double limit = 0, begin;
	struct perf_event_attr attr;

	aux_attr(&attr);
	ASSERT_EQ(trace(&self->event, &attr, self->group[A]), 0);
	for (unsigned int i = 0; i < LAPS; i++) {
		begin = aux_seconds();
		ASSERT_EQ(aux_enable(&self->event), 0);
		EXPECT_TRUE(goes_on(&self->event, &self->log));
		EXPECT_TRUE(groups_switch(self->worker, SWITCHES));
		ASSERT_EQ(aux_disable(&self->event), 0);
		limit += aux_seconds() - begin;
		EXPECT_GT(aux_time_enabled(&self->event), 0);
		/* The clocks of the kernel and of this test are not quite the same. */
		EXPECT_LE(aux_time_enabled(&self->event) / 1e9, limit * 1.1);
		usleep(DISABLED_USEC);
	}
}

/*
 * ... and not while only the other group runs, even if the event was disabled while its own group
 * did.
 */
TEST_F_TIMEOUT(aux_cgroup, not_enabled_while_the_other_group_runs, 120)
{
	struct perf_event_attr attr;
	__u64 time;

	aux_attr(&attr);
	ASSERT_EQ(trace(&self->event, &attr, self->group[A]), 0);
	for (unsigned int i = 0; i < LAPS; i++) {
		stop(self->worker[B]);
		kill(self->worker[A], SIGCONT);
		EXPECT_TRUE(counts(self->counter));
		EXPECT_TRUE(goes_on(&self->event, &self->log));
		ASSERT_EQ(aux_disable(&self->event), 0);
		time = aux_time_enabled(&self->event);
		EXPECT_GT(time, 0);
		stop(self->worker[A]);
		kill(self->worker[B], SIGCONT);
		EXPECT_TRUE(counts(self->counter));
		ASSERT_EQ(aux_enable(&self->event), 0);
		usleep(DISABLED_USEC);
		ASSERT_EQ(aux_disable(&self->event), 0);
		EXPECT_EQ(aux_time_enabled(&self->event), time);
	}
	kill(self->worker[A], SIGCONT);
}

/* Of software, as until Linux 6.1 each kind of PMUs has a context of its own. */
static int open_of_task(pid_t pid, bool pinned)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY, .pinned = pinned,
	};

	return aux_open(&attr, pid, -1);
}

/* The time goes on while the task runs, not only as it comes and goes. */
static bool time_goes_on(struct aux_event *event, pid_t worker)
{
	return comes(({
		long long switches = switches_of(worker);
		__u64 last = 0, time = aux_time_enabled(event);
		unsigned int n = 0;

		while (time > last && n < READS) {
			last = time;
			time = aux_time_enabled(event);
			n++;
		}
		n == READS && switches_of(worker) == switches;
	}));
}

/*
 * ... nor longer if tasks of the group have events of their own, which come and go with them. For
 * a pinned one, the CPU's flexible events make room, and the time goes on.
 */
TEST_F_TIMEOUT(aux_cgroup, enabled_while_tasks_with_events_switch, 120)
{
	struct perf_event_attr attr;
	int own[GROUPS];
	double begin;
	__u64 time;

	ASSERT_EQ(cgroup_enter(self->path[A], self->worker[B]), 0);
	for (int i = 0; i < GROUPS; i++) {
		own[i] = open_of_task(self->worker[i], i == A);
		ASSERT_GE(own[i], 0);
	}
	aux_attr(&attr);
	/* An area that does not fill up */
	ASSERT_EQ(trace_to(&self->event, &attr, self->group[A], PROT_READ), 0);
	ASSERT_EQ(aux_enable(&self->event), 0);
	for (unsigned int i = 0; i < LAPS; i++) {
		begin = aux_seconds();
		time = aux_time_enabled(&self->event);
		EXPECT_TRUE(groups_switch(self->worker, SWITCHES));
		time = aux_time_enabled(&self->event) - time;
		/* The clocks of the kernel and of this test are not quite the same. */
		EXPECT_LE(time / 1e9, (aux_seconds() - begin) * 1.1);
	}
	stop(self->worker[B]);
	EXPECT_TRUE(time_goes_on(&self->event, self->worker[A]));
	kill(self->worker[B], SIGCONT);
	for (int i = 0; i < GROUPS; i++)
		close(own[i]);
}

/*
 * Open pinned events of branches until no counter is left for another one. Returns the number
 * of events, 0 without counters; @attr is that of the events.
 */
static unsigned int take_all_counters(int *taken, struct perf_event_attr *attr)
{
	unsigned int nr = 0;
	__u64 count;

	counter_attr(attr);
	attr->config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	attr->pinned = 1;
	while (attr->type == PERF_TYPE_HARDWARE && nr < COUNTERS) {
		taken[nr] = aux_open(attr, -1, CPU);
		if (taken[nr] < 0)
			break;
		/* A pinned event that finds no counter is in error, which ends its file. */
		if (read(taken[nr], &count, sizeof(count)) != sizeof(count)) {
			close(taken[nr]);
			break;
		}
		nr++;
	}
	return nr;
}

/* A pinned event of a group finds no counter; not even an AUX event is there. */
TEST_F_TIMEOUT(aux_cgroup, pinned_counter_finds_no_counter, 120)
{
	int taken[COUNTERS], pinned;
	struct perf_event_attr attr;
	unsigned int nr;

	nr = take_all_counters(taken, &attr);
	if (!nr || nr == COUNTERS)
		SKIP(return, "%u counters for branches", nr);
	pinned = cgroup_open_event(&attr, self->group[A], CPU, -1);
	ASSERT_GE(pinned, 0);
	EXPECT_TRUE(groups_switch(self->worker, SWITCHES));
	EXPECT_EQ(aux_count_of(pinned), 0);
	/* Not self->counter: a processor without a fixed one has none left for instructions. */
	EXPECT_TRUE(counts(taken[0]));
	close(pinned);
	while (nr--)
		close(taken[nr]);
	EXPECT_TRUE(counts(self->counter));
}

/* The time of an event that waits for a counter goes on, too. This test reads it from CPU 0. */
TEST_F_TIMEOUT(aux_cgroup, enabled_while_it_waits_for_a_counter, 120)
{
	struct aux_event waits;
	struct perf_event_attr attr;
	int taken[COUNTERS];
	unsigned int nr;

	nr = take_all_counters(taken, &attr);
	if (!nr || nr == COUNTERS)
		SKIP(return, "%u counters for branches", nr);
	attr.pinned = 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	waits = (struct aux_event) { .fd = cgroup_open_event(&attr, self->group[A], CPU, -1) };
	ASSERT_GE(waits.fd, 0);
	stop(self->worker[B]);
	EXPECT_TRUE(time_goes_on(&waits, self->worker[A]));
	kill(self->worker[B], SIGCONT);
	close(waits.fd);
	while (nr--)
		close(taken[nr]);
}

TEST_HARNESS_MAIN
