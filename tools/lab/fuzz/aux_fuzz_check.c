// SPDX-License-Identifier: GPL-2.0-only
/* The fuzzer of AUX areas: what the kernel says, and counters that have to be as before. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aux_fuzz.h"
#include "aux_util.h"

/* Pages that wait in lists of CPUs, caches that grow, and the like. */
#define NOISE_KIB	(24L << 10)
#define TRIES		20
#define STEP_USEC	50000

static const char * const complaints[] = {
	"BUG: ", "WARNING: ", "kernel BUG at", "KASAN: ", "KCSAN: ", "UBSAN: ", "Oops", "[#1]",
	"Internal error: ",
	"general protection fault", "Unable to handle kernel", "possible circular locking",
	"possible recursive locking", "possible irq lock inversion", "INFO: rcu_", "INFO: task ",
	"INFO: trying to register non-static key", "soft lockup", "hard LOCKUP",
	"Uhhuh. NMI received", "Dazed and confused", "perfevents: irq loop stuck",
	"unchecked MSR access error", "scheduling while atomic", "sleeping function called",
	"suspicious RCU usage", "refcount_t: ", "list_del corruption", "list_add corruption",
	"double fault", "stack segment fault", "DEBUG_LOCKS_WARN_ON", "Kernel panic",
};

static int messages = -1;
static struct stress_state before;
static struct perf_event_attr cycles;

/*
 * An interrupt that is slow only because the machine is emulated is no reason to sample less.
 * But where instructions are not counted, samples come by the time that passes, and the next one
 * may be due before the last is written. Then the kernel is to stop an event much earlier.
 */
static void limit_samples(void)
{
	struct perf_event_attr attr;

	/* While it is 0, the rate is not changed. */
	aux_write_file("/proc/sys/kernel/perf_cpu_time_max_percent", "25");
	aux_sampler_attr(&attr, 1);
	if (attr.type == PERF_TYPE_SOFTWARE)
		aux_write_file("/proc/sys/kernel/perf_event_max_sample_rate", "1000");
	aux_write_file("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
}

/* What this kernel does not have is not set. */
void fuzz_check_start(void)
{
	stress_let_fail();
	limit_samples();
	stress_cycles_attr(&cycles);
	messages = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (messages >= 0)
		lseek(messages, 0, SEEK_END);
	before.unexplained = -1;
}

/* The next message that is a complaint, without numbers that differ each time. */
static const char *complaint(void)
{
	static char record[8192];
	ssize_t len;
	char *text;

	for (;;) {
		len = read(messages, record, sizeof(record) - 1);
		if (len < 0 && errno == EPIPE)
			continue;
		if (len <= 0)
			return NULL;
		record[len] = 0;
		text = strchr(record, ';');
		text = text ? text + 1 : record;
		text[strcspn(text, "\n")] = 0;
		for (size_t i = 0; i < STRESS_COUNT(complaints); i++) {
			if (strstr(text, complaints[i]))
				return text;
		}
	}
}

static bool is_charged(void)
{
	long granted = aux_allowance() / aux_page_size();
	struct stress_state state;

	stress_allowance(&state);
	for (int i = 0; i < 3; i++) {
		if (state.allowance[i] != granted)
			return true;
	}
	return false;
}

/* Freeing of events goes on for a while after their files were closed. */
static const char *check_allowance(void)
{
	for (int i = 0; i < TRIES; i++) {
		if (!is_charged())
			return NULL;
		usleep(STEP_USEC);
	}
	return "pages stay charged to a user, or are charged too often";
}

static const char *check_events(void)
{
	for (int i = 0; fuzz_pmus[i]; i++) {
		aux_use(fuzz_pmus[i]);
		if (aux_pmu_type() >= 0 && !stress_pmu_is_free())
			return "an event stays that is closed";
	}
	return NULL;
}

static const char *check_counters(void)
{
	return stress_cpus_count(&cycles) ? NULL : "a PMU stays disabled";
}

const char *fuzz_check(void)
{
	const char *found = messages < 0 ? NULL : complaint();

	found = found ?: check_allowance();
	found = found ?: check_events();
	found = found ?: check_counters();
	/* Of what the checks themselves have made the kernel notice. */
	return found ?: messages < 0 ? NULL : complaint();
}

/* After many programs: what each of them loses adds up. */
const char *fuzz_check_memory(void)
{
	struct stress_state now;
	bool first = before.unexplained < 0;

	stress_look(&now);
	if (first)
		before = now;
	if (now.unexplained <= before.unexplained + NOISE_KIB)
		return NULL;
	printf("unexplained memory: %ld KiB, at first %ld\n", now.unexplained,
	       before.unexplained);
	return FUZZ_PAGES_LOST;
}
