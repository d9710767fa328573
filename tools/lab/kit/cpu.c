// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpu: what CPUID says of the processor, of a hypervisor and of Intel PT: lines of a name and
 * a value.
 */
#include <cpuid.h>
#include <stdio.h>
#include <string.h>

#define HYPERVISOR_BIT	(1u << 31)
#define PT_BIT		(1u << 25)

static void print_text(const char *name, const unsigned int *words, int count)
{
	char text[17] = "";

	memcpy(text, words, count * sizeof(*words));
	for (char *at = text; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	printf("%s %s\n", name, text);
}

int main(void)
{
	unsigned int a, b, c, d;

	__cpuid(0, a, b, c, d);
	print_text("vendor", (unsigned int []){ b, d, c }, 3);
	if (__get_cpuid(1, &a, &b, &c, &d)) {
		printf("signature %#x\n", a);
		if (c & HYPERVISOR_BIT) {
			__cpuid(0x40000000, a, b, c, d);
			/* Not all of them say their name. */
			if (b | c | d)
				print_text("hypervisor", (unsigned int []){ b, c, d }, 3);
			else
				printf("hypervisor unknown\n");
		}
	}
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & PT_BIT)) {
		__cpuid_count(0x14, 0, a, b, c, d);
		printf("pt-0 %#x %#x %#x %#x\n", a, b, c, d);
		if (a) {
			__cpuid_count(0x14, 1, a, b, c, d);
			printf("pt-1 %#x %#x %#x %#x\n", a, b, c, d);
		}
	}
	return 0;
}
