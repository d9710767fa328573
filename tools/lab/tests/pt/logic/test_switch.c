// SPDX-License-Identifier: GPL-2.0-only
/* How often registers are accessed: most of what tracing costs at a task switch. */
#include <string.h>

#include <linux/smp.h>

#include "check.h"
#include "core.h"
#include "hw.h"
#include "machine.h"

#define MEMORY	(1UL << 40)

static struct trace first, second;
static u8 orders[1024];

static void open_trace(struct trace *trace, unsigned int nr, bool overwrite)
{
	EXPECT(!trace_init(trace, CONFIG_PLAIN));
	EXPECT(trace_map(trace, orders, nr, overwrite, 0));
}

static void begin(unsigned int nr, bool overwrite)
{
	struct pt_caps caps = caps_all();

	EXPECT(!machine_boot(&caps, MEMORY));
	open_trace(&first, nr, overwrite);
	EXPECT(!trace_in(&first));
	hw_output(100);
}

static void end(struct trace *trace)
{
	trace_unmap(trace);
	trace_destroy(trace);
}

static void count(void)
{
	hw_this()->reads = 0;
	hw_this()->writes = 0;
}

static void counted(unsigned int writes, unsigned int reads, const char *name)
{
	if (hw_this()->writes != writes || hw_this()->reads != reads)
		blame("%u writes and %u reads", hw_this()->writes, hw_this()->reads);
	core_check(&first);
	verdict("switch: %s: %u writes, %u reads", name, writes, reads);
}

static void test_same_task(unsigned int nr, bool overwrite, unsigned int reads, const char *name)
{
	begin(nr, overwrite);
	for (int i = 0; i < 3; i++) {
		count();
		trace_out(&first);
		EXPECT(!trace_in(&first));
		EXPECT(hw_this()->writes == 2 && hw_this()->reads == reads);
		hw_output(100);
	}
	counted(2, reads, name);
	trace_out(&first);
	end(&first);
}

/* It has not run long enough to write anything: perhaps it cannot. */
static void test_nothing(bool overwrite)
{
	begin(4, overwrite);
	trace_out(&first);
	EXPECT(!trace_in(&first));
	count();
	trace_out(&first);
	EXPECT(!trace_in(&first));
	counted(2, 2, overwrite ? "nothing was written, newest data win" : "nothing was written");
	trace_out(&first);
	end(&first);
}

static void test_other_task(void)
{
	begin(4, false);
	open_trace(&second, 4, false);
	trace_out(&first);
	EXPECT(!trace_in(&second));
	hw_output(50);
	count();
	trace_out(&second);
	EXPECT(!trace_in(&first));
	counted(4, 2, "from one task to another");
	trace_out(&first);
	end(&first);
	end(&second);
}

static void test_others(void)
{
	begin(4, true);
	count();
	trace_sample(&first, 100);
	counted(2, 2, "a sample");
	count();
	perf_aux_pause(&first.event, true);
	counted(1, 0, "a pause");
	count();
	perf_aux_pause(&first.event, false);
	counted(1, 0, "a resume");
	count();
	perf_aux_pause(&first.event, true);
	trace_out(&first);
	EXPECT(!trace_in(&first));
	counted(1, 2, "a switch while it is paused");
	trace_out(&first);
	end(&first);
}

/* Of a trace that is new, all is known. */
static void test_new_trace(void)
{
	begin(4, false);
	trace_out(&first);
	open_trace(&second, 4, false);
	EXPECT(!trace_in(&second));
	hw_output(50);
	count();
	trace_out(&second);
	counted(1, 2, "the end of a new trace");
	end(&first);
	end(&second);
}

static void test_pmi(void)
{
	begin(4, false);
	hw_output_until_pmi(1UL << 20);
	count();
	core_deliver();
	counted(2, 2, "an interrupt");
	trace_out(&first);
	end(&first);
}

void test_switch(void)
{
	test_same_task(4, false, 2, "the same task back, one table");
	test_same_task(4, true, 2, "the same task back, one table, newest data win");
	test_same_task(1, true, 2, "the same task back, a single range");
	test_same_task(1024, false, 3, "the same task back, several tables");
	test_nothing(false);
	test_nothing(true);
	test_other_task();
	test_others();
	test_new_trace();
	test_pmi();
}
