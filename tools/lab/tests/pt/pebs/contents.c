// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a record says of the processor: its registers and flags, after the branch.
 * A loop has a number of its own in each register that it does not need.
 */
#include <asm/perf_regs.h>
#include <string.h>

#include "pebs.h"

#define BRANCHES	500000
#define PERIOD		5003
#define DATA_PAGES	16
/* Of the loop's samples, those at branches before and after it. */
#define OUTSIDE		2
#define MARK		0x5afe00

#define FLAG_PARITY	0x04
#define FLAG_ZERO	0x40

/* Samples have them in the order of their numbers. */
static const struct {
	unsigned int reg;
	__u64 value;
} marks[] = {
	{ PERF_REG_X86_AX, MARK + 1 }, { PERF_REG_X86_BX, MARK + 2 },
	{ PERF_REG_X86_DX, MARK + 3 }, { PERF_REG_X86_SI, MARK + 4 },
	{ PERF_REG_X86_DI, MARK + 5 }, { PERF_REG_X86_R8, MARK + 6 },
	{ PERF_REG_X86_R9, MARK + 7 }, { PERF_REG_X86_R10, MARK + 8 },
	{ PERF_REG_X86_R11, MARK + 9 }, { PERF_REG_X86_R12, MARK + 10 },
	{ PERF_REG_X86_R13, MARK + 11 }, { PERF_REG_X86_R14, MARK + 12 },
	{ PERF_REG_X86_R15, MARK + 13 },
};

#define NR_MARKS	(sizeof(marks) / sizeof(*marks))

static void __attribute__((noinline)) marked_loop(void)
{
	asm volatile("mov %[mark] + 1, %%eax\n\t"
		     "mov %[mark] + 2, %%ebx\n\t"
		     "mov %[mark] + 3, %%edx\n\t"
		     "mov %[mark] + 4, %%esi\n\t"
		     "mov %[mark] + 5, %%edi\n\t"
		     "mov %[mark] + 6, %%r8d\n\t"
		     "mov %[mark] + 7, %%r9d\n\t"
		     "mov %[mark] + 8, %%r10d\n\t"
		     "mov %[mark] + 9, %%r11d\n\t"
		     "mov %[mark] + 10, %%r12d\n\t"
		     "mov %[mark] + 11, %%r13d\n\t"
		     "mov %[mark] + 12, %%r14d\n\t"
		     "mov %[mark] + 13, %%r15d\n\t"
		     "mov %[times], %%ecx\n"
		     "1: dec %%ecx\n\t"
		     "jnz 1b"
		     : : [mark] "i" (MARK), [times] "i" (BRANCHES)
		     : "eax", "ebx", "ecx", "edx", "esi", "edi", "r8", "r9", "r10", "r11",
		       "r12", "r13", "r14", "r15", "cc");
}

/* As a sample has it: the marks, with the counter of the loop and the flags between. */
struct contents {
	__u64 abi, ax, bx, cx, dx, si, di, flags, high[8];
};

static bool marks_are_right(const struct contents *is)
{
	const __u64 found[NR_MARKS] = {
		is->ax, is->bx, is->dx, is->si, is->di, is->high[0], is->high[1], is->high[2],
		is->high[3], is->high[4], is->high[5], is->high[6], is->high[7],
	};

	for (unsigned int i = 0; i < NR_MARKS; i++)
		if (found[i] != marks[i].value)
			return false;
	return true;
}

/* Those of DEC, whose result is @cx. */
static bool flags_are_right(const struct contents *is)
{
	bool even = !__builtin_parity(is->cx & 0xff);

	return !(is->flags & FLAG_PARITY) == !even && !(is->flags & FLAG_ZERO) == !!is->cx;
}

struct tally {
	unsigned int samples, marks, flags, steps;
	__u64 before;
};

static void look(const struct contents *is, struct tally *tally)
{
	tally->samples++;
	tally->marks += marks_are_right(is);
	tally->flags += flags_are_right(is);
	tally->steps += is->cx == tally->before - PERIOD;
	tally->before = is->cx;
}

static bool open_event(struct aux_event *event)
{
	struct perf_event_attr attr;

	pebs_attr(&attr, PERIOD, LARGE);
	attr.sample_type = PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = 1 << PERF_REG_X86_CX | 1 << PERF_REG_X86_FLAGS;
	for (unsigned int i = 0; i < NR_MARKS; i++)
		attr.sample_regs_intr |= 1 << marks[i].reg;
	return !aux_open_mapped(event, &attr, 0, -1, DATA_PAGES);
}

void test_contents(void)
{
	static struct aux_record record;
	struct contents contents;
	struct aux_event event;
	struct tally tally = { };
	bool good = open_event(&event) && !aux_enable(&event);

	if (good) {
		marked_loop();
		aux_disable(&event);
	}
	while (good && aux_next(&event, &record)) {
		if (record.header.type != PERF_RECORD_SAMPLE)
			continue;
		/* A record without registers is shorter. */
		memset(&contents, 0, sizeof(contents));
		if (record.header.size == sizeof(record.header) + sizeof(contents))
			memcpy(&contents, record.bytes, sizeof(contents));
		look(&contents, &tally);
	}
	diag("of %u samples %u have the numbers, %u the flags, %u are a period away",
	     tally.samples, tally.marks, tally.flags, tally.steps);
	point(good && tally.samples >= BRANCHES / PERIOD &&
	      tally.marks + OUTSIDE >= tally.samples && tally.flags + OUTSIDE >= tally.samples &&
	      tally.steps + OUTSIDE >= tally.samples,
	      "a record has the registers and flags after the branch");
	aux_close(&event);
}
