// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fuzzer of AUX areas: an event that is disabled does not trace.
 *
 * A driver may move aux_head seldom, or when a trace ends. So areas and records are compared, too,
 * not only user pages. Events of tasks that sleep meanwhile are not seen to trace on.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "aux_fuzz.h"
#include "aux_util.h"

#define WORK_ROUNDS	1000
#define PLACES		(STRESS_SLOTS * STRESS_MAPS)

/* The begin of a mapping, and what was there; an event that is disabled does not write there. */
static struct place {
	unsigned long at;
	/* 0: nothing can be read there */
	size_t len;
	char was[FUZZ_PLACE_LEN];
} places[PLACES];

static void remember_place(struct stress_actor *actor, int number)
{
	unsigned long map = actor->slots[number / STRESS_MAPS].maps[number % STRESS_MAPS];
	struct place *place = &places[number];

	place->at = map & ~PAGES_MASK;
	place->len = (map & PAGES_MASK) * aux_page_size();
	if (place->len > FUZZ_PLACE_LEN)
		place->len = FUZZ_PLACE_LEN;
	if (!place->len)
		return;
	place->len = stress_copy(actor, place->at, place->len, place->was);
}

static void say_change(int number, const char *now, size_t len)
{
	const struct place *place = &places[number];
	size_t first = 0, last = 0, count = 0;

	for (size_t i = 0; i < len; i++) {
		if (place->was[i] == now[i])
			continue;
		first = count++ ? first : i;
		last = i;
	}
	printf("slot %d, mapping %d at 0x%lx: %zu of %zu bytes have changed, from 0x%zx to 0x%zx\n",
	       number / STRESS_MAPS, number % STRESS_MAPS, place->at, count, len, first, last);
	fflush(stdout);
}

/* Return: true if it has changed */
static bool compare_place(struct stress_actor *actor, int number)
{
	static char now[FUZZ_PLACE_LEN];
	const struct place *place = &places[number];
	size_t len;

	if (!place->len)
		return false;
	len = stress_copy(actor, place->at, place->len, now);
	if (!memcmp(place->was, now, len))
		return false;
	say_change(number, now, len);
	return true;
}

/* An event may be of one CPU. */
static void work_on_each_cpu(unsigned int rounds)
{
	for (int cpu = 0; cpu < STRESS_CPUS; cpu++) {
		aux_pin(0, cpu);
		aux_work(rounds);
	}
}

/*
 * Disable the events of all slots, and look whether one of them traces on. The caller has made sure
 * that no other event may write to what is mapped, by stress_actor::astray. The thread stays on the
 * last CPU.
 */
bool fuzz_traces_on(struct stress_actor *actor)
{
	bool found = false;

	for (int i = 0; i < STRESS_SLOTS; i++)
		ioctl(actor->slots[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	/* A record of another CPU that was interrupted has been written when a task runs there. */
	work_on_each_cpu(1);
	for (int i = 0; i < PLACES; i++)
		remember_place(actor, i);
	work_on_each_cpu(WORK_ROUNDS);
	for (int i = 0; i < PLACES; i++)
		found |= compare_place(actor, i);
	return found;
}
