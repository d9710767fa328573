// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that refer to the AUX event that leads their group: who may, and what
 * becomes of them when it goes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_harness.h"

#define PERIOD		20000
#define SAMPLE_SIZE	1024
#define ROUNDS		200000
#define SIBLINGS	3
#define FORKS		40
#define FORK_SECONDS	8
#define TOGGLES		500
#define TOGGLE_SECONDS	15
#define PATIENCE	15
#define DATA_PAGES	16
#define AREA		(64UL << 10)

enum leader { LEADER_NONE, LEADER_AUX, LEADER_OTHER };

/* How an event refers to a trace, and the errno of that */
static const struct link {
	const char *name;
	enum leader leader;
	__u32 sample_size;
	__u32 action;
	int want;
} links[] = {
	{ "sample", LEADER_AUX, SAMPLE_SIZE },
	{ "sample alone", LEADER_NONE, SAMPLE_SIZE, .want = EINVAL },
	{ "sample of no AUX event", LEADER_OTHER, SAMPLE_SIZE, .want = EINVAL },
	{ "pause", LEADER_AUX, .action = AUX_PAUSE },
	{ "pause alone", LEADER_NONE, .action = AUX_PAUSE, .want = EINVAL },
	{ "pause of no AUX event", LEADER_OTHER, .action = AUX_PAUSE, .want = EINVAL },
	{ "resume", LEADER_AUX, .action = AUX_RESUME },
	{ "resume alone", LEADER_NONE, .action = AUX_RESUME, .want = EINVAL },
	{ "resume of no AUX event", LEADER_OTHER, .action = AUX_RESUME, .want = EINVAL },
	{ "pause and resume", LEADER_AUX, .action = AUX_PAUSE | AUX_RESUME, .want = EINVAL },
	{ "start paused", LEADER_NONE, .action = AUX_START_PAUSED, .want = EOPNOTSUPP },
	{ "a bit without a meaning", LEADER_AUX, .action = AUX_NO_ACTION, .want = EINVAL },
	{ "pause and such a bit", LEADER_AUX, .action = AUX_PAUSE | AUX_NO_ACTION, .want = EINVAL },
};

static void open_leader(struct __test_metadata *_metadata, enum leader leader, int *fd)
{
	struct perf_event_attr attr;

	*fd = -1;
	if (leader == LEADER_NONE)
		return;
	if (leader == LEADER_AUX)
		aux_attr(&attr);
	else
		aux_sampler_attr(&attr, PERIOD);
	*fd = aux_open(&attr, 0, -1);
	ASSERT_GE(*fd, 0);
}

static void try_link(struct __test_metadata *_metadata, const struct link *link)
{
	struct perf_event_attr attr;
	int leader, fd;

	open_leader(_metadata, link->leader, &leader);
	aux_sampler_attr(&attr, PERIOD);
	attr.sample_type = link->sample_size ? PERF_SAMPLE_AUX : 0;
	attr.aux_sample_size = link->sample_size;
	aux_set_action(&attr, link->action);
	errno = 0;
	fd = aux_open_in_group(&attr, 0, -1, leader);
	EXPECT_EQ(errno, link->want)
		TH_LOG("%s", link->name);
	EXPECT_EQ(fd < 0, !!link->want);
	close(fd);
	close(leader);
}

#include "aux_fixture.h"

TEST_F(aux, errno_of_each_sample_is_right)
{
	if (aux_missing_samples())
		SKIP(return, "%s", aux_missing_samples());
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		if (links[i].sample_size)
			try_link(_metadata, &links[i]);
	}
}

TEST_F(aux, errno_of_each_action_is_right)
{
	if (aux_missing_pause())
		SKIP(return, "%s", aux_missing_pause());
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		if (links[i].action)
			try_link(_metadata, &links[i]);
	}
}

/* What an AUX event does if it overflows: it does not, and as it has no leader it is refused. */
TEST_F(aux, leader_acts_on_nothing)
{
	static const __u32 actions[] = { AUX_PAUSE, AUX_RESUME, AUX_NO_ACTION };
	struct perf_event_attr attr;

	if (aux_missing_pause())
		SKIP(return, "%s", aux_missing_pause());
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		aux_attr(&attr);
		aux_set_action(&attr, actions[i]);
		EXPECT_EQ(aux_open(&attr, 0, -1), -1);
		EXPECT_EQ(errno, EINVAL);
	}
}

/* Errno of an event that outputs to the trace of its leader, which is closed then; 0 if it does */
static int try_output(struct perf_event_attr *attr, int leader)
{
	int fd, error;

	attr->aux_output = 1;
	fd = aux_open_in_group(attr, 0, -1, leader);
	error = fd < 0 ? errno : 0;
	close(fd);
	close(leader);
	return error;
}

/* A trace has to be there; and only some events of some processors can output to it. */
TEST_F(aux, output_needs_a_trace)
{
	struct perf_event_attr attr;
	int leader, want;

	open_leader(_metadata, LEADER_AUX, &leader);
	aux_sampler_attr(&attr, PERIOD);
	want = try_output(&attr, leader) == EOPNOTSUPP ? EOPNOTSUPP : EINVAL;
	EXPECT_EQ(try_output(&attr, -1), want);
	open_leader(_metadata, LEADER_OTHER, &leader);
	EXPECT_EQ(try_output(&attr, leader), want);

	open_leader(_metadata, LEADER_AUX, &leader);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	EXPECT_EQ(try_output(&attr, leader), EOPNOTSUPP);
}

/* Few processors have events that can output to the trace. */
TEST_F(aux, output_has_no_sample)
{
	struct perf_event_attr attr;
	int leader, fd;

	if (aux_missing_samples())
		SKIP(return, "%s", aux_missing_samples());
	open_leader(_metadata, LEADER_AUX, &leader);
	aux_sampler_attr(&attr, PERIOD);
	attr.aux_output = 1;
	fd = aux_open_in_group(&attr, 0, -1, leader);
	if (fd < 0)
		SKIP(return, "the processor's events have no aux_output");
	close(fd);
	attr.sample_type = PERF_SAMPLE_AUX;
	attr.aux_sample_size = SAMPLE_SIZE;
	EXPECT_EQ(aux_open_in_group(&attr, 0, -1, leader), -1);
	EXPECT_EQ(errno, EINVAL);
	close(leader);
}

/* Not every kernel puts an event of software on at once, see below. */
static bool counts(int fd, __u32 type)
{
	unsigned int tries = type == PERF_TYPE_SOFTWARE ? 100 : 1;

	for (unsigned int i = 0; i < tries && !aux_count_of(fd); i++)
		aux_work(ROUNDS);
	return aux_count_of(fd);
}

/* The trace is a member of a group that software leads, and that runs already. */
TEST_F(aux, member_of_software_starts_at_once)
{
	struct aux_event trace = { .fd = -1 };
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK, .exclude_kernel = 1,
	};
	int leader, cpu = aux_cpu(0);
	__u64 head = 0;

	if (aux_missing_cpu())
		SKIP(return, "%s", aux_missing_cpu());
	ASSERT_EQ(aux_pin(0, cpu), 0);
	leader = aux_open(&attr, -1, cpu);
	ASSERT_GE(leader, 0);
	aux_attr(&attr);
	trace.fd = aux_open_in_group(&attr, -1, cpu, leader);
	ASSERT_GE(trace.fd, 0);
	ASSERT_EQ(aux_map_data(&trace, DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&trace, AREA, PROT_READ | PROT_WRITE), 0);
	for (unsigned int i = 0; i < SIBLINGS; i++) {
		ASSERT_EQ(aux_enable(&trace), 0);
		EXPECT_GT(aux_fill(&trace), head);
		head = aux_head(&trace);
		aux_set_tail(&trace, head);
	}
	aux_close(&trace);
	close(leader);
}

/* They have nothing left to refer to: each of them is in error, the others go on. */
TEST_F(aux, siblings_of_a_closed_leader_end)
{
	struct aux_event leader = { .fd = -1 };
	struct perf_event_attr attr;
	int fd[SIBLINGS + 1];
	char byte[64];

	if (aux_missing_pause())
		SKIP(return, "%s", aux_missing_pause());
	aux_attr(&attr);
	attr.disabled = 0;
	ASSERT_EQ(aux_open_mapped(&leader, &attr, 0, -1, DATA_PAGES), 0);
	/* A group runs if its leader does, and that one needs an area. */
	ASSERT_EQ(aux_map_area(&leader, AREA, PROT_READ), 0);
	for (unsigned int i = 0; i <= SIBLINGS; i++) {
		aux_sampler_attr(&attr, PERIOD);
		aux_set_action(&attr, i < SIBLINGS ? AUX_PAUSE : 0);
		fd[i] = aux_open_in_group(&attr, 0, -1, leader.fd);
		ASSERT_GE(fd[i], 0);
	}
	for (unsigned int i = 0; i <= SIBLINGS; i++)
		EXPECT_TRUE(counts(fd[i], attr.type));

	aux_close(&leader);
	for (unsigned int i = 0; i < SIBLINGS; i++)
		EXPECT_EQ(read(fd[i], byte, sizeof(byte)), 0);
	EXPECT_EQ(read(fd[SIBLINGS], byte, sizeof(byte)), sizeof(__u64));
	for (unsigned int i = 0; i <= SIBLINGS; i++)
		close(fd[i]);
}

/* Works until it is killed, as the first sample comes late where a machine is slow. */
static void sampled_child(int cpu)
{
	aux_pin(0, cpu);
	for (;;)
		aux_work(ROUNDS);
}

/* Whether a sample of the task PID comes that has some of its trace. */
static bool sample_comes(struct aux_event *event, pid_t pid)
{
	double end = aux_seconds() + PATIENCE;
	static struct aux_record record;
	__u64 size = 0;

	while (!size && aux_seconds() < end) {
		if (aux_next(event, &record) && record.header.type == PERF_RECORD_SAMPLE &&
		    record.itrace.pid == (__u32)pid)
			size = *(__u64 *)(record.bytes + sizeof(record.itrace));
	}
	return size;
}

/* The group is inherited with its links: the child's samples have the child's trace. */
TEST_F(aux, child_keeps_the_link)
{
	struct aux_event trace = { .fd = -1 }, event = { .fd = -1 };
	struct perf_event_attr attr;
	pid_t pid;

	if (aux_missing_samples())
		SKIP(return, "%s", aux_missing_samples());
	aux_attr(&attr);
	attr.inherit = 1;
	attr.disabled = 0;
	/* An event that is inherited and mapped stays on one CPU. */
	ASSERT_EQ(aux_open_mapped(&trace, &attr, 0, aux_cpu(0), DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&trace, AREA, PROT_READ), 0);
	aux_sampler_attr(&attr, PERIOD);
	attr.inherit = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_AUX;
	attr.aux_sample_size = SAMPLE_SIZE;
	event.fd = aux_open_in_group(&attr, 0, aux_cpu(0), trace.fd);
	ASSERT_GE(event.fd, 0);
	ASSERT_EQ(aux_map_data(&event, DATA_PAGES), 0);

	pid = fork();
	if (!pid)
		sampled_child(aux_cpu(0));
	ASSERT_GT(pid, 0);
	EXPECT_TRUE(sample_comes(&event, pid));
	kill(pid, SIGKILL);
	ASSERT_EQ(waitpid(pid, NULL, 0), pid);
	aux_close(&event);
	aux_close(&trace);
}

/* A child that forks again and again, once it is told to; how often that failed. */
static void fork_often(int told, unsigned int *failures)
{
	char byte;
	pid_t pid;

	aux_pin(0, 1);
	if (read(told, &byte, 1) != 1 || fork())
		goto out;
	for (unsigned int i = 0; i < FORKS; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid < 0)
			__atomic_fetch_add(failures, 1, __ATOMIC_RELAXED);
		else
			waitpid(pid, NULL, 0);
	}
out:
	while (wait(NULL) > 0)
		;
	_exit(0);
}

static int open_inherited(struct perf_event_attr *attr, pid_t pid, int leader)
{
	attr->inherit = 1;
	return aux_open_in_group(attr, pid, -1, leader);
}

/* Closes the leader of an inherited group while a grandchild of the traced task forks. */
static bool close_while_forking(unsigned int *failures, unsigned int wait_us)
{
	int pipes[2], leader, member, ret = pipe(pipes);
	struct perf_event_attr attr;
	pid_t pid = fork();

	if (!pid)
		fork_often(pipes[0], failures);
	aux_attr(&attr);
	leader = open_inherited(&attr, pid, -1);
	aux_sampler_attr(&attr, PERIOD);
	aux_set_action(&attr, AUX_PAUSE);
	member = open_inherited(&attr, pid, leader);
	ret = ret || leader < 0 || member < 0;

	ret = write(pipes[1], "", 1) != 1 || ret;
	usleep(wait_us);
	close(leader);
	waitpid(pid, NULL, 0);
	close(member);
	close(pipes[0]);
	close(pipes[1]);
	return !ret;
}

TEST_F(aux, fork_goes_on_while_the_leader_is_closed)
{
	unsigned int *failures = mmap(NULL, sizeof(*failures), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	double begin = aux_seconds();

	if (aux_missing_pause())
		SKIP(return, "%s", aux_missing_pause());
	ASSERT_NE(failures, MAP_FAILED);
	for (unsigned int i = 0; aux_seconds() - begin < FORK_SECONDS; i++)
		ASSERT_TRUE(close_while_forking(failures, i * 997 % 20000));
	EXPECT_EQ(*failures, 0);
	munmap(failures, sizeof(*failures));
}

/* A child that forks all the time, on CPU 1 if there is one; its children end soon. */
static pid_t forking_child(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	aux_pin(0, 1);
	for (;;) {
		pid = fork();
		if (!pid) {
			aux_work(1000);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

/* What is disabled counts nothing, not even in tasks that the child forks meanwhile. */
TEST(grandchild_is_disabled_with_its_family)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .inherit = 1,
		.config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1,
	};
	double begin = aux_seconds();
	pid_t child;
	int fd;

	if (aux_missing_events())
		SKIP(return, "%s", aux_missing_events());
	fd = aux_open(&attr, 0, -1);
	ASSERT_GE(fd, 0);
	child = forking_child();
	aux_pin(0, 0);
	for (unsigned int i = 0; i < TOGGLES && aux_seconds() - begin < TOGGLE_SECONDS; i++) {
		__u64 count;

		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		count = aux_count_of(fd);
		usleep(1000);
		EXPECT_EQ(aux_count_of(fd), count);
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		usleep(i * 97 % 3000);
	}
	EXPECT_GT(aux_count_of(fd), 0);
	aux_end_worker(child);
	close(fd);
}

TEST_HARNESS_MAIN
