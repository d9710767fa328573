// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors of the output, and stops that nothing explains: who is told of them, who
 * finds them where nothing stops the trace, and what that costs where there are none.
 */
#include <asm/intel_pt.h>
#include <asm/msr-index.h>

#include "check.h"
#include "core.h"
#include "hw.h"
#include "machine.h"
#include "pt.h"

#define MEMORY	(1UL << 40)
#define COUNT	(77UL << 32)

static struct trace one, other;

static void open_trace(struct trace *trace)
{
	static const u8 orders[4];

	EXPECT(!trace_init(trace, CONFIG_PLAIN));
	EXPECT(trace_map(trace, orders, 4, false, 0));
}

static void close_trace(struct trace *trace)
{
	trace_unmap(trace);
	trace_destroy(trace);
}

/* Both have traced on both CPUs. */
static void begin(void)
{
	struct trace *traces[] = { &one, &other };
	struct pt_caps caps = caps_all();

	EXPECT(!machine_boot(&caps, MEMORY));
	for (unsigned int i = 0; i < ARRAY_SIZE(traces); i++) {
		open_trace(traces[i]);
		for (shim_cpu = SHIM_CPUS - 1; ; shim_cpu--) {
			EXPECT(!trace_in(traces[i]) && hw_output(100) == 100);
			trace_out(traces[i]);
			if (!shim_cpu)
				break;
		}
	}
}

static void end(void)
{
	close_trace(&one);
	close_trace(&other);
}

/* It has written when its output fails; then it is stopped. */
static void fail(struct trace *trace)
{
	EXPECT(!trace_in(trace) && hw_output(100) == 100);
	hw_this()->status = RTIT_STATUS_ERROR | COUNT;
	machine_warnings = 0;
	trace_out(trace);
	EXPECT(trace->rb.aux.flags == PERF_AUX_FLAG_PARTIAL && !hw_this()->status);
	EXPECT(machine_warnings == 1);
}

/* It traces all it makes; what its record says. */
static u64 flags_of(struct trace *trace)
{
	EXPECT(!trace_in(trace) && hw_output(100) == 100);
	trace_out(trace);
	return trace->rb.aux.flags;
}

/* It is told to the trace that had it, and to no other, which is on either CPU. */
static void test_blame(void)
{
	begin();
	fail(&one);
	EXPECT(!flags_of(&other) && !flags_of(&one));
	fail(&one);
	shim_cpu = 1;
	fail(&other);
	EXPECT(!flags_of(&other) && hw_this()->status);
	/* The gap is followed by a PSB, wherever the trace goes on; the next start is not. */
	EXPECT(!trace_in(&one) && !hw_this()->status && hw_output(100) == 100);
	trace_out(&one);
	EXPECT(!one.rb.aux.flags);
	EXPECT(!trace_in(&one) && hw_this()->status && hw_output(100) == 100);
	trace_out(&one);
	EXPECT(!one.rb.aux.flags);
	shim_cpu = 0;
	EXPECT(!flags_of(&other));
	end();
	verdict("errors: of several traces at a time");
}

/* What stops the trace of a CPU, which nothing else stops; whoever looks finds it. */
static void look_by_read(void)
{
	pt_pmu.pmu.read(&one.event);
}

static void look_each_second(void)
{
	shim_cpu = 1;
	EXPECT(machine_later());
	shim_cpu = 0;
}

static void test_look(void (*look)(void), const char *who)
{
	unsigned int writes, reads, transactions;

	begin();
	EXPECT(!trace_in(&one) && hw_output(100) == 100);
	transactions = one.rb.aux.transactions;
	writes = hw_this()->writes;
	reads = hw_this()->reads;
	look();
	EXPECT(hw_this()->writes == writes && hw_this()->reads == reads + 1 && hw_runs());
	EXPECT(one.rb.aux.transactions == transactions);

	hw_this()->status = RTIT_STATUS_ERROR | COUNT;
	pt_pmu.pmu.read(&other.event);
	EXPECT(!hw_output(100));
	look();
	EXPECT(one.rb.aux.flags == PERF_AUX_FLAG_PARTIAL);
	EXPECT(one.rb.aux.transactions == transactions + 1);
	EXPECT(hw_output(100) == 100);
	core_check(&one);
	trace_out(&one);
	EXPECT(!one.rb.aux.flags);
	end();
	verdict("errors: found by %s, who leaves a healthy trace alone", who);
}

/* Nobody is asked who does not trace. */
static void test_look_at_nothing(void)
{
	unsigned int reads;

	begin();
	reads = hw_this()->reads;
	EXPECT(machine_later() && hw_this()->reads == reads);
	end();
	EXPECT(machine_later() && !machine_later());
	verdict("errors: nothing is traced, and no register read");
}

/* A filter has stopped the trace, for as long as the task runs. */
static void test_look_at_filter(bool overwrite)
{
	static const u8 orders[4];
	unsigned int transactions;

	begin();
	trace_unmap(&one);
	EXPECT(trace_map(&one, orders, 4, overwrite, 0));
	EXPECT(!trace_in(&one) && hw_output(100) == 100);
	one.event.hw.aux_config |= 2UL << 44;
	transactions = one.rb.aux.transactions;
	hw_this()->ctl = one.event.hw.aux_config;
	hw_this()->status |= RTIT_STATUS_STOPPED;
	look_each_second();
	look_by_read();
	EXPECT(!hw_runs() && one.rb.aux.transactions == transactions);
	/* An error beside it is one. */
	hw_this()->status |= RTIT_STATUS_ERROR;
	look_each_second();
	EXPECT(one.rb.aux.flags == PERF_AUX_FLAG_PARTIAL);
	EXPECT(one.rb.aux.transactions == transactions + 1);
	trace_out(&one);
	EXPECT(!one.rb.aux.flags);
	end();
	verdict("errors: none, a filter stops the trace, %s",
		overwrite ? "newest data win" : "all data");
}

/* Status and position do not agree, as the SDM has them. What is lost, is told. */
static void test_disagreement(void)
{
	begin();
	/* It stops in the region with STOP: all of that is written, whatever the offset. */
	EXPECT(!trace_in(&one) && hw_output(1UL << 20) == 4 * 4096 - 200);
	hw_this()->ptrs &= 0xffffffff;
	machine_bugs = 1;
	core_deliver();
	EXPECT(!machine_bugs && one.rb.aux.flags == PERF_AUX_FLAG_TRUNCATED);
	EXPECT(one.rb.aux.head == 4 * 4096);
	trace_out(&one);
	trace_read(&one, 4 * 4096);

	/* It does not say that it has stopped. */
	EXPECT(!trace_in(&one) && hw_output(1UL << 20) == 4 * 4096);
	hw_this()->status = COUNT;
	machine_bugs = 1;
	core_deliver();
	EXPECT(!machine_bugs && one.rb.aux.flags == PERF_AUX_FLAG_TRUNCATED);
	EXPECT(one.rb.aux.head == 8 * 4096);
	trace_out(&one);
	trace_read(&one, 4 * 4096);

	/* It stops somewhere else: the trace goes on from there. */
	EXPECT(!trace_in(&one) && hw_output(100) == 100);
	hw_this()->status |= RTIT_STATUS_STOPPED;
	machine_bugs = 3;
	look_each_second();
	EXPECT(machine_bugs == 1 && one.rb.aux.flags == PERF_AUX_FLAG_PARTIAL);
	machine_bugs = 0;
	EXPECT(one.rb.aux.head == 8 * 4096 + 100 && hw_output(100) == 100);
	trace_out(&one);
	EXPECT(!one.rb.aux.flags);
	end();
	verdict("errors: hardware stops where it should not, or does not say so");
}

/* An event goes on with another area. */
static void test_remap(void)
{
	static const u8 orders[4];

	begin();
	EXPECT(!flags_of(&one) && hw_this()->status);
	trace_unmap(&one);
	EXPECT(trace_map(&one, orders, 4, false, 0));
	EXPECT(!trace_in(&one) && !hw_this()->status);
	trace_out(&one);
	end();
	verdict("errors: none, but a new area begins with PSB");
}

void test_unseen_errors(void)
{
	test_blame();
	test_look(look_by_read, "who reads the event");
	test_look(look_each_second, "a look once in a second");
	test_look_at_nothing();
	test_look_at_filter(false);
	test_look_at_filter(true);
	test_disagreement();
	test_remap();
}
