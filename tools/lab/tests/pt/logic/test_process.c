// SPDX-License-Identifier: GPL-2.0-only
/* Traces of one process on a CPU: who may be asked for, what hardware is told, and what is kept. */
#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>

#include <asm/msr-index.h>

#include "check.h"
#include "core.h"
#include "hw.h"
#include "machine.h"
#include "memory.h"

#define MEMORY	(1UL << 40)
#define PID	77
/* The registers: process, user and kernel space, branches, TSC */
#define CTL	0x248c

static struct trace trace;
static struct task_struct task;
static struct mm_struct mm;

struct task_struct *find_get_task_by_vpid(pid_t pid)
{
	if (pid != PID)
		return NULL;
	task.count++;
	return &task;
}

void put_task_struct(struct task_struct *put)
{
	EXPECT(put == &task && task.count-- > 0);
}

struct mm_struct *get_task_mm(struct task_struct *of)
{
	if (of->mm)
		mmgrab(of->mm);
	return of->mm;
}

void mmgrab(struct mm_struct *grabbed)
{
	grabbed->count++;
}

void mmdrop(struct mm_struct *dropped)
{
	EXPECT(dropped == &mm && mm.count-- > 0);
}

void mmput(struct mm_struct *put)
{
	mmdrop(put);
}

static void boot(void)
{
	struct pt_caps caps = caps_all();

	EXPECT(!machine_boot(&caps, MEMORY));
	mm = (struct mm_struct){ .pgd = memory_chunk(1) };
	task = (struct task_struct){ .mm = &mm };
}

/* What an event is told that asks for it. */
static int asked(u64 config1, int cpu)
{
	trace_prepare(&trace, CONFIG_PLAIN);
	trace.event.attr.config1 = config1;
	trace.event.cpu = cpu;
	if (cpu < 0)
		trace.event.attach_state = PERF_ATTACH_TASK;
	return trace_open(&trace);
}

static void test_refused(void)
{
	unsigned int before;

	boot();
	before = memory_in_use();
	EXPECT(asked(PID, -1) == -EINVAL);
	EXPECT(asked(1UL << 32 | PID, 0) == -EINVAL);
	EXPECT(asked(PID + 1, 0) == -ESRCH);
	task.mm = NULL;
	EXPECT(asked(PID, 0) == -ESRCH);
	task.mm = &mm;
	mm.lam = 1UL << 61;
	EXPECT(asked(PID, 0) == -EOPNOTSUPP);
	mm.lam = 0;
	machine_pti = true;
	EXPECT(asked(PID, 0) == -EOPNOTSUPP);
	EXPECT(!asked(0, 0));
	trace_destroy(&trace);
	machine_pti = false;
	caps_clear(&machine_caps[0], PT_CAP_cr3_filtering);
	EXPECT(!machine_boot_as_is(MEMORY) && asked(PID, 0) == -EINVAL);
	EXPECT(!task.count && !mm.count && memory_in_use() == before);
	verdict("process: what is refused");
}

/* Others run in between, and nothing is done about it. */
static void test_kept(void)
{
	static const u8 orders[4];

	boot();
	EXPECT(!asked(PID, 0));
	EXPECT(!task.count && mm.count == 1);
	EXPECT(trace_map(&trace, orders, 4, false, 0));
	EXPECT(!trace_in(&trace));
	EXPECT(hw_this()->cr3 == virt_to_phys(mm.pgd) && hw_this()->ctl == (CTL | 1 | 1 << 8));
	hw_output(100);
	core_check(&trace);
	trace_out(&trace);

	/* Its process ends: the page of its table stays. */
	task.mm = NULL;
	hw_this()->writes = 0;
	EXPECT(!trace_in(&trace) && hw_this()->writes == 1);
	trace_out(&trace);
	trace_unmap(&trace);
	EXPECT(mm.count == 1);
	trace_destroy(&trace);
	EXPECT(!mm.count);
	verdict("process: what hardware is told");
}

void test_process(void)
{
	test_refused();
	test_kept();
}
