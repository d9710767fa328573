// SPDX-License-Identifier: GPL-2.0-only
/* The trace of a task that forks, executes another program, and ends. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_harness.h"
#include "aux_util_puppet.h"

#define DATA_PAGES	64
#define AREA		(4UL << 20)
#define ROUNDS		20000
#define CHILDREN	6
#define NOBODY		65534

enum { WORK = 'w', BECOME_NOBODY = 'n' };

void aux_puppet_act(char what)
{
	if (what == WORK)
		aux_work(ROUNDS);
	else if (aux_become(NOBODY))
		_exit(5);
}

FIXTURE(aux_life)
{
	struct aux_event event;
	struct aux_log log;
	struct aux_puppet puppet;
	/* a copy of this program, and its directory; empty without one */
	char copy[64], directory[32];
};

#define AUX_FIXTURE aux_life
#include "aux_variants.h"

FIXTURE_SETUP(aux_life)
{
	aux_use(variant->pmu);
	self->event.fd = -1;
	if (aux_missing())
		SKIP(return, "%s", aux_missing());
}

FIXTURE_TEARDOWN(aux_life)
{
	aux_puppet_end(&self->puppet);
	aux_close(&self->event);
	if (self->copy[0])
		unlink(self->copy);
	if (self->directory[0])
		rmdir(self->directory);
}

static int trace(struct aux_event *event, struct perf_event_attr *attr, pid_t pid)
{
	return aux_open_mapped(event, attr, pid, -1, DATA_PAGES) ?:
	       aux_map_area(event, AREA, PROT_READ | PROT_WRITE);
}

/* Trace the puppet until it has executed the program; NULL: an event as aux_attr() says. */
static void trace_up_to_exec(struct __test_metadata *_metadata, FIXTURE_DATA(aux_life) *self,
			     struct perf_event_attr *attr)
{
	ASSERT_EQ(trace(&self->event, attr, self->puppet.pid), 0);
	ASSERT_EQ(aux_enable(&self->event), 0);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, WORK));
	ASSERT_TRUE(aux_puppet_do(&self->puppet, PUPPET_EXEC));
}

/* Whether poll() says, by POLLHUP, that nothing will be traced any more. */
static bool has_ended(struct aux_event *event)
{
	struct pollfd fd = { .fd = event->fd, .events = POLLIN };

	for (unsigned int i = 0; i < 100; i++) {
		if (poll(&fd, 1, 100) == 1 && fd.revents & POLLHUP)
			return true;
	}
	return false;
}

TEST_F_TIMEOUT(aux_life, exit_ends_the_trace, 60)
{
	__u64 head;

	ASSERT_TRUE(aux_puppet_start(&self->puppet));
	ASSERT_EQ(trace(&self->event, NULL, self->puppet.pid), 0);
	ASSERT_EQ(aux_enable(&self->event), 0);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, WORK));
	EXPECT_FALSE(aux_puppet_do(&self->puppet, PUPPET_END));
	EXPECT_TRUE(has_ended(&self->event));

	/* All of it can be read now, and stays. */
	head = aux_head(&self->event);
	EXPECT_GT(head, 0);
	aux_drain(&self->event, &self->log);
	EXPECT_EQ(self->log.end, head);
	EXPECT_EQ(self->log.holes, 0);
}

TEST_F_TIMEOUT(aux_life, exec_keeps_the_trace, 60)
{
	__u64 before;

	ASSERT_TRUE(aux_puppet_start(&self->puppet));
	trace_up_to_exec(_metadata, self, NULL);
	before = aux_head(&self->event);
	EXPECT_GT(before, 0);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, WORK));
	EXPECT_FALSE(aux_puppet_do(&self->puppet, PUPPET_END));
	EXPECT_TRUE(has_ended(&self->event));

	EXPECT_GT(aux_head(&self->event), before);
	aux_drain(&self->event, &self->log);
	EXPECT_EQ(self->log.end, aux_head(&self->event));
	EXPECT_EQ(self->log.holes, 0);
	EXPECT_EQ(self->log.itrace, 1);
}

/* The trace begins when the child executes the program. */
TEST_F_TIMEOUT(aux_life, enable_on_exec, 60)
{
	struct perf_event_attr attr;

	ASSERT_TRUE(aux_puppet_start(&self->puppet));
	aux_attr(&attr);
	attr.enable_on_exec = 1;
	ASSERT_EQ(trace(&self->event, &attr, self->puppet.pid), 0);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, WORK));
	/* The child has worked, and was scheduled out. */
	EXPECT_EQ(aux_time_enabled(&self->event), 0);
	EXPECT_EQ(aux_head(&self->event), 0);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, PUPPET_EXEC));
	EXPECT_GT(aux_time_enabled(&self->event), 0);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, WORK));
	EXPECT_FALSE(aux_puppet_do(&self->puppet, PUPPET_END));
	EXPECT_TRUE(has_ended(&self->event));
	aux_drain(&self->event, &self->log);
	EXPECT_GT(self->log.end, 0);
	EXPECT_EQ(self->log.holes, 0);
	EXPECT_EQ(self->log.itrace, 1);
}

/* The child has executed a program, by which its trace has ended: nothing follows. */
static void check_that_exec_ended_it(struct __test_metadata *_metadata,
				     FIXTURE_DATA(aux_life) *self)
{
	__u64 before;

	EXPECT_TRUE(has_ended(&self->event));
	before = aux_head(&self->event);
	EXPECT_GT(before, 0);
	ASSERT_TRUE(aux_puppet_do(&self->puppet, WORK));
	EXPECT_FALSE(aux_puppet_do(&self->puppet, PUPPET_END));
	EXPECT_EQ(aux_head(&self->event), before);
	aux_drain(&self->event, &self->log);
	EXPECT_EQ(self->log.end, before);
}

TEST_F_TIMEOUT(aux_life, remove_on_exec, 60)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	attr.remove_on_exec = 1;
	ASSERT_TRUE(aux_puppet_start(&self->puppet));
	trace_up_to_exec(_metadata, self, &attr);
	check_that_exec_ended_it(_metadata, self);
}

/* Copy this program to a file that each user may execute, and none but root may read. */
static int copy_of_us(const char *path)
{
	int from = open("/proc/self/exe", O_RDONLY), to = open(path, O_WRONLY | O_CREAT, 0700);
	struct stat about;
	int ret = -1;

	if (from >= 0 && to >= 0 && !fstat(from, &about))
		ret = sendfile(to, from, NULL, about.st_size) == about.st_size ? 0 : -1;
	ret = ret ?: fchmod(to, 0111);
	close(from);
	close(to);
	return ret;
}

/* A user's trace of a program would tell what is in its file, which the user may not read. */
TEST_F_TIMEOUT(aux_life, exec_of_what_nobody_may_read, 60)
{
	if (aux_missing_become())
		SKIP(return, "%s", aux_missing_become());
	snprintf(self->directory, sizeof(self->directory), "/tmp/aux_life.XXXXXX");
	ASSERT_NE(mkdtemp(self->directory), NULL);
	ASSERT_EQ(chmod(self->directory, 0755), 0);
	snprintf(self->copy, sizeof(self->copy), "%s/copy", self->directory);
	ASSERT_EQ(copy_of_us(self->copy), 0);
	if (access(self->copy, X_OK))
		SKIP(return, "programs in /tmp may not be executed");
	aux_puppet_file = self->copy;
	ASSERT_TRUE(aux_puppet_start(&self->puppet));
	ASSERT_TRUE(aux_puppet_do(&self->puppet, BECOME_NOBODY));
	trace_up_to_exec(_metadata, self, NULL);
	check_that_exec_ended_it(_metadata, self);
}

/* Whether a child that touches an address is killed by that. */
static bool is_fatal_to_touch(const char *at)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		/* Without a core file */
		prctl(PR_SET_DUMPABLE, 0);
		signal(SIGSEGV, SIG_DFL);
		aux_peek(at);
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGSEGV;
}

/* A child does not have the mappings of its parent, and its exit does not end the trace. */
TEST_F_TIMEOUT(aux_life, fork_does_not_copy_mappings, 60)
{
	__u64 head;

	ASSERT_EQ(trace(&self->event, NULL, 0), 0);
	aux_enable(&self->event);
	EXPECT_TRUE(is_fatal_to_touch(self->event.area));
	EXPECT_TRUE(is_fatal_to_touch((char *)self->event.page));
	head = aux_head(&self->event);
	aux_work(ROUNDS);
	aux_disable(&self->event);
	EXPECT_GT(aux_head(&self->event), head);
}

/* Tasks, and which of them, by number, have written trace; how many records had others. */
struct writers {
	unsigned int seen, others;
	pid_t tid[CHILDREN + 1];
};

static void note_writer(struct writers *writers, __u32 tid)
{
	for (unsigned int i = 0; i <= CHILDREN; i++) {
		if ((__u32)writers->tid[i] == tid) {
			writers->seen |= 1U << i;
			return;
		}
	}
	writers->others++;
}

/* Trace this task, and others that it makes, on one CPU. */
static void trace_family(struct __test_metadata *_metadata, FIXTURE_DATA(aux_life) *self,
			 bool threads_only)
{
	struct perf_event_attr attr;

	ASSERT_EQ(aux_pin(0, aux_cpu(0)), 0);
	aux_attr(&attr);
	attr.inherit = 1;
	attr.inherit_thread = threads_only;
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID;
	ASSERT_EQ(aux_open_mapped(&self->event, &attr, 0, aux_cpu(0), DATA_PAGES), 0);
	ASSERT_EQ(aux_map_area(&self->event, AREA, PROT_READ | PROT_WRITE), 0);
	ASSERT_EQ(aux_enable(&self->event), 0);
}

/* Records cover all of the trace; each is of one of the tasks. */
static void note_writers(struct __test_metadata *_metadata, struct aux_event *event,
			 struct writers *writers)
{
	static struct aux_record record;
	__u32 ids[2];
	__u64 end = 0;

	while (aux_next(event, &record)) {
		if (record.header.type != PERF_RECORD_AUX || !record.aux.size)
			continue;
		EXPECT_EQ(record.aux.offset, end);
		end = record.aux.offset + record.aux.size;
		/* The last eight bytes: process and thread. */
		memcpy(ids, (char *)&record + record.header.size - sizeof(ids), sizeof(ids));
		note_writer(writers, ids[1]);
	}
	EXPECT_EQ(writers->others, 0);
	EXPECT_EQ(end, aux_head(event));
}

static pid_t work_in_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		aux_work(ROUNDS / 10);
		_exit(0);
	}
	return pid;
}

/*
 * Parent and children share an area of a CPU. A record names the task that has ended its
 * transaction, as each of them does when it exits, or, the parent, sleeps.
 */
TEST_F_TIMEOUT(aux_life, children_are_traced, 60)
{
	struct writers writers = { .tid = { getpid() } };

	trace_family(_metadata, self, false);
	for (unsigned int i = 1; i <= CHILDREN; i++) {
		writers.tid[i] = work_in_child();
		ASSERT_GT(writers.tid[i], 0);
	}
	for (unsigned int i = 1; i <= CHILDREN; i++)
		ASSERT_EQ(waitpid(writers.tid[i], NULL, 0), writers.tid[i]);
	aux_disable(&self->event);
	note_writers(_metadata, &self->event, &writers);
	EXPECT_EQ(writers.seen, (1U << (CHILDREN + 1)) - 1);
}

static void *work_in_thread(void *tid)
{
	*(pid_t *)tid = gettid();
	aux_work(ROUNDS / 10);
	return NULL;
}

/* With inherit_thread, threads are traced, and other children are not. */
TEST_F_TIMEOUT(aux_life, threads_are_traced, 60)
{
	struct writers writers = { .tid = { gettid() } };
	pthread_t thread;
	pid_t child;

	trace_family(_metadata, self, true);
	ASSERT_EQ(pthread_create(&thread, NULL, work_in_thread, &writers.tid[1]), 0);
	ASSERT_EQ(pthread_join(thread, NULL), 0);
	child = work_in_child();
	ASSERT_EQ(waitpid(child, NULL, 0), child);
	aux_disable(&self->event);
	note_writers(_metadata, &self->event, &writers);
	EXPECT_EQ(writers.seen, 3);
}

TEST_HARNESS_MAIN
