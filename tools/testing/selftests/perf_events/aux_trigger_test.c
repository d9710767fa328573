// SPDX-License-Identifier: GPL-2.0-only
/*
 * What pauses and resumes a trace, at exactly which moment, and for how long: the trace stays
 * paused, or not, wherever its task goes. A puppet pulls the triggers and works; what is traced
 * meanwhile is something or nothing at all.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aux_harness.h"
#include "aux_util_puppet.h"
#include "aux_synth.h"

#define DATA_PAGES	16
#define AREA		(1024UL * 1024)
#define ROUNDS		20000
/* Packets that a trace which is not paused has for sure written meanwhile */
#define ENOUGH		16
#define CHILDREN	8
/* Seconds */
#define PATIENCE	20

/* What the puppet can be told */
#define WORK		'w'
#define RESUME		'r'
#define PAUSE		'p'

/* Both are written at an address that is the same after an exec. */
#define PLACE		0x30000000UL

struct place {
	__u32 resume, pause;
};

static struct place *place(void)
{
	static void *map;

	if (!map)
		map = mmap((void *)PLACE, sizeof(struct place), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (map != (void *)PLACE)
		_exit(5);
	return map;
}

/* Each triggers an event of each kind, whichever is open. */
void aux_puppet_act(char what)
{
	struct rusage usage;

	if (what == WORK) {
		aux_work(ROUNDS);
	} else if (what == RESUME) {
		__atomic_store_n(&place()->resume, 1, __ATOMIC_RELAXED);
		prctl(PR_SET_NAME, "aux_puppet");
		getrusage(RUSAGE_SELF, &usage);
	} else {
		__atomic_store_n(&place()->pause, 1, __ATOMIC_RELAXED);
		waitpid(-1, NULL, WNOHANG);
		setsid();
	}
}

enum kind { BREAKPOINT, TRACEPOINT, KPROBE };

FIXTURE(aux_trigger)
{
	struct aux_puppet puppet;
	/* Of the same task or CPU as the trace; nothing pauses it */
	struct aux_event trace, witness;
	int resume, pause;
	/* The CPU of all events, or -1; they are of all tasks there, or inherited by children. */
	int cpu;
	bool everybody, inherit;
};

#define AUX_FIXTURE aux_trigger
#include "aux_variants.h"

FIXTURE_SETUP(aux_trigger)
{
	self->trace.fd = -1;
	self->witness.fd = -1;
	self->resume = -1;
	self->pause = -1;
	self->cpu = -1;
	aux_use(variant->pmu);
	if (aux_missing_pause())
		SKIP(return, "%s", aux_missing_pause());
	ASSERT_TRUE(aux_puppet_start(&self->puppet));
}

FIXTURE_TEARDOWN(aux_trigger)
{
	aux_puppet_end(&self->puppet);
	close(self->resume);
	close(self->pause);
	aux_close(&self->witness);
	aux_close(&self->trace);
}

static int open_trace(FIXTURE_DATA(aux_trigger) *self, struct aux_event *event, __u32 action)
{
	struct perf_event_attr attr;

	aux_attr(&attr);
	attr.inherit = self->inherit;
	/* The head of aux_synth moves by each packet. */
	attr.aux_watermark = aux_by_time() ? SYNTH_PACKET : 0;
	aux_set_action(&attr, action);
	return aux_open_mapped(event, &attr, self->everybody ? -1 : self->puppet.pid, self->cpu,
			       DATA_PAGES) ?: aux_map_area(event, AREA, PROT_READ | PROT_WRITE);
}

static void set_kind(struct perf_event_attr *attr, enum kind kind, bool resume)
{
	switch (kind) {
	case BREAKPOINT:
		attr->type = PERF_TYPE_BREAKPOINT;
		attr->exclude_kernel = 1;
		attr->bp_type = HW_BREAKPOINT_W;
		attr->bp_len = HW_BREAKPOINT_LEN_4;
		attr->bp_addr = PLACE + (resume ? offsetof(struct place, resume) :
						  offsetof(struct place, pause));
		break;
	case TRACEPOINT:
		attr->type = PERF_TYPE_TRACEPOINT;
		attr->config = aux_read_number(resume ?
			"/sys/kernel/tracing/events/task/task_rename/id" :
			"/sys/kernel/tracing/events/sched/sched_process_wait/id");
		break;
	case KPROBE:
		attr->type = aux_type_of("kprobe");
		attr->kprobe_func = (uintptr_t)(resume ? "getrusage" : "ksys_setsid");
		break;
	}
}

static int open_trigger(FIXTURE_DATA(aux_trigger) *self, enum kind kind, __u32 action)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_period = 1, .inherit = self->inherit,
	};

	set_kind(&attr, kind, action == AUX_RESUME);
	aux_set_action(&attr, action);
	return aux_open_in_group(&attr, self->everybody ? -1 : self->puppet.pid, self->cpu,
				 self->trace.fd);
}

static void open_all(struct __test_metadata *_metadata, FIXTURE_DATA(aux_trigger) *self,
		     enum kind kind)
{
	ASSERT_EQ(open_trace(self, &self->trace, AUX_START_PAUSED), 0);
	self->resume = open_trigger(self, kind, AUX_RESUME);
	self->pause = open_trigger(self, kind, AUX_PAUSE);
	if (kind == BREAKPOINT) {
		ASSERT_GE(self->resume, 0);
		ASSERT_GE(self->pause, 0);
	}
	if (aux_by_time()) {
		aux_use("aux_synth_large");
		ASSERT_EQ(open_trace(self, &self->witness, 0), 0);
		ASSERT_EQ(aux_enable(&self->witness), 0);
	}
	ASSERT_EQ(aux_enable(&self->trace), 0);
}

/* To be told where it is, disable the event: paused or not, it is so again when enabled. */
static __u64 position(FIXTURE_DATA(aux_trigger) *self)
{
	__u64 head;

	aux_disable(&self->trace);
	head = aux_head(&self->trace);
	aux_set_tail(&self->trace, head);
	aux_enable(&self->trace);
	return head;
}

/* Whether the puppet's work would be in a trace that is not paused. */
static bool has_worked(FIXTURE_DATA(aux_trigger) *self, __u64 seen)
{
	__u64 head;

	if (self->witness.fd < 0)
		return true;
	head = aux_head(&self->witness);
	aux_set_tail(&self->witness, head);
	aux_enable(&self->witness);
	return head >= seen + ENOUGH * SYNTH_PACKET;
}

/* Let the puppet work, of which there is a trace, or not a byte. */
static void expect_trace(struct __test_metadata *_metadata, FIXTURE_DATA(aux_trigger) *self,
			 bool runs)
{
	__u64 begin = position(self), head, seen = 0;
	double end = aux_seconds() + PATIENCE;
	bool enough;

	if (self->witness.fd >= 0)
		seen = aux_head(&self->witness);
	do {
		ASSERT_TRUE(aux_puppet_do(&self->puppet, WORK));
		enough = has_worked(self, seen);
		head = position(self);
	} while (!(runs ? head > begin : enough) && aux_seconds() < end);
	if (runs) {
		ASSERT_GT(head, begin);
	} else {
		EXPECT_TRUE(enough);
		EXPECT_EQ(head, begin);
	}
}

static void pull(struct __test_metadata *_metadata, FIXTURE_DATA(aux_trigger) *self, char what)
{
	ASSERT_TRUE(aux_puppet_do(&self->puppet, what));
	expect_trace(_metadata, self, what == RESUME);
}

static void pause_and_resume(struct __test_metadata *_metadata, FIXTURE_DATA(aux_trigger) *self,
			     enum kind kind)
{
	open_all(_metadata, self, kind);
	if (self->resume < 0 || self->pause < 0)
		SKIP(return, "no such tracepoint or kprobe, or not for this user");
	expect_trace(_metadata, self, false);
	pull(_metadata, self, RESUME);
	pull(_metadata, self, PAUSE);
	/* What is so already stays so. */
	pull(_metadata, self, PAUSE);
	pull(_metadata, self, RESUME);
	pull(_metadata, self, RESUME);
}

TEST_F(aux_trigger, breakpoint)
{
	pause_and_resume(_metadata, self, BREAKPOINT);
}

TEST_F(aux_trigger, tracepoint)
{
	pause_and_resume(_metadata, self, TRACEPOINT);
}

TEST_F(aux_trigger, kprobe)
{
	pause_and_resume(_metadata, self, KPROBE);
}

/* A group of a CPU: whichever task pulls the trigger, all that run there are paused. */
TEST_F(aux_trigger, group_of_a_cpu)
{
	if (aux_missing_cpu())
		SKIP(return, "%s", aux_missing_cpu());
	self->cpu = aux_cpu(0);
	self->everybody = true;
	ASSERT_EQ(aux_pin(self->puppet.pid, self->cpu), 0);
	pause_and_resume(_metadata, self, BREAKPOINT);
}

TEST_F(aux_trigger, stays_on_another_cpu)
{
	if (aux_cpu(1) < 0)
		SKIP(return, "one CPU only");
	open_all(_metadata, self, BREAKPOINT);
	for (unsigned int i = 0; i < 2; i++) {
		ASSERT_EQ(aux_pin(self->puppet.pid, aux_cpu(0)), 0);
		pull(_metadata, self, i ? PAUSE : RESUME);
		ASSERT_EQ(aux_pin(self->puppet.pid, aux_cpu(1)), 0);
		expect_trace(_metadata, self, !i);
	}
}

TEST_F(aux_trigger, stays_over_exec)
{
	open_all(_metadata, self, BREAKPOINT);
	for (unsigned int i = 0; i < 3; i++) {
		ASSERT_TRUE(aux_puppet_do(&self->puppet, PUPPET_EXEC));
		expect_trace(_metadata, self, i % 2);
		pull(_metadata, self, i % 2 ? PAUSE : RESUME);
	}
}

/* A child begins as the attribute says, and neither it nor its parent pauses the other. */
TEST_F_TIMEOUT(aux_trigger, child_has_its_own, 60)
{
	self->cpu = aux_cpu(0);
	self->inherit = true;
	ASSERT_EQ(aux_pin(self->puppet.pid, self->cpu), 0);
	open_all(_metadata, self, BREAKPOINT);
	pull(_metadata, self, RESUME);
	for (unsigned int i = 0; i < CHILDREN; i++) {
		ASSERT_TRUE(aux_puppet_do(&self->puppet, PUPPET_FORK));
		expect_trace(_metadata, self, false);
		pull(_metadata, self, RESUME);
		pull(_metadata, self, PAUSE);
		ASSERT_TRUE(aux_puppet_do(&self->puppet, PUPPET_END));
		expect_trace(_metadata, self, true);
	}
}

TEST_HARNESS_MAIN
