// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fuzzer of AUX areas: an event that is disabled does not trace.
 *
 * A driver may move aux_head seldom, or when a trace ends. So what is in the areas is compared,
 * too. Events of tasks that sleep meanwhile are not seen to trace on.
 */
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "aux_fuzz.h"
#include "aux_util.h"

#define WORK_ROUNDS	1000
#define PLACES		(STRESS_SLOTS * STRESS_MAPS)

static char before[PLACES][FUZZ_PLACE_LEN], after[FUZZ_PLACE_LEN];

/*
 * A place that an event writes to only while it is enabled: aux_head in the first mapping of its
 * slot, and the begin of each other one.
 *
 * Return: its length in bytes, 0 if nothing is mapped
 */
static size_t find_place(const struct stress_actor *actor, int number, unsigned long *at)
{
	const struct stress_slot *slot = &actor->slots[number / STRESS_MAPS];
	unsigned long map = slot->maps[number % STRESS_MAPS];
	size_t len = (map & PAGES_MASK) * aux_page_size();

	if (!map)
		return 0;
	*at = map & ~PAGES_MASK;
	if (number % STRESS_MAPS)
		return len < FUZZ_PLACE_LEN ? len : FUZZ_PLACE_LEN;
	*at += offsetof(struct perf_event_mmap_page, aux_head);
	return sizeof(__u64);
}

/* Return: how many bytes can be read, which may be none */
static size_t copy(const struct stress_actor *actor, unsigned long at, size_t len, char *to)
{
	ssize_t got = pwrite(actor->scratch, (void *)at, len, 0);

	got = got > 0 ? pread(actor->scratch, to, got, 0) : 0;
	return got < 0 ? 0 : got;
}

/* An event may be of one CPU. */
static void work_on_each_cpu(unsigned int rounds)
{
	for (int cpu = 0; cpu < STRESS_CPUS; cpu++) {
		aux_pin(0, cpu);
		aux_work(rounds);
	}
}

static void say_change(int number, unsigned long at, size_t len)
{
	size_t first = 0, last = 0, count = 0;

	for (size_t i = 0; i < len; i++) {
		if (before[number][i] == after[i])
			continue;
		first = count++ ? first : i;
		last = i;
	}
	printf("slot %d, mapping %d at 0x%lx: %zu of %zu bytes have changed, from 0x%zx to 0x%zx\n",
	       number / STRESS_MAPS, number % STRESS_MAPS, at, count, len, first, last);
	fflush(stdout);
}

/*
 * Disable the events of all slots, and look whether one of them traces on. The caller has made sure
 * that no other event may write to what is mapped, by stress_actor::astray.
 */
bool fuzz_traces_on(const struct stress_actor *actor)
{
	size_t seen[PLACES], len;
	unsigned long at;
	bool found = false;

	for (int i = 0; i < STRESS_SLOTS; i++)
		ioctl(actor->slots[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	/* A record of another CPU that was interrupted has been written when a task runs there. */
	work_on_each_cpu(1);
	for (int i = 0; i < PLACES; i++) {
		len = find_place(actor, i, &at);
		if (len)
			fuzz_write_place("remember", i, at, len);
		seen[i] = len ? copy(actor, at, len, before[i]) : 0;
	}
	work_on_each_cpu(WORK_ROUNDS);
	for (int i = 0; i < PLACES; i++) {
		if (!seen[i])
			continue;
		find_place(actor, i, &at);
		fuzz_write_place("compare", i, at, seen[i]);
		len = copy(actor, at, seen[i], after);
		if (!memcmp(before[i], after, len))
			continue;
		say_change(i, at, len);
		found = true;
	}
	return found;
}
