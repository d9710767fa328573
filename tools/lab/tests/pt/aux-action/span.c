// SPDX-License-Identifier: GPL-2.0-only
/*
 * span N: a stretch of code whose branches are known, N times, with other work before each.
 * Call number I, from 1 on, branches I - 1 times from span_loop to span_top, calls span_leaf
 * and comes back. It then touches a page that nothing has touched. Both ends are NOPs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE_BYTES 4096

void span(long loops, char *fresh);

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

static int work(int n)
{
	return n < 2 ? n : work(n - 1) + work(n - 2);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0, sum = 0;
	char *fresh = mmap(NULL, (count + 1) * PAGE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fresh == MAP_FAILED)
		return 1;
	madvise(fresh, (count + 1) * PAGE_BYTES, MADV_NOHUGEPAGE);
	for (int i = 1; i <= count; i++) {
		sum += work(8);
		span(i, fresh + i * PAGE_BYTES);
	}
	printf("%d\n", sum);
	return 0;
}
