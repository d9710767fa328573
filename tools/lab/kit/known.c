// SPDX-License-Identifier: GPL-2.0-only
/*
 * known ROUNDS: a program whose branches are known; 'known -' reads numbers of rounds from its
 * standard input, a line each, and says "done" after each.
 *
 * A round is known_visit(), known_span(), which calls it once more between two NOPs, and a system
 * call. It first prints its process ID and where each of its branches is, in hexadecimal:
 * "known NAME FROM TO" for a branch, "at NAME ADDRESS" for a place, "times NAME N" for how often
 * known_visit() makes that branch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Times that the loop of known_visit() is gone through */
#define LOOPS	8
#define STR_(x)	#x
#define STR(x)	STR_(x)

extern char known_top[], known_loop[], known_call[], known_back[], known_icall[], known_iback[],
	    known_leaf[], known_leaf_ret[], known_ret[], known_end[], known_span_begin[],
	    known_span_call[], known_span_back[], known_span_end[], known_sys[], known_sys_ret[];
void known_visit(void);
void known_span(void);
long known_getppid(void);

asm(".text\n"
    ".globl known_visit, known_top, known_loop, known_call, known_back, known_icall, known_iback\n"
    ".globl known_leaf, known_leaf_ret, known_ret, known_end\n"
    ".globl known_span, known_span_begin, known_span_call, known_span_back, known_span_end\n"
    ".globl known_getppid, known_sys, known_sys_ret\n"
    ".type known_visit, @function\n"
    "known_visit:\n"
    "	mov $" STR(LOOPS) ", %ecx\n"
    "known_top: dec %ecx\n"
    "known_loop: jnz known_top\n"
    "known_call: call known_leaf\n"
    "known_back: lea known_leaf(%rip), %rax\n"
    "known_icall: call *%rax\n"
    "known_iback: nop\n"
    "known_ret: ret\n"
    "known_leaf: nop\n"
    "known_leaf_ret: ret\n"
    "known_end:\n"
    ".size known_visit, . - known_visit\n"
    ".type known_span, @function\n"
    "known_span:\n"
    "known_span_begin: nop\n"
    "known_span_call: call known_visit\n"
    "known_span_back: nop\n"
    "known_span_end: nop\n"
    "	ret\n"
    ".size known_span, . - known_span\n"
    ".type known_getppid, @function\n"
    "known_getppid:\n"
    "	mov $110, %eax\n"
    "known_sys: syscall\n"
    "known_sys_ret: ret\n"
    ".size known_getppid, . - known_getppid\n");

static const struct {
	const char *name;
	const void *from, *to;
	int times;
} BRANCHES[] = {
	{ "loop", known_loop, known_top, LOOPS - 1 },
	{ "call", known_call, known_leaf, 1 },
	{ "call-return", known_leaf_ret, known_back, 1 },
	{ "indirect-call", known_icall, known_leaf, 1 },
	{ "indirect-return", known_leaf_ret, known_iback, 1 },
};

static const struct {
	const char *name;
	const void *at;
} PLACES[] = {
	{ "visit", known_visit }, { "return", known_ret }, { "end", known_end },
	{ "span-begin", known_span_begin }, { "span-call", known_span_call },
	{ "span-back", known_span_back }, { "span-end", known_span_end },
	{ "syscall", known_sys }, { "syscall-return", known_sys_ret },
};

static void describe(void)
{
	size_t i;

	printf("pid %d\n", getpid());
	for (i = 0; i < sizeof(BRANCHES) / sizeof(BRANCHES[0]); i++)
		printf("known %s %lx %lx\ntimes %s %d\n", BRANCHES[i].name,
		       (unsigned long)BRANCHES[i].from, (unsigned long)BRANCHES[i].to,
		       BRANCHES[i].name, BRANCHES[i].times);
	for (i = 0; i < sizeof(PLACES) / sizeof(PLACES[0]); i++)
		printf("at %s %lx\n", PLACES[i].name, (unsigned long)PLACES[i].at);
	printf("ready\n");
	fflush(stdout);
}

static void go_round(unsigned long times)
{
	while (times--) {
		known_visit();
		known_span();
		known_getppid();
	}
}

int main(int argc, char **argv)
{
	char line[64];

	if (argc != 2)
		return 2;
	describe();
	if (strcmp(argv[1], "-")) {
		go_round(strtoul(argv[1], NULL, 10));
		return 0;
	}
	while (fgets(line, sizeof(line), stdin)) {
		go_round(strtoul(line, NULL, 10));
		puts("done");
		fflush(stdout);
	}
	return 0;
}
