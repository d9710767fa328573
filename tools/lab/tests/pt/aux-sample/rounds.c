// SPDX-License-Identifier: GPL-2.0-only
/*
 * rounds N: N rounds, each with branches that spell its number, which is in R12.
 *
 * For each of its 18 lowest bits a round takes one branch: JNC if the bit is 0, the JMP behind it
 * if it is 1. Then it calls rare() if its number is a multiple of 4, often() otherwise. Every
 * 4096th round touches a page that nothing has touched, and 2048 rounds later there is a
 * getppid(2). A round passes no address twice, so that R12 and RIP tell each branch that came
 * before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE_BYTES	4096
/* Pages, at most */
#define MOST		256
#define ROUNDS_A_PAGE	4096

/* Nothing but rounds() touches it. */
static char fresh[MOST][PAGE_BYTES] __attribute__((aligned(PAGE_BYTES)));

void rounds(long count, char *page);

asm(".text\n"
    ".globl rounds\n"
    ".type rounds, @function\n"
    "rounds:\n"
    "push %r12\n"
    "xor %r12d, %r12d\n"
    ".Ltop: inc %r12\n"
    ".irp bit, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17\n"
    "bt $\\bit, %r12\n"
    "jnc .Lzero\\bit\n"
    "jmp .Lnext\\bit\n"
    ".Lzero\\bit: nop\n"
    ".Lnext\\bit: nop\n"
    ".endr\n"
    "test $3, %r12d\n"
    "jnz .Loften\n"
    "call rare\n"
    "jmp .Lpage\n"
    ".Loften: call often\n"
    ".Lpage: mov %r12d, %eax\n"
    "and $4095, %eax\n"
    "jnz .Lsyscall\n"
    "movb $1, (%rsi)\n"
    "add $4096, %rsi\n"
    ".Lsyscall: cmp $2048, %eax\n"
    "jne .Llast\n"
    "mov $110, %eax\n"
    "syscall\n"
    ".Llast: cmp %rdi, %r12\n"
    "jb .Ltop\n"
    "pop %r12\n"
    "ret\n"
    ".size rounds, . - rounds\n"
    ".type rare, @function\n"
    ".globl rare, often\n"
    "rare: .rept 20\n"
    "imul %rax, %rdx\n"
    ".endr\n"
    "ret\n"
    ".size rare, . - rare\n"
    ".type often, @function\n"
    "often: .rept 20\n"
    "imul %rax, %rdx\n"
    ".endr\n"
    "ret\n"
    ".size often, . - often\n");

int main(int argc, char **argv)
{
	long count = atol(argv[argc - 1]);

	if (count < 1 || count > (long)MOST * ROUNDS_A_PAGE)
		return 2;
	/* A kernel without huge pages refuses it, and needs it not. */
	madvise(fresh, sizeof(fresh), MADV_NOHUGEPAGE);
	rounds(count, fresh[0]);
	printf("%ld\n", count);
	return 0;
}
