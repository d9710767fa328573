// SPDX-License-Identifier: GPL-2.0-only
/*
 * PEBS, and Intel PT with it; run in a guest whose processor has both, as root.
 * Prints TAP.
 */
#include <err.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pebs.h"

void pebs_attr(struct perf_event_attr *attr, __u64 period, enum batch batch)
{
	aux_sampler_attr(attr, period);
	attr->config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	attr->precise_ip = 2;
	attr->sample_type = PERF_SAMPLE_IP;
	attr->disabled = 1;
	/* Who is woken by each sample wants each at once. */
	attr->wakeup_events = batch == SINGLE;
}

void __attribute__((noinline)) pebs_loop(unsigned long branches)
{
	asm volatile(".globl pebs_top, pebs_jump\n"
		     "pebs_top: dec %0\n"
		     "pebs_jump: jnz pebs_top"
		     : "+r" (branches) : : "cc");
}

unsigned long pebs_interrupts(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	unsigned long sum = 0;
	char line[512], *at, *end;

	while (file && fgets(line, sizeof(line), file)) {
		at = strstr(line, "PMI:");
		if (!at)
			continue;
		for (at += 4; ; at = end) {
			unsigned long n = strtoul(at, &end, 10);

			if (end == at)
				break;
			sum += n;
		}
	}
	if (!file)
		err(1, "/proc/interrupts");
	fclose(file);
	return sum;
}

/* Records are made of such words, of which none is at both ends of the buffer. */
static __u64 word(struct aux_event *event, __u64 at)
{
	return *(__u64 *)((char *)event->page + event->page->data_offset +
			  at % event->page->data_size);
}

/* In place: they may come faster than aux_next() copies them. */
void pebs_read(struct aux_event *event, __u64 ip, struct pebs_samples *seen)
{
	__u64 head = __atomic_load_n(&event->page->data_head, __ATOMIC_ACQUIRE);
	__u64 tail = event->page->data_tail;
	struct perf_event_header header;

	for (; tail != head; tail += header.size) {
		__u64 first = word(event, tail);

		memcpy(&header, &first, sizeof(header));
		if (header.type == PERF_RECORD_LOST)
			seen->lost += word(event, tail + offsetof(struct aux_record, lost.lost));
		seen->throttled += header.type == PERF_RECORD_THROTTLE;
		if (header.type != PERF_RECORD_SAMPLE)
			continue;
		seen->samples++;
		seen->elsewhere += ip && word(event, tail + sizeof(header)) != ip;
	}
	__atomic_store_n(&event->page->data_tail, tail, __ATOMIC_RELEASE);
	if (read(event->fd, &seen->count, sizeof(seen->count)) != sizeof(seen->count))
		err(1, "read");
}

bool pebs_complete(const struct pebs_samples *seen, __u64 period)
{
	diag("%lu samples, %lu lost, %lu elsewhere, %lu times throttled, a count of %llu",
	     seen->samples, seen->lost, seen->elsewhere, seen->throttled, seen->count);
	return seen->samples && !seen->elsewhere &&
	       seen->samples + seen->lost == seen->count / period;
}

int main(void)
{
	setlinebuf(stdout);
	aux_use("intel_pt");
	test_registers();
	test_records();
	test_contents();
	test_traces();
	test_pauses();
	return end_points();
}
