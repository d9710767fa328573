// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors of the output that nobody sees when they happen: another trace begins on
 * the CPU, the trace goes on elsewhere, or nothing ever stops it.
 */
#include <linux/jiffies.h>

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

/* It has written when its output fails; it is stopped, and nobody looks. */
static void fail(struct trace *trace)
{
	EXPECT(!trace_in(trace) && hw_output(100) == 100);
	hw_this()->status = RTIT_STATUS_ERROR | COUNT;
	trace_out(trace);
	EXPECT(!trace->rb.aux.flags && hw_this()->status & RTIT_STATUS_ERROR);
}

/* It traces all it makes; what its record says. */
static u64 flags_of(struct trace *trace)
{
	EXPECT(!trace_in(trace) && hw_output(100) == 100);
	trace_out(trace);
	return trace->rb.aux.flags;
}

static void test_blame(void)
{
	begin();
	fail(&one);
	EXPECT(!flags_of(&other) && !(hw_this()->status & RTIT_STATUS_ERROR));

	/* Its own is told, and it begins with PSB; once. */
	EXPECT(!trace_in(&one) && !hw_this()->status && hw_output(100) == 100);
	trace_out(&one);
	EXPECT(one.rb.aux.flags == PERF_AUX_FLAG_PARTIAL);
	EXPECT(!flags_of(&one) && !flags_of(&other));
	end();
	verdict("errors: another trace begins on the CPU");
}

/* The count of packets is cleared for an event that starts for the first time. */
static void test_first_start(void)
{
	struct pt_caps caps = caps_all();
	unsigned int reads;

	/* Then the status is known, and is not read in this tick. */
	EXPECT(!machine_boot(&caps, MEMORY));
	open_trace(&one);
	jiffies++;
	reads = hw_this()->reads;
	EXPECT(!flags_of(&one) && hw_this()->reads == reads + 1);
	close_trace(&one);

	begin();
	close_trace(&other);
	open_trace(&other);
	fail(&one);
	EXPECT(!flags_of(&other));
	EXPECT(flags_of(&one) == PERF_AUX_FLAG_PARTIAL);

	/* Another event of the same area. */
	fail(&one);
	one.event.hw.aux_config &= ~(u64)RTIT_CTL_TRACEEN;
	EXPECT(flags_of(&one) == PERF_AUX_FLAG_PARTIAL);
	EXPECT(!flags_of(&one));
	end();
	verdict("errors: the next trace is new");
}

static void test_migration(void)
{
	begin();
	fail(&one);
	shim_cpu = 1;
	EXPECT(!flags_of(&one));
	shim_cpu = 0;
	EXPECT(!flags_of(&other));
	shim_cpu = 1;
	EXPECT(!trace_in(&one) && !hw_this()->status && hw_output(100) == 100);
	trace_out(&one);
	EXPECT(one.rb.aux.flags == PERF_AUX_FLAG_PARTIAL);
	shim_cpu = 0;
	end();
	verdict("errors: found when the trace is elsewhere");
}

/* Where there is none, it is looked once, and the count goes on. */
static void test_no_error(void)
{
	unsigned int reads;

	begin();
	EXPECT(!flags_of(&one));
	hw_this()->status = COUNT;
	reads = hw_this()->reads;
	EXPECT(!trace_in(&other) && hw_this()->reads == reads + 1 && hw_this()->status == COUNT);
	EXPECT(hw_output(100) == 100);
	trace_out(&other);
	reads = hw_this()->reads;
	EXPECT(!trace_in(&other) && hw_this()->reads == reads && hw_output(100) == 100);
	trace_out(&other);
	EXPECT(hw_this()->reads == reads + 1);

	/* It is looked once in a tick, by whoever begins, or ends. */
	jiffies++;
	reads = hw_this()->reads;
	EXPECT(!flags_of(&one) && hw_this()->reads == reads + 2);
	EXPECT(!flags_of(&one) && hw_this()->reads == reads + 3);
	jiffies++;
	EXPECT(!trace_in(&one) && hw_output(100) == 100);
	trace_out(&one);
	reads = hw_this()->reads;
	EXPECT(!trace_in(&other) && hw_this()->reads == reads && hw_output(100) == 100);
	trace_out(&other);

	/* The registers of a CPU that was off are as it left them, or reset. */
	fail(&one);
	machine_cpu_up(0, SHIM_CPUHP_STATES);
	reads = hw_this()->reads;
	EXPECT(!trace_in(&other) && hw_this()->reads == reads);
	trace_out(&other);
	EXPECT(!other.rb.aux.flags);
	EXPECT(flags_of(&one) == PERF_AUX_FLAG_PARTIAL);
	hw_reset_cpu(0);
	machine_cpu_up(0, SHIM_CPUHP_STATES);
	EXPECT(!flags_of(&one) && !flags_of(&other));
	end();
	verdict("errors: none, and what it costs to know");
}

/* read(2) of an event that is never stopped, once in a tick. */
static void test_read(void)
{
	unsigned int writes;

	begin();
	EXPECT(!trace_in(&one) && hw_output(100) == 100);
	writes = hw_this()->writes;
	pt_pmu.pmu.read(&one.event);
	EXPECT(hw_this()->writes == writes);

	hw_this()->status = RTIT_STATUS_ERROR | COUNT;
	jiffies++;
	pt_pmu.pmu.read(&other.event);
	EXPECT(!hw_output(100));
	pt_pmu.pmu.read(&one.event);
	EXPECT(hw_output(100) == 100 && !(hw_this()->status & RTIT_STATUS_ERROR));
	core_check(&one);
	trace_out(&one);
	EXPECT(one.rb.aux.flags == PERF_AUX_FLAG_PARTIAL);

	/* Who finds it is not who traces next. */
	EXPECT(!trace_in(&one) && hw_output(100) == 100);
	hw_this()->status = RTIT_STATUS_ERROR | COUNT;
	jiffies++;
	pt_pmu.pmu.read(&one.event);
	trace_out(&one);
	shim_cpu = 1;
	hw_this()->status = COUNT;
	EXPECT(!trace_in(&one) && !hw_this()->status);
	trace_out(&one);
	shim_cpu = 0;
	end();
	verdict("errors: found by who reads the event");
}

/* Two CPUs, two errors; and areas that are gone, or new at the same place. */
static void test_several(void)
{
	begin();
	fail(&one);
	shim_cpu = 1;
	fail(&other);
	machine_warnings = 0;
	EXPECT(flags_of(&one) == 0);
	EXPECT(machine_warnings == 1);
	shim_cpu = 0;
	EXPECT(flags_of(&other) == PERF_AUX_FLAG_PARTIAL);
	EXPECT(flags_of(&one) == PERF_AUX_FLAG_PARTIAL);
	EXPECT(!flags_of(&one) && !flags_of(&other));

	fail(&one);
	close_trace(&one);
	open_trace(&one);
	EXPECT(!flags_of(&one));
	fail(&one);
	close_trace(&one);
	EXPECT(!flags_of(&other));
	open_trace(&one);
	EXPECT(!flags_of(&one));
	end();
	verdict("errors: of several traces at a time, and of some that are gone");
}

/* A CPU's trace that nothing ever stops, and that nobody asks. */
static void test_watch(void)
{
	begin();
	while (machine_later() && !jiffies)
		;
	EXPECT(!trace_in(&one) && hw_output(100) == 100);
	hw_this()->status = RTIT_STATUS_ERROR | COUNT;
	jiffies++;
	shim_cpu = 1;
	EXPECT(machine_later());
	shim_cpu = 0;
	EXPECT(hw_output(100) == 100 && !(hw_this()->status & RTIT_STATUS_ERROR));
	trace_out(&one);
	EXPECT(one.rb.aux.flags == PERF_AUX_FLAG_PARTIAL);

	/* The task has left the CPU, where nothing is traced any more. */
	fail(&one);
	shim_cpu = 1;
	EXPECT(!flags_of(&one));
	EXPECT(machine_later());
	EXPECT(flags_of(&one) == PERF_AUX_FLAG_PARTIAL);
	shim_cpu = 0;
	EXPECT(!flags_of(&other) && !flags_of(&one));
	end();
	EXPECT(machine_later() && !machine_later());
	verdict("errors: found by a look once in a second");
}

/* No look ends a transaction in which nothing is wrong, whether newest data win or not. */
static void test_watch_goes_on(bool overwrite)
{
	static const u8 orders[4];
	unsigned int transactions;

	begin();
	trace_unmap(&one);
	EXPECT(trace_map(&one, orders, 4, overwrite, 0));
	EXPECT(!trace_in(&one) && hw_output(100) == 100);
	transactions = one.rb.aux.transactions;
	jiffies++;
	EXPECT(machine_later());
	EXPECT(one.rb.aux.transactions == transactions && hw_output(100) == 100);
	trace_out(&one);
	EXPECT(one.rb.aux.transactions == transactions + 1 && !one.rb.aux.flags);
	end();
	verdict("errors: none, a look goes on with the trace, %s",
		overwrite ? "newest data win" : "all data");
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
	test_first_start();
	test_migration();
	test_no_error();
	test_read();
	test_several();
	test_watch();
	test_watch_goes_on(false);
	test_watch_goes_on(true);
	test_remap();
}
