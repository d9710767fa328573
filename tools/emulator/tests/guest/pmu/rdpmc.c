// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RDPMC from user space: opens a counter, finds its index in the page that
 * perf maps, and reads it around a known number of instructions.
 *
 * usage: rdpmc [bad]
 * Prints the difference less that of an empty pair, which must be INSNS.
 * "bad" reads a counter that does not exist, and must get a SIGSEGV.
 */
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INSNS		1000
#define NO_SUCH_COUNTER	0x1f
#define PAGE_SIZE	4096

static uint64_t rdpmc(uint32_t counter)
{
	uint32_t low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (counter) : "memory");
	return (uint64_t)high << 32 | low;
}

/* The raw difference of two readings with @n instructions in between. */
#define MEASURE(counter, n) ({						\
	uint64_t before, after;						\
									\
	asm volatile("rdpmc\n\t"					\
		     "mov %%eax, %%esi\n\t"				\
		     ".rept " #n "\n\tnop\n\t.endr\n\t"			\
		     "rdpmc"						\
		     : "=&S" (before), "=a" (after)			\
		     : "c" (counter) : "rdx", "memory");		\
	(uint32_t)(after - before); })

static struct perf_event_mmap_page *open_counter(void)
{
	struct perf_event_attr user_insns = { .size = sizeof(user_insns) };
	void *page;
	int fd;

	user_insns.config = PERF_COUNT_HW_INSTRUCTIONS;
	user_insns.exclude_kernel = true;
	fd = syscall(SYS_perf_event_open, &user_insns, 0, -1, -1, 0);
	page = fd < 0 ? MAP_FAILED : mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		perror("perf_event_open");
		exit(1);
	}
	return page;
}

static void refused(int sig)
{
	(void)sig;
	_exit(write(1, "refused\n", 8) != 8);
}

int main(int argc, char **argv)
{
	volatile struct perf_event_mmap_page *page = open_counter();
	uint32_t empty, full, index;

	if (argc > 1 && !strcmp(argv[1], "bad")) {
		signal(SIGSEGV, refused);
		rdpmc(NO_SUCH_COUNTER);
		return 1;
	}
	if (!page->cap_user_rdpmc || !page->index) {
		fprintf(stderr, "RDPMC is not offered\n");
		return 1;
	}
	index = page->index - 1;
	empty = MEASURE(index, 0);
	full = MEASURE(index, 1000);
	printf("%u\n", full - empty);
	return full - empty != INSNS;
}
