// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calls.c - calls and returns: recursion deeper than any return stack, indirect calls and jumps,
 * tail calls, longjmp over many frames, calls that are not returned from.
 */
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define DEPTH	300

typedef unsigned int (*op_fn)(unsigned int, unsigned int);

static jmp_buf out;

static NOINLINE unsigned int depth(unsigned int n)
{
	return n ? depth(n - 1) + 1 : 0;
}

static NOINLINE unsigned int fib(unsigned int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static NOINLINE int is_odd(unsigned int n);

static NOINLINE int is_even(unsigned int n)
{
	return n ? is_odd(n - 1) : 1;
}

static NOINLINE int is_odd(unsigned int n)
{
	return n ? is_even(n - 1) : 0;
}

static NOINLINE void dive(unsigned int n, volatile unsigned int *reached)
{
	if (++*reached > DEPTH + 1)
		return;
	if (n)
		dive(n - 1, reached);
	else
		longjmp(out, DEPTH);
	(*reached)++;
}

static NOINLINE void dive_and_jump_out(void)
{
	volatile unsigned int reached = 0;

	if (!setjmp(out))
		dive(DEPTH, &reached);
	CHECK(reached == DEPTH + 1);
}

static NOINLINE unsigned int op_add(unsigned int a, unsigned int b) { return a + b; }
static NOINLINE unsigned int op_sub(unsigned int a, unsigned int b) { return a - b; }
static NOINLINE unsigned int op_mul(unsigned int a, unsigned int b) { return a * b; }
static NOINLINE unsigned int op_xor(unsigned int a, unsigned int b) { return a ^ b; }

static op_fn const ops[] = { op_add, op_sub, op_mul, op_xor };

/* The same as ops[] by a jump table. */
static NOINLINE unsigned int by_switch(unsigned int op, unsigned int a, unsigned int b)
{
	switch (op) {
	case 0: return a + b;
	case 1: return a - b;
	case 2: return a * b;
	case 3: return a ^ b;
	case 4: return a & b;
	case 5: return a | b;
	case 6: return ~a;
	default: return b;
	}
}

static NOINLINE void indirect(unsigned int rounds)
{
	unsigned int i, a = 1, b = 1;

	for (i = 0; i < rounds; i++) {
		volatile unsigned int op = (i * 7 + (i >> 3)) % 4;

		a = ops[op](a, i | 1);
		b = by_switch(op, b, i | 1);
		CHECK(a == b);
	}
}

/* A call whose return address is popped, as position independent code of old did. */
static NOINLINE uintptr_t call_next(void)
{
	uintptr_t here;

	asm volatile("call 1f\n1: pop %0" : "=r" (here));
	return here;
}

/* A return that goes where no call came from. */
static NOINLINE int return_elsewhere(void)
{
	int result;

	asm volatile("mov $1, %0\n"
#ifdef __x86_64__
		     "lea 1f(%%rip), %%rcx\n"
		     "push %%rcx\n"
#else
		     "push $1f\n"
#endif
		     "ret\n"
		     "mov $2, %0\n"
		     "1:" : "=&a" (result) : : "rcx", "memory");
	return result;
}

static NOINLINE int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static NOINLINE void callbacks(void)
{
	int v[200];
	int i;

	for (i = 0; i < 200; i++)
		v[i] = (i * 37) % 200;
	qsort(v, 200, sizeof(v[0]), compare);
	for (i = 0; i < 200; i++)
		CHECK(v[i] == i);
}

int main(int argc, char **argv)
{
	unsigned long scale = workload_scale(argc, argv), i;

	for (i = 0; i < scale; i++) {
		CHECK(depth(DEPTH) == DEPTH);
		CHECK(fib(18) == 2584);
		CHECK(is_even(1000) && !is_even(999));
		dive_and_jump_out();
		indirect(2000);
		CHECK(call_next());
		CHECK(return_elsewhere() == 1);
		callbacks();
	}
	printf("calls ok\n");
	return 0;
}
