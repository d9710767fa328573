// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * faults.c - asynchronous control flow: signals from a timer, page faults, invalid opcodes,
 * breakpoints, single steps, string instructions that fault in the middle.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

#define ROUNDS		20
#define PAGES		8
#define TICK_USEC	1000
#define EFLAGS_TF	0x100

static sigjmp_buf back;
static volatile sig_atomic_t ticks, traps, steps;

static void on_tick(int sig)
{
	(void)sig;
	ticks++;
}

static void on_fault(int sig)
{
	siglongjmp(back, sig);
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_code == TRAP_TRACE)
		steps++;
	else
		traps++;
}

static void handle(int sig, void (*fn)(int))
{
	struct sigaction sa = { .sa_handler = fn };

	CHECK(!sigaction(sig, &sa, NULL));
}

static NOINLINE void bad_store(char *where)
{
	*(volatile char *)where = 1;
}

static NOINLINE void bad_opcode(void)
{
	asm volatile("ud2");
}

static NOINLINE void bad_jump(uintptr_t where)
{
	((void (*)(void))where)();
}

static NOINLINE void bad_return(uintptr_t where)
{
	asm volatile("push %0\n\tret" : : "r" (where) : "memory");
}

static NOINLINE void bad_divide(void)
{
	asm volatile("xor %%edx, %%edx\n\txor %%ecx, %%ecx\n\tdiv %%ecx"
		     : : "a" (1) : "ecx", "edx");
}

static void expect(int sig, int which, char *hole)
{
	int got = sigsetjmp(back, 1);

	if (got) {
		CHECK(got == sig);
		return;
	}
	switch (which) {
	case 0: bad_store(hole); break;
	case 1: bad_opcode(); break;
	case 2: bad_jump((uintptr_t)hole); break;
	case 3: bad_return((uintptr_t)hole); break;
	case 4: bad_divide(); break;
	}
	CHECK(!"the fault did not come");
}

/* Each page is touched for the first time in the middle of one string instruction. */
static NOINLINE void strings_over_fresh_pages(void)
{
	size_t page = getpagesize(), size = PAGES * page, i;
	unsigned char *to, *from, *at, *source;
	size_t count = size - 100;

	to = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	from = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(to != MAP_FAILED && from != MAP_FAILED);
	at = from + 50;
	asm volatile("rep stosb" : "+D" (at), "+c" (count) : "a" (0x5a) : "memory");
	CHECK(at == from + 50 + size - 100 && !count);
	count = size - 100;
	at = to + 50;
	source = from + 50;
	asm volatile("rep movsb" : "+D" (at), "+S" (source), "+c" (count) : : "memory");
	for (i = 50; i < size - 50; i++)
		CHECK(to[i] == from[i]);
	count = size - 100;
	at = to + 50;
	asm volatile("repe scasb" : "+D" (at), "+c" (count) : "a" (0x5a) : "memory", "cc");
	CHECK(!count);
	munmap(to, size);
	munmap(from, size);
}

static NOINLINE void breakpoints(void)
{
	int before = traps;

	asm volatile("int3\n\tnop\n\tint3" : : : "memory");
	CHECK(traps == before + 2);
}

#ifdef __x86_64__
static NOINLINE void single_steps(void)
{
	int before = steps, sum = 0;

	asm volatile("pushfq\n\torl %1, (%%rsp)\n\tpopfq\n\t"
		     "mov $10, %%ecx\n1:\tinc %0\n\tloop 1b\n\t"
		     "pushfq\n\tandl %2, (%%rsp)\n\tpopfq"
		     : "+r" (sum) : "i" (EFLAGS_TF), "i" (~EFLAGS_TF) : "rcx", "memory", "cc");
	CHECK(sum == 10);
	CHECK(steps - before >= 20);
}
#else
static void single_steps(void)
{
}
#endif

static NOINLINE unsigned int spin_for_ticks(int want)
{
	unsigned int x = 1, n = 0;

	while (ticks < want) {
		x = x & 1 ? x * 3 + 1 : x / 2;
		if (x == 1)
			x = ++n | 1;
	}
	return n;
}

int main(int argc, char **argv)
{
	struct itimerval timer = { { 0, TICK_USEC }, { 0, TICK_USEC } };
	struct sigaction sa = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	unsigned long scale = workload_scale(argc, argv), i, round;
	char *hole = mmap(NULL, getpagesize(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(hole != MAP_FAILED);
	handle(SIGALRM, on_tick);
	handle(SIGSEGV, on_fault);
	handle(SIGILL, on_fault);
	handle(SIGFPE, on_fault);
	CHECK(!sigaction(SIGTRAP, &sa, NULL));
	for (i = 0; i < scale; i++) {
		CHECK(!setitimer(ITIMER_REAL, &timer, NULL));
		for (round = 0; round < ROUNDS; round++) {
			expect(SIGSEGV, 0, hole);
			expect(SIGILL, 1, hole);
			expect(SIGSEGV, 2, hole);
			expect(SIGSEGV, 3, hole);
			expect(SIGFPE, 4, hole);
			breakpoints();
		}
		strings_over_fresh_pages();
		spin_for_ticks(ticks + 5);
		memset(&timer, 0, sizeof(timer));
		CHECK(!setitimer(ITIMER_REAL, &timer, NULL));
		single_steps();
		timer.it_value.tv_usec = timer.it_interval.tv_usec = TICK_USEC;
	}
	CHECK(traps == (int)(scale * ROUNDS * 2));
	printf("faults ok\n");
	return 0;
}
