// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program whose slowdown pt-cost.bench measures: user code with many
 * branches of all kinds. It sorts, recurses, interprets a small byte code by a
 * switch, and takes strings apart; each part checks its result.
 *
 *   branchy [SCALE]
 *
 * Prints "ready". Then, for each line of its standard input, it works once and
 * prints the CPU time that this took, user and system together, in
 * microseconds. A line "quit" ends it, so that what comes behind is left for
 * the shell that started it.
 */
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../workloads/check.h"

#define NUMBERS		20000
#define SORTS		2
#define FIB		24
#define GCD_PAIRS	3000
#define WORDS		6000
#define BUCKETS		1024
#define WORD_LEN	12

static uint32_t state;

/* A linear congruence: the same numbers on each run. */
static uint32_t next_number(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 8;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort_numbers(void)
{
	static uint32_t numbers[NUMBERS];
	uint64_t before = 0, after = 0;

	for (int i = 0; i < NUMBERS; i++)
		before += numbers[i] = next_number();
	qsort(numbers, NUMBERS, sizeof(numbers[0]), compare);
	for (int i = 0; i < NUMBERS; i++) {
		after += numbers[i];
		CHECK(!i || numbers[i - 1] <= numbers[i]);
	}
	CHECK(before == after);
}

static NOINLINE uint32_t fib(uint32_t n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void recurse(void)
{
	uint32_t a = 0, b = 1;

	for (int i = 0; i < FIB; i++) {
		uint32_t sum = a + b;

		a = b;
		b = sum;
	}
	CHECK(fib(FIB) == a);
}

enum opcode { SWAP, MODULO, ABOVE_ZERO, JUMP_IF, HALT };

/* Euclid's algorithm on registers a and b. */
static const uint8_t gcd_code[] = { ABOVE_ZERO, JUMP_IF, 4, HALT, MODULO, SWAP, ABOVE_ZERO,
				    JUMP_IF, 4, HALT };

static NOINLINE uint32_t interpret(const uint8_t *code, uint32_t a, uint32_t b)
{
	uint32_t flag = 0, t;

	for (const uint8_t *at = code;;) {
		switch ((enum opcode)*at++) {
		case SWAP:
			t = a;
			a = b;
			b = t;
			break;
		case MODULO:
			a %= b;
			break;
		case ABOVE_ZERO:
			flag = b > 0;
			break;
		case JUMP_IF:
			at = flag ? code + *at : at + 1;
			break;
		case HALT:
			return a;
		}
	}
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	return b ? gcd(b, a % b) : a;
}

static void dispatch(void)
{
	for (int i = 0; i < GCD_PAIRS; i++) {
		uint32_t a = next_number(), b = next_number();

		CHECK(interpret(gcd_code, a, b) == gcd(a, b));
	}
}

static uint32_t hash(const char *word)
{
	uint32_t h = 5381;

	while (*word)
		h = h * 33 + (unsigned char)*word++;
	return h % BUCKETS;
}

/* Words with separators between; counted by bucket, then taken apart and counted again. */
static void strings(void)
{
	static char text[WORDS * (WORD_LEN + 1) + 1];
	int counts[BUCKETS] = { 0 };
	char *end = text, *save;

	for (int i = 0; i < WORDS; i++) {
		char *word = end;
		int len = 1 + next_number() % WORD_LEN;

		while (len--)
			*end++ = 'a' + next_number() % 26;
		*end = '\0';
		counts[hash(word)]++;
		*end++ = next_number() % 2 ? ' ' : ',';
	}
	*end = '\0';
	for (char *word = strtok_r(text, " ,", &save); word; word = strtok_r(NULL, " ,", &save))
		counts[hash(word)]--;
	for (int i = 0; i < BUCKETS; i++)
		CHECK(!counts[i]);
}

static void work(unsigned long scale)
{
	for (unsigned long i = 0; i < scale; i++) {
		state = i;
		for (int j = 0; j < SORTS; j++)
			sort_numbers();
		recurse();
		dispatch();
		strings();
	}
}

static long cpu_time(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000L +
	       usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

/* True unless the input ended or says "quit"; reads not a byte more than the line. */
static int next_line(void)
{
	char c, first = '\0';

	while (read(STDIN_FILENO, &c, 1) == 1) {
		if (c == '\n')
			return first != 'q';
		if (!first)
			first = c;
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long scale = workload_scale(argc, argv);
	long before;

	puts("ready");
	fflush(stdout);
	while (next_line()) {
		before = cpu_time();
		work(scale);
		printf("%ld\n", cpu_time() - before);
		fflush(stdout);
	}
	return 0;
}
