// SPDX-License-Identifier: GPL-2.0-only
/*
 * One processor patches routines that others execute meanwhile, as Linux does
 * with static keys: INT3, interrupts, the tail, interrupts, the first byte,
 * interrupts ("smp=N", "seconds=N" on the command line). A processor that was
 * interrupted after a step may not execute what was there before the step.
 *
 * Each routine has a page of its own, so that no other code is in the page when
 * the write of INT3 has gone, and the writes go by an alias of the page.
 */
#include "tap.h"

#define PAGE_BYTES	4096ul
#define CODE(page)	(ARENA + 0x3000000ul + (page) * PAGE_BYTES)
#define ALIAS(addr)	((volatile u8 *)(ALIAS_4G + (addr)))
#define SECOND		2500000000ul
#define WAIT		(20 * SECOND)

#define VECTOR_PATCH	0x40
#define OP_INT3		0xcc
#define OP_MOV_EAX	0xb8
#define OP_RET		0xc3
#define OP_JMP		0xe9
#define BREAKPOINT	0xffffffffu

/* So many that not all are translated while the writer pauses. */
#define ROUTINES	256
/* Instructions before the one that is patched make its translation take long. */
#define FILLER		48
#define SITE(routine)	(CODE(routine) + FILLER * sizeof(filler))
static const u8 filler[] = { 0xff, 0x44, 0x24, 0xf0 };	/* incl -0x10(%rsp) */

/*
 * Jumps that cross from one page to the next. The third byte of the distance,
 * which is the first in the second page, says which target it is.
 */
#define JUMPS		64
#define JUMP(jump)	(CODE(ROUTINES + 2 * (jump) + 1) - 3)
#define JUMP_BYTES	5
#define JUMP_DISTANCE	1
#define JUMP_CHOICE	3
/* With half of them a RET in each page is executed, so that both always have code. */
#define HAS_RETS(jump)	((jump) & 2)
#define RET_BEFORE(jump) (JUMP(jump) - 64)
#define RET_BEHIND(jump) (JUMP(jump) + 64)
#define TARGET(choice)	(ARENA + 0x3800000ul + ((choice) << 16))
/* In the place of INT3; the others are for even and odd rounds. */
#define TARGET_BETWEEN	2

/* How the first byte of a routine is written. */
enum { WAY_MOV, WAY_XCHG, WAY_CMPXCHG, WAYS };

#define MAX_PAUSE	(2 * SECOND / 1000)
/* In one round of so many the routines are executed all the time. */
#define FREE_ROUNDS	4

/* How far a round is: its number times STEPS, plus the steps that are complete. */
#define STEPS		4
enum { STEP_NONE, STEP_INT3, STEP_TAIL, STEP_FIRST };

extern const u8 patch_ipi[], patch_breakpoint[];
volatile u32 patch_acks;

static volatile u32 progress, stop;
static struct executor {
	volatile u32 up, sweeps, breakpoints, stale_int3, stale_old, wrong;
	volatile u32 seen, at;
} executors[SMP_MAX];

static u32 processors;

static bool wait_until(volatile u32 *counter, u32 wanted)
{
	u64 end = rdtsc() + WAIT;

	while ((int)(*counter - wanted) < 0 && rdtsc() < end)
		;
	return (int)(*counter - wanted) >= 0;
}

static u32 execute(u64 routine)
{
	u32 result;

	asm volatile("call *%1" : "=&a" (result) : "r" (routine) : "rdx", "memory", "cc");
	return result;
}

/* The routine of a round returns the round's number until it is patched to the next. */
static void judge(struct executor *me, u32 before, u32 got, u32 after)
{
	u32 oldest = before / STEPS + (before % STEPS >= STEP_INT3);

	if (got == BREAKPOINT) {
		me->breakpoints++;
		if (before % STEPS != STEP_FIRST || before != after)
			return;
		me->stale_int3++;
	} else if (got == oldest - 1) {
		me->stale_old++;
	} else if (got >= oldest && got <= after / STEPS + 1) {
		return;
	} else {
		me->wrong++;
	}
	me->seen = got;
	me->at = before;
	stop = true;
}

static void execute_routine(struct executor *me, u32 routine)
{
	u32 before = progress;
	u32 got = execute(CODE(routine));

	judge(me, before, got, progress);
}

static void execute_jump(struct executor *me, u32 jump)
{
	u32 before = progress;
	u32 round = before / STEPS;
	u32 got, after;

	if (HAS_RETS(jump)) {
		execute(RET_BEFORE(jump));
		execute(RET_BEHIND(jump));
	}
	got = execute(JUMP(jump));
	after = progress;

	/*
	 * It tells nothing but whether its round is even or odd: nothing at all once the jump of
	 * the round after next may be there, as on a host that had no time for this processor.
	 */
	if (got != BREAKPOINT) {
		if (after >= (round + 1) * STEPS + STEP_TAIL)
			return;
		got = round + ((got ^ round) & 1);
	}
	judge(me, before, got, after);
}

/*
 * In most rounds the routines are not executed before INT3 is about to go: then
 * the others are busy with translating it. In the rest they execute all the time.
 */
static bool may_execute(u32 now)
{
	return now % STEPS >= STEP_TAIL || now / STEPS % FREE_ROUNDS == 0;
}

static void __attribute__((noreturn)) executor_main(void)
{
	u32 cpu = cpuid(1, 0).b >> 24;
	struct executor *me = &executors[cpu];

	cpu_init_other();
	lapic_init();
	me->up = 1;
	asm volatile("sti");
	for (;;) {
		while (!may_execute(progress))
			;
		/* Each begins elsewhere, so that they do not wait for each other. */
		for (u32 i = 0; i < ROUTINES; i++) {
			execute_routine(me, (i + cpu * ROUTINES / SMP_MAX) % ROUTINES);
			if (i % (ROUTINES / JUMPS) == 0)
				execute_jump(me, i / (ROUTINES / JUMPS));
		}
		me->sweeps++;
	}
}

static void write_mov_ret(u8 *code, u32 value)
{
	code[0] = OP_MOV_EAX;
	memcpy(code + 1, &value, sizeof(value));
	code[1 + sizeof(value)] = OP_RET;
}

static void write_code(void)
{
	for (u32 routine = 0; routine < ROUTINES; routine++) {
		u8 *code = (u8 *)CODE(routine);

		for (u32 i = 0; i < FILLER; i++, code += sizeof(filler))
			memcpy(code, filler, sizeof(filler));
		write_mov_ret(code, 0);
	}
	for (u32 jump = 0; jump < JUMPS; jump++) {
		u8 *code = (u8 *)JUMP(jump);
		u32 distance = TARGET(0) - (JUMP(jump) + JUMP_BYTES);

		code[0] = OP_JMP;
		memcpy(code + 1, &distance, sizeof(distance));
		*(u8 *)RET_BEFORE(jump) = OP_RET;
		*(u8 *)RET_BEHIND(jump) = OP_RET;
	}
	write_mov_ret((u8 *)TARGET(0), 0);
	write_mov_ret((u8 *)TARGET(1), 1);
	write_mov_ret((u8 *)TARGET(TARGET_BETWEEN), BREAKPOINT);
}

/* QEMU has code of its own for the stores of locked instructions. */
static void patch_opcode(u32 routine, u8 opcode)
{
	volatile u8 *code = ALIAS(SITE(routine));
	u8 old;

	/* Of two routines, one is on an odd page. */
	switch (routine / 2 % WAYS) {
	case WAY_MOV:
		*code = opcode;
		break;
	case WAY_XCHG:
		asm volatile("xchg %0, %1" : "+q" (opcode), "+m" (*code));
		break;
	case WAY_CMPXCHG:
		old = *code;
		asm volatile("lock cmpxchg %2, %1"
			     : "+a" (old), "+m" (*code) : "q" (opcode) : "cc");
		break;
	}
}

/* Every other jump is patched by a store that crosses the pages, too. */
static void choose_target(u32 jump, u32 choice)
{
	u32 distance = TARGET(choice) - (JUMP(jump) + JUMP_BYTES);

	if (jump & 1)
		*(volatile u32 *)ALIAS(JUMP(jump) + JUMP_DISTANCE) = distance;
	else
		*ALIAS(JUMP(jump) + JUMP_CHOICE) = distance >> 16;
}

/* Each of the others takes an interrupt, and so comes by an IRET. */
static bool step_is_complete(u32 now)
{
	u32 acks = patch_acks;

	lapic_ipi_others(VECTOR_PATCH);
	if (!wait_until(&patch_acks, acks + processors - 1))
		return false;
	progress = now;
	return true;
}

static bool all_have_swept(void)
{
	for (u32 cpu = 1; cpu < processors; cpu++) {
		/* The sweep that goes on began too early, the next is the first that counts. */
		if (!wait_until(&executors[cpu].sweeps, executors[cpu].sweeps + 2))
			return false;
	}
	return true;
}

static void pause_at_random(void)
{
	static u32 random = 1;
	u64 end;

	random = random * 1664525 + 1013904223;
	end = rdtsc() + (random >> 8) % MAX_PAUSE;
	while (rdtsc() < end)
		;
}

/* Linux maps what it patches again each time: in odd rounds the writes find no TLB entry. */
static void forget_translations(u32 round)
{
	if (round & 1)
		write_cr3(read_cr3());
}

static bool patch_round(u32 round)
{
	forget_translations(round);
	for (u32 routine = 0; routine < ROUTINES; routine++)
		patch_opcode(routine, OP_INT3);
	for (u32 jump = 0; jump < JUMPS; jump++)
		choose_target(jump, TARGET_BETWEEN);
	if (!step_is_complete(round * STEPS + STEP_INT3))
		return false;
	for (u32 routine = 0; routine < ROUTINES; routine++)
		*(volatile u32 *)(ALIAS(SITE(routine)) + 1) = round + 1;
	if (!step_is_complete(round * STEPS + STEP_TAIL))
		return false;
	forget_translations(round);
	pause_at_random();
	for (u32 routine = 0; routine < ROUTINES; routine++)
		patch_opcode(routine, OP_MOV_EAX);
	for (u32 jump = 0; jump < JUMPS; jump++)
		choose_target(jump, (round + 1) & 1);
	if (!step_is_complete(round * STEPS + STEP_FIRST) || !all_have_swept())
		return false;
	progress = (round + 1) * STEPS;
	return true;
}

static bool start_executors(void)
{
	for (u32 cpu = 1; cpu < processors; cpu++) {
		smp_start(cpu, executor_main);
		if (!wait_until(&executors[cpu].up, 1))
			return false;
	}
	return true;
}

static void report(u32 rounds)
{
	u32 breakpoints = 0, stale_int3 = 0, stale_old = 0, wrong = 0;

	for (u32 cpu = 1; cpu < processors; cpu++) {
		struct executor *e = &executors[cpu];

		breakpoints += e->breakpoints;
		stale_int3 += e->stale_int3;
		stale_old += e->stale_old;
		wrong += e->wrong;
		if (e->stale_int3 || e->stale_old || e->wrong)
			diag("processor %u executed %d in round %u after step %u", cpu,
			     (int)e->seen, e->at / STEPS, e->at % STEPS);
	}
	diag("%u rounds, %u breakpoints executed", rounds, breakpoints);
	ok(breakpoints, "patch: breakpoints are executed while they are there");
	is(stale_int3, 0, "patch: no breakpoint is executed once it is gone");
	is(stale_old, 0, "patch: no instruction is executed that a breakpoint has replaced");
	is(wrong, 0, "patch: no other instruction is executed");
}

void test_patch(void)
{
	u64 end = rdtsc() + cmdline_num("seconds", 10) * SECOND;
	u32 round = 0;

	processors = cmdline_num("smp", 1);
	if (processors < 2 || processors > SMP_MAX)
		return;
	write_code();
	gate_set(VECTOR_PATCH, patch_ipi, 0);
	gate_set(VECTOR_BP, patch_breakpoint, 0);
	if (!ok(start_executors(), "patch: the processors start"))
		return;
	while (!stop && rdtsc() < end) {
		if (!patch_round(round)) {
			ok(false, "patch: the others go on");
			break;
		}
		round++;
	}
	report(round);
}
