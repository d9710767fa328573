// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver at random: hardware writes, interrupts come late, tasks are switched
 * and migrate, a reader reads some, overflows pause, resume and take samples.
 * core.c looks at each byte: none is overwritten before it was read, and the
 * reader finds what was written.
 */
#include <linux/jiffies.h>
#include <linux/smp.h>

#include "perf_event.h"
#include "check.h"
#include "core.h"
#include "hw.h"
#include "machine.h"
#include "nmi.h"

#define MEMORY	((1UL << 52) - (1UL << 36))
#define MOST	16

/**
 * struct setting - an area
 * @name: of the setting
 * @missing: a capability that the CPU lacks; 0: none
 * @overwrite: newest data win
 * @pages: size of the area; regions are of random orders
 * @one: but there is one region
 */
struct setting {
	const char *name;
	enum pt_capabilities missing;
	bool overwrite;
	unsigned int pages;
	bool one;
};

static const struct setting settings[] = {
	{ "a page", 0, false, 1, true },
	{ "two pages", 0, false, 2, false },
	{ "a few regions", 0, false, 8, false },
	{ "16 pages", 0, false, 16, false },
	{ "a region of 16 pages", 0, false, 16, true },
	{ "one region at a time", PT_CAP_topa_multiple_entries, false, 16, false },
	{ "newest data win", 0, true, 8, false },
	{ "newest data win, one region", PT_CAP_topa_multiple_entries, true, 8, true },
	{ "a single range of a page", 0, true, 1, true },
};

static struct trace trace;
static bool in;
/* What was seen, so that it is known that it happens */
static unsigned int truncations, turns, samples;

/* Regions of random orders that are as many pages. */
static unsigned int random_regions(u8 *orders, const struct setting *setting)
{
	unsigned int left = setting->pages, nr = 0, order;

	for (order = 0; setting->one && 1U << order < left; order++)
		orders[0] = order + 1;
	if (setting->one) {
		orders[0] = order;
		return 1;
	}
	while (left) {
		order = random_below(3);
		if (1U << order > left)
			continue;
		orders[nr++] = order;
		left -= 1U << order;
	}
	return nr;
}

static void open_trace(const struct setting *setting)
{
	struct pt_caps caps = caps_all();
	u64 size = setting->pages * 4096;
	u8 orders[MOST];

	if (setting->missing)
		caps_clear(&caps, setting->missing);
	EXPECT(!machine_boot(&caps, MEMORY));
	EXPECT(!trace_init(&trace, CONFIG_PLAIN));
	EXPECT(trace_map(&trace, orders, random_regions(orders, setting), setting->overwrite,
			 1 + random_up_to(size + 5000)));
	in = false;
}

static void close_trace(void)
{
	if (in)
		trace_out(&trace);
	in = false;
	core_check(&trace);
	trace_unmap(&trace);
	trace_destroy(&trace);
}

static void sample(void)
{
	if (!trace.rb.aux.overwrite || trace.rb.aux.writer != &trace.event)
		return;
	samples += trace_sample(&trace, 1 + random_up_to(trace.rb.aux.size - 1)) > 0;
}

static void overflow(void)
{
	switch (random_below(3)) {
	case 0:
		sample();
		break;
	default:
		perf_aux_pause(&trace.event, random_below(2));
	}
}

/* In the middle of what the driver does */
static void tick(void)
{
	if (!random_below(20))
		hw_output(random_up_to(3000));
}

static void nmi(unsigned int place)
{
	if (!random_below(3))
		core_deliver();
	if (!random_below(20))
		nmi_run(overflow);
}

static void switch_task(void)
{
	if (in) {
		trace_out(&trace);
		in = false;
		return;
	}
	shim_cpu = random_below(SHIM_CPUS);
	hw_this()->early = random_up_to(512);
	in = !trace_in(&trace);
}

/* The reader reads some; where the event was disabled, it is enabled again. */
static void read_some(void)
{
	struct perf_aux *aux = &trace.rb.aux;

	if (aux->overwrite)
		return;
	if (trace.event.pending_disable && in) {
		trace_out(&trace);
		in = false;
	}
	trace_read(&trace, random_up_to(aux->head - aux->tail));
}

/* Hardware writes for a while, and is interrupted sooner or later. */
static void trace_some(void)
{
	unsigned int pieces = 1 + random_below(8);

	while (pieces--) {
		hw_output(random_up_to(trace.rb.aux.size / 8 + 1500));
		if (random_below(2))
			core_deliver();
	}
}

static void step(void)
{
	unsigned int before = trace.rb.aux.transactions;

	jiffies += !random_below(10);
	nmi_arm(tick, nmi);
	switch (random_below(8)) {
	case 0:
		switch_task();
		break;
	case 1:
		overflow();
		break;
	case 2:
	case 3:
		read_some();
		break;
	default:
		trace_some();
	}
	nmi_disarm();
	core_check(&trace);
	if (trace.rb.aux.transactions != before) {
		turns++;
		truncations += !!(trace.rb.aux.flags & PERF_AUX_FLAG_TRUNCATED);
	}
}

/* All is read: then there is room, and what is written arrives. */
static void check_goes_on(void)
{
	struct perf_aux *aux = &trace.rb.aux;
	u64 before;

	if (in)
		trace_out(&trace);
	core_check(&trace);
	trace_read(&trace, aux->overwrite ? 0 : aux->head - aux->tail);
	perf_aux_pause(&trace.event, false);
	in = !trace_in(&trace);
	before = aux->position;
	EXPECT(in && hw_output(1) == 1 && aux->position == before + 1);
	core_check(&trace);
}

static void test_random(const struct setting *setting, unsigned long steps)
{
	truncations = 0;
	turns = 0;
	samples = 0;
	open_trace(setting);
	for (unsigned long i = 1; i <= steps && !is_blamed(); i++) {
		step();
		if (i % 50 == 0)
			check_goes_on();
		if (i % 300 == 0) {
			close_trace();
			open_trace(setting);
		}
	}
	close_trace();
	EXPECT(turns > steps / 20);
	EXPECT(setting->overwrite ? samples > steps / 100 && !truncations :
				    truncations > steps / 1000);
	verdict("stream: %s: %lu random steps", setting->name, steps);
}

/*
 * A reader that is quick enough: nothing is cut off. It hears of data when a
 * quarter of the area has been written; hardware hears of what it has read at the
 * next end of a region, of which there are still some.
 */
static void test_prompt(enum pt_capabilities missing, unsigned int pages, unsigned long steps)
{
	struct perf_aux *aux = &trace.rb.aux;
	struct pt_caps caps = caps_all();
	static const u8 orders[MOST];

	if (missing)
		caps_clear(&caps, missing);
	EXPECT(!machine_boot(&caps, MEMORY));
	EXPECT(!trace_init(&trace, CONFIG_PLAIN));
	EXPECT(trace_map(&trace, orders, pages, false, pages * 1024));
	in = !trace_in(&trace);
	hw_this()->early = 512;
	for (unsigned long i = 0; i < steps && !is_blamed(); i++) {
		hw_output_until_pmi(random_up_to(3000));
		core_deliver();
		trace_read(&trace, aux->head - aux->tail);
		EXPECT(aux->writer && !(aux->flags & PERF_AUX_FLAG_TRUNCATED));
	}
	close_trace();
	verdict("stream: %u pages%s: a reader that keeps up, %lu steps", pages,
		missing ? ", one at a time" : "", steps);
}

/* Nobody reads: interrupts are no more than there are wakeups, and one before the end. */
static void test_interrupts(void)
{
	static const u8 orders[16];
	struct pt_caps caps = caps_all();
	unsigned int interrupts = 0;

	EXPECT(!machine_boot(&caps, MEMORY));
	EXPECT(!trace_init(&trace, CONFIG_PLAIN));
	EXPECT(trace_map(&trace, orders, 16, false, 4 * 4096));
	EXPECT(!trace_in(&trace));
	while (hw_runs() && !is_blamed()) {
		hw_output_until_pmi(100 * 4096);
		interrupts += hw_this()->pmi;
		core_deliver();
	}
	EXPECT(trace.rb.aux.head == 16 * 4096 && interrupts == 5);
	trace_out(&trace);
	trace_read(&trace, 16 * 4096);
	EXPECT(!trace_in(&trace));

	/* A reader that reads at once: one for each wakeup, in each lap */
	for (interrupts = 0; trace.rb.aux.position < 9 * 16 * 4096 && !is_blamed(); interrupts++) {
		hw_output_until_pmi(100 * 4096);
		core_deliver();
		trace_read(&trace, trace.rb.aux.head - trace.rb.aux.tail);
	}
	EXPECT(interrupts == 8 * 4 && trace.rb.aux.writer);
	in = true;
	close_trace();
	verdict("stream: an interrupt a wakeup, and one before the area is full");
}

void test_stream(unsigned long steps)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(settings); i++)
		test_random(&settings[i], steps);
	for (unsigned int pages = 4; pages <= MOST; pages *= 2) {
		test_prompt(0, pages, steps / 10);
		test_prompt(PT_CAP_topa_multiple_entries, pages, steps / 10);
	}
	test_interrupts();
}
