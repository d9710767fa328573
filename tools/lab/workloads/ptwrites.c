// SPDX-License-Identifier: GPL-2.0-or-later
/* ptwrites.c - a loop with PTWRITE instructions, where the processor has them. */
#include <cpuid.h>
#include <stdbool.h>

#include "check.h"

#define ROUNDS		1000
#define LEAF_PT		0x14
#define PT_EBX_PTWRITE	(1u << 4)

static bool have_ptwrite(void)
{
	unsigned int eax, ebx = 0, ecx, edx;

	return __get_cpuid_count(LEAF_PT, 0, &eax, &ebx, &ecx, &edx) && ebx & PT_EBX_PTWRITE;
}

static NOINLINE unsigned long rounds(unsigned long n)
{
	unsigned long sum = 0;

	while (n--) {
		/* PTWRITE RAX */
		asm volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0xe0" : : "a" (n));
		sum += n;
	}
	return sum;
}

static void run(unsigned long count)
{
	CHECK(rounds(count) == count * (count - 1) / 2);
	printf("ptwrites ok\n");
}

static const char absent[] = "ptwrites: this processor has no PTWRITE\n";

int main(int argc, char **argv)
{
	const bool there = have_ptwrite();

	if (there)
		run(ROUNDS * workload_scale(argc, argv));
	else
		fputs(absent, stderr);
	return !there;
}
