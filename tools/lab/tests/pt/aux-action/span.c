// SPDX-License-Identifier: GPL-2.0-only
/*
 * span N: a stretch of code whose branches are known, N times, with other work before each.
 * Call number I, from 1 on, branches I - 1 times from span_loop to span_top, calls span_leaf
 * and comes back. It then touches a page that nothing has touched. Both ends are NOPs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE_BYTES	4096
/* Calls, at most */
#define MOST		4096

/* Nothing but span() touches it. */
static char fresh[MOST][PAGE_BYTES] __attribute__((aligned(PAGE_BYTES)));

void span(long loops, char *page);

asm(".text\n"
    ".globl span, span_begin, span_top, span_loop, span_call, span_back, span_touch, span_end\n"
    ".globl span_leaf, span_return\n"
    ".type span, @function\n"
    "span:\n"
    "span_begin: nop\n"
    "span_top: dec %rdi\n"
    "span_loop: jnz span_top\n"
    "span_call: call span_leaf\n"
    "span_back: nop\n"
    "span_touch: movb $1, (%rsi)\n"
    "span_end: nop\n"
    "ret\n"
    ".size span, . - span\n"
    ".type span_leaf, @function\n"
    "span_leaf: nop\n"
    "span_return: ret\n"
    ".size span_leaf, . - span_leaf\n");

static long work(long depth)
{
	return depth ? work(depth - 1) + depth : depth;
}

int main(int argc, char **argv)
{
	long sum = 0, calls = atol(argv[argc - 1]);

	if (calls < 1 || calls > MOST)
		return 2;
	/* A kernel without huge pages refuses it, and needs it not. */
	madvise(fresh, sizeof(fresh), MADV_NOHUGEPAGE);
	for (long i = 1; i <= calls; i++) {
		sum += work(30);
		span(i, fresh[i - 1]);
	}
	printf("%ld\n", sum);
	return 0;
}
