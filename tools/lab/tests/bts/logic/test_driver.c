// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver, with an NMI at each place in turn, then with many at random while the
 * hardware stores. Afterwards all must be as it was asked for last; the reader, who looks
 * at each record, must find them all, but for those of which a record says so.
 */
#include <setjmp.h>

#include <linux/errno.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/smp.h>

#include "perf_event.h"
#include "bts.h"
#include "check.h"
#include "core.h"
#include "hw.h"
#include "nmi.h"

/* Fewer of these than of other steps: each is a trace from begin to end. */
#define STEPS_PER_RUN	5

/**
 * struct setting - an area, and who writes to it
 * @name: of the setting
 * @overwrite: newest data win
 * @pages: of the area
 * @watermark: bytes; 0: half of the area
 * @kernel: the kernel is traced, too
 */
static const struct setting {
	const char *name;
	bool overwrite;
	unsigned int pages;
	u64 watermark;
	bool kernel;
} settings[] = {
	{ "a page", false, 1, 0, false },
	{ "a page, and the kernel", false, 1, 0, true },
	{ "two pages, small watermark", false, 2, 300, false },
	{ "four pages, and the kernel", false, 4, 6000, true },
	{ "newest data win", true, 1, 0, false },
	{ "newest data win, and the kernel", true, 2, 0, true },
};

static bool in;

static void do_in(void)
{
	if (!in)
		in = core_in();
}

static void do_out(void)
{
	if (in)
		core_out();
	in = false;
}

/* Another CPU, for example: the event is stopped for a moment. */
static void do_restart(void)
{
	if (!in)
		return;
	core_event.pmu->stop(&core_event, PERF_EF_UPDATE);
	if (!core_event.pending_disable)
		core_event.pmu->start(&core_event, 0);
}

static void do_stop_twice(void)
{
	if (!in)
		return;
	core_event.pmu->stop(&core_event, PERF_EF_UPDATE);
	do_restart();
}

static void do_block_step(void)
{
	hw_block_step();
	/* What block-step may have switched on again stores to no area, and ends with a stop. */
	hw_branches(5, false);
	if (!core_rb.open)
		do_out();
}

static void do_nothing(void)
{
}

struct action {
	const char *name;
	void (*prepare)(void);
	void (*act)(void);
};

static const struct action bases[] = {
	{ "schedule in", do_nothing, do_in },
	{ "schedule out", do_in, do_out },
	{ "restart", do_in, do_restart },
	{ "stop twice", do_in, do_stop_twice },
	{ "block-step", do_in, do_block_step },
};

static void until_due(bool kernel)
{
	for (unsigned int i = 0; i < 1000 && hw.on && !hw.pmi && !hw.lost; i++)
		hw_branches(1, kernel);
}

/*
 * The hardware has stored until it interrupted: now, where the kernel is traced, or
 * before the driver was called.
 */
static void nmi_due(void)
{
	until_due(true);
	hw_nmi();
}

/* The interrupt comes so late that nothing has room any more. */
static void nmi_late(void)
{
	hw_branches(1000, true);
	hw_nmi();
}

static void nmi_late_of_user(void)
{
	hw_branches(1000, false);
	hw_nmi();
}

/* One of another event. */
static void nmi_other(void)
{
	hw_branches(1, true);
	hw_nmi();
}

/* A tick after the group was throttled: the core starts what has stopped meanwhile. */
static void unthrottle(void)
{
	if (in && core_event.hw.state & PERF_HES_STOPPED)
		core_event.pmu->start(&core_event, 0);
}

static const struct {
	const char *name;
	void (*come)(void);
} nmis[] = {
	{ "PMI", nmi_due }, { "late PMI", nmi_late }, { "NMI of another event", nmi_other },
};

static unsigned int single_place, single_nmi;

static void nmi_at(unsigned int place)
{
	if (place == single_place)
		nmis[single_nmi].come();
}

static void nmi_random(unsigned int place)
{
	if (!random_below(10))
		nmis[random_below(ARRAY_SIZE(nmis))].come();
	else if (random_below(3))
		hw_deliver();
}

static void tick_random(void)
{
	/* The driver is a part of the kernel; the handler's branches are hw.c's. */
	if (!in_nmi() && !random_below(4))
		hw_branches(random_up_to(40), true);
}

/* The trace goes on: the reader reads all, and what hardware stores then arrives. */
static void go_on(void)
{
	u64 before;

	do_out();
	core_check(false);
	/*
	 * No interrupt is awaited any more, unless a handler's own branches have come to
	 * the threshold during a change: none follows, which the driver cannot know.
	 */
	hw_nmi();
	EXPECT(!hw.claimed || !core_event.attr.exclude_kernel);
	if (!core_rb.overwrite)
		core_read(core_rb.size);
	core_event.pending_disable = 0;
	do_in();
	EXPECT(in);
	before = core_rb.head;
	hw_branches(3, false);
	core_check(true);
	do_out();
	core_check(false);
	EXPECT(core_rb.head != before);
	if (!core_rb.overwrite) {
		core_read(core_rb.size);
		EXPECT(core_rb.tail == core_rb.head);
	}
}

static unsigned int run(const struct setting *setting, const struct action *base,
			void (*tick)(void), void (*nmi)(unsigned int place))
{
	unsigned int places;

	EXPECT(!core_begin(setting->pages, setting->overwrite, setting->watermark,
			   setting->kernel));
	in = false;
	/* As if the buffer had had another area before. */
	if (!random_below(4)) {
		core_rb.head = random_below((setting->overwrite ? 1 : 3) * core_rb.size);
		core_rb.tail = core_rb.head;
	}
	/* As if it had run before, so that there is something in the area. */
	do_in();
	hw_branches(random_up_to(100), false);
	do_out();
	if (!setting->overwrite && random_below(2))
		core_read(random_up_to(core_rb.size) / BTS_RECORD_SIZE * BTS_RECORD_SIZE);
	base->prepare();
	if (random_below(2))
		until_due(false);
	nmi_arm(tick, nmi);
	base->act();
	places = nmi_disarm();
	if (random_below(2))
		unthrottle();
	if (!is_blamed())
		core_check(in);
	if (!is_blamed())
		go_on();
	core_end();
	return places;
}

static void test_each_place(const struct setting *setting, const struct action *base)
{
	unsigned int places = 0, now;

	for (single_nmi = 0; single_nmi < ARRAY_SIZE(nmis) && !is_blamed(); single_nmi++) {
		single_place = 0;
		do {
			single_place++;
			/* Where the area has no room, nothing begins. */
			now = run(setting, base, NULL, nmi_at);
			places = max(places, now);
		} while (single_place <= places && !is_blamed());
		if (is_blamed())
			diag("%s at place %u of %s", nmis[single_nmi].name, single_place,
			     base->name);
	}
	EXPECT(places >= 3);
	verdict("%s: each NMI at each of %u places of: %s", setting->name, places, base->name);
}

static void test_random(const struct setting *setting, unsigned long runs)
{
	const struct action *base;

	for (unsigned long i = 0; i < runs && !is_blamed(); i++) {
		base = &bases[random_below(ARRAY_SIZE(bases))];
		run(setting, base, tick_random, nmi_random);
		if (is_blamed())
			diag("run %lu of %s", i, base->name);
	}
	verdict("%s: many NMIs, while hardware stores", setting->name);
}

/* A reader who takes what there is, at any time; many laps of the area. */
static void test_stream(const struct setting *setting, unsigned long steps)
{
	unsigned int laps;

	EXPECT(!core_begin(setting->pages, setting->overwrite, setting->watermark,
			   setting->kernel));
	in = false;
	nmi_arm(NULL, nmi_random);
	for (unsigned long i = 0; i < steps && !is_blamed(); i++) {
		do_in();
		hw_branches(random_up_to(30), false);
		if (!random_below(30))
			hw_nmi();
		if (random_below(4))
			hw_deliver();
		if (random_below(2))
			unthrottle();
		if (core_event.pending_disable)
			do_out();
		if (!setting->overwrite && !random_below(4))
			core_read(random_up_to(core_rb.size) / BTS_RECORD_SIZE *
				  BTS_RECORD_SIZE);
		if (!random_below(20))
			do_out();
		if (!random_below(50))
			core_check(in);
	}
	nmi_disarm();
	laps = core_rb.head / core_rb.size;
	EXPECT(setting->overwrite || laps > 10);
	if (!is_blamed())
		go_on();
	core_end();
	verdict("%s: %u laps, %u of them cut", setting->name, laps, core_rb.truncated);
}

/*
 * A reader who is woken at each half of the area, and reads a little later. Each wakeup has an
 * interrupt, and so has the end of the room before it, at most; skipped is the end of a lap.
 */
static void test_interrupts(unsigned int pages)
{
	const unsigned int laps = 10;
	u64 wakeup, skipped;

	EXPECT(!core_begin(pages, false, 0, false));
	EXPECT(core_in());
	while (core_rb.head < laps * core_rb.size && !is_blamed()) {
		wakeup = core_rb.wakeup;
		hw_branches(1, false);
		hw_deliver();
		if (core_rb.wakeup != wakeup) {
			hw_branches(random_up_to(100), false);
			core_read(core_rb.size);
		}
		EXPECT(!core_event.pending_disable && !hw.lost);
	}
	core_out();
	skipped = core_rb.head - hw.number * BTS_RECORD_SIZE;
	EXPECT(hw.raised <= 4 * laps);
	EXPECT(skipped <= laps * (BTS_MARGIN + 2 * BTS_RECORD_SIZE));
	core_end();
	verdict("%u pages: %u interrupts in %u laps, %llu bytes skipped", pages, hw.raised, laps,
		(unsigned long long)skipped);
}

/* Nothing is skipped where an interrupt wakes the reader, nor where an event begins. */
static void test_no_skip(void)
{
	EXPECT(!core_begin(16, false, 100 * BTS_RECORD_SIZE, false));
	EXPECT(core_in());
	for (unsigned int i = 0; i < 1000; i++) {
		hw_branches(1, false);
		hw_deliver();
	}
	core_out();
	EXPECT(hw.raised == 10 && core_rb.head == 1000 * BTS_RECORD_SIZE);
	core_end();

	EXPECT(!core_begin(16, false, 0, false));
	EXPECT(core_in());
	hw_branches(core_rb.watermark / BTS_RECORD_SIZE - 10, false);
	core_out();
	EXPECT(core_in());
	hw_branches(1, false);
	core_out();
	EXPECT(core_rb.head == hw.number * BTS_RECORD_SIZE);
	core_end();
	verdict("nothing is skipped before a wakeup without need");
}

static jmp_buf left;
/* How many of such kernels published aux_head */
static unsigned int published;

static void nmi_kill(unsigned int place)
{
	if (place != single_place)
		return;
	nmi_run(cpu_emergency_stop_bts);
	/* Who was interrupted does not go on. */
	longjmp(left, 1);
}

/* This kernel ends, at whatever place: nothing is stored after that. */
static void test_kill(const struct setting *setting, const struct action *base)
{
	bool more = true;

	published = 0;

	for (single_place = 1; more && !is_blamed(); single_place++) {
		EXPECT(!core_begin(setting->pages, setting->overwrite, 0, setting->kernel));
		in = false;
		do_in();
		hw_branches(20, false);
		do_out();
		base->prepare();
		hw_branches(20, false);
		nmi_arm(NULL, nmi_kill);
		more = setjmp(left);
		if (!more)
			base->act();
		nmi_disarm();
		/* The CPU that crashed takes NMIs for a while. */
		if (more)
			hw_nmi();
		EXPECT(!more || !hw.on);
		published += core_rb.published;
		core_end();
	}
	EXPECT(single_place > 3);
	EXPECT(base->act == do_in || published);
	verdict("%s: the kernel's end at each place of: %s", setting->name, base->name);
}

/* What others have switched on without knowing it ends with the kernel, too. */
static void test_kill_idle(void)
{
	EXPECT(!core_begin(1, false, 0, false));
	hw.on = true;
	nmi_run(cpu_emergency_stop_bts);
	EXPECT(!hw.on);
	core_end();
	verdict("the kernel's end while nothing is traced");
}

/* Nothing begins on a CPU that has no BTS; one record says so. */
static void test_unusable(void)
{
	EXPECT(!core_begin(1, false, 0, false));
	bts_cpu[0].usable = false;
	EXPECT(core_in() && !hw.writes);
	EXPECT(core_rb.flags == PERF_AUX_FLAG_PARTIAL && !core_rb.open);
	core_rb.flags = 0;
	core_out();
	EXPECT(core_in() && !core_rb.flags);
	core_out();
	bts_cpu[0].usable = true;
	EXPECT(core_in() && core_rb.open);
	core_out();
	EXPECT(hw_is_restored());
	/* It has traced since: there is another gap to tell of. */
	bts_cpu[0].usable = false;
	EXPECT(core_in() && core_rb.flags == PERF_AUX_FLAG_PARTIAL);
	core_out();
	core_end();
	verdict("a CPU without BTS");
}

/* NMIs of others cost nothing where user code only is traced, and as before else. */
static void test_writes(void)
{
	for (int kernel = 0; kernel < 2; kernel++) {
		EXPECT(!core_begin(4, false, 0, kernel));
		EXPECT(core_in() && hw.writes == 1);
		hw_branches(10, false);
		hw_nmi();
		EXPECT(hw.writes == (kernel ? 3 : 1));
		/* Nor does it end the transaction. */
		EXPECT(core_rb.open && !core_rb.head);
		core_out();
		EXPECT(hw.writes == (kernel ? 4 : 2));
		core_end();
	}
	verdict("writes of DEBUGCTL");
}

/* An area that has no room when the event comes. */
static void test_full(void)
{
	EXPECT(!core_begin(1, false, 0, false));
	EXPECT(core_in());
	nmi_late_of_user();
	EXPECT(core_event.pending_disable && core_rb.truncated == 1);
	core_check(true);
	core_out();
	core_check(false);
	core_event.pending_disable = 0;
	EXPECT(bts_pmu.add(&core_event, PERF_EF_START) == -EINVAL);
	core_check(false);
	core_end();
	verdict("a full area");
}

/* The NMI comes when the trace has stopped, and is claimed once. */
static void test_late(void)
{
	EXPECT(!core_begin(1, false, 0, false));
	EXPECT(core_in());
	until_due(false);
	core_out();
	hw_nmi();
	EXPECT(hw.claimed);
	hw_nmi();
	EXPECT(!hw.claimed);
	core_end();
	verdict("an NMI after the end");

	EXPECT(!core_begin(1, false, 0, false));
	EXPECT(core_in());
	until_due(false);
	core_out();
	jiffies++;
	hw_nmi();
	EXPECT(hw.claimed);
	EXPECT(core_in());
	until_due(false);
	core_out();
	/* It was lost. This one is another device's. */
	hw.pmi = false;
	jiffies += 2;
	hw_nmi();
	EXPECT(!hw.claimed);
	core_end();
	verdict("an NMI that is not expected any more");
}

static void tick_due(void)
{
	if (!in_nmi() && bts_cpu[0].state == BTS_BUSY)
		until_due(true);
}

/* An NMI that was claimed in an earlier change is none that is awaited now. */
static void test_claims(void)
{
	EXPECT(!core_begin(1, false, 0, false));
	EXPECT(core_in());
	bts_cpu[0].claimed = true;
	until_due(false);
	core_out();
	hw_nmi();
	EXPECT(hw.claimed);
	core_end();

	EXPECT(!core_begin(2, false, 0, true));
	bts_cpu[0].claimed = true;
	nmi_arm(tick_due, NULL);
	EXPECT(core_in() && hw.pmi);
	nmi_disarm();
	hw_nmi();
	EXPECT(hw.claimed);
	core_out();
	core_end();
	verdict("claims of earlier changes");
}

static void test_add(void)
{
	struct perf_event other;

	EXPECT(!core_begin(1, false, 0, false));
	other = core_event;
	EXPECT(!bts_pmu.add(&core_event, 0) && !hw.writes && !core_rb.open);
	EXPECT(core_event.hw.state == (PERF_HES_STOPPED | PERF_HES_UPTODATE));
	bts_pmu.start(&core_event, 0);
	core_check(true);
	EXPECT(bts_pmu.add(&core_event, PERF_EF_START) == -EBUSY);
	/* 6.1 may have another one active, too: it has lost its area, then this one was added. */
	for (unsigned int i = 0; i < 2; i++) {
		bts_pmu.stop(&other, PERF_EF_UPDATE);
		bts_pmu.start(&other, 0);
		EXPECT(other.hw.state == (PERF_HES_STOPPED | PERF_HES_UPTODATE));
		core_check(true);
	}
	bts_pmu.del(&other, 0);
	core_check(true);
	core_out();
	cpu_hw_events[0].active_mask[0] = 1 << INTEL_PMC_IDX_FIXED_BTS;
	EXPECT(bts_pmu.add(&core_event, PERF_EF_START) == -EBUSY);
	cpu_hw_events[0].active_mask[0] = 0;
	core_end();
	verdict("scheduled in without a start, and beside others");
}

static int init_event(int cpu, bool no_kernel, bool no_user)
{
	struct perf_event event = {
		.attr = { .type = bts_pmu.type, .exclude_kernel = no_kernel,
			  .exclude_user = no_user },
		.cpu = cpu,
	};
	int ret = bts_pmu.event_init(&event);

	if (!ret)
		event.destroy(&event);
	return ret;
}

static void test_errors(void)
{
	struct perf_event other = { .attr.type = 1 };
	struct perf_event child = { .attr.type = bts_pmu.type, .cpu = 1, .parent = &other };

	EXPECT(!core_begin(1, false, 0, false));
	EXPECT(bts_pmu.event_init(&other) == -ENOENT);
	EXPECT(init_event(1, false, false) == -ENODEV && !init_event(0, false, false));
	bts_cpu[0].usable = false;
	EXPECT(init_event(0, false, false) == -ENODEV && !init_event(-1, false, false));
	/* Nor of a CPU that is offline is it known; perf refuses what would be wrong. */
	hw_offline = true;
	EXPECT(!init_event(0, false, false));
	hw_offline = false;
	bts_cpu[0].usable = true;
	/* What a task has, its children get. */
	EXPECT(!bts_pmu.event_init(&child));
	child.destroy(&child);
	core_denies = -EACCES;
	EXPECT(init_event(-1, false, false) == -EACCES && init_event(-1, true, false) == -EACCES);
	EXPECT(!bts_pmu.event_init(&child));
	child.destroy(&child);
	core_denies = 0;
	hw_lacks |= 1 << X86_FEATURE_DSCPL;
	EXPECT(!init_event(-1, false, false));
	EXPECT(init_event(-1, true, false) == -EOPNOTSUPP);
	EXPECT(init_event(-1, false, true) == -EOPNOTSUPP);
	core_end();
	verdict("events that are refused");
}

/* Whether there is a PMU. */
static void test_init(void)
{
	hw_reset();
	EXPECT(!shim_initcall() && core_cpus == 1);
	EXPECT(bts_pmu.capabilities == (PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE |
					PERF_PMU_CAP_AUX_ANY_SIZE));
	core_refuses_cpus = -ENOMEM;
	EXPECT(shim_initcall() == -ENOMEM && core_cpus == 1);
	core_refuses_cpus = 0;
	core_refuses_pmu = -EEXIST;
	EXPECT(shim_initcall() == -EEXIST && core_cpus == 1);
	core_refuses_pmu = 0;
	hw_lacks |= 1 << X86_FEATURE_DTES64;
	EXPECT(shim_initcall() == -ENODEV);
	hw_lacks = 0;
	EXPECT(shim_initcall() == -ENODEV);
	hw_lacks = 1 << X86_FEATURE_PTI;
	x86_pmu.version = 1;
	EXPECT(shim_initcall() == -ENODEV);
	x86_pmu.version = 2;
	EXPECT(!shim_initcall() && core_cpus == 2);
	x86_pmu.bts = false;
	EXPECT(shim_initcall() == -ENODEV && core_cpus == 2);
	verdict("which processors have a PMU");
}

void test_driver(unsigned long steps)
{
	test_init();
	test_errors();
	test_add();
	test_full();
	test_late();
	test_claims();
	test_unusable();
	test_writes();
	test_interrupts(16);
	test_interrupts(256);
	test_no_skip();
	test_kill_idle();
	for (unsigned int j = 0; j < 3; j++) {
		test_kill(&settings[1], &bases[j]);
		test_kill(&settings[5], &bases[j]);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(settings); i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(bases); j++)
			test_each_place(&settings[i], &bases[j]);
		test_random(&settings[i], steps / STEPS_PER_RUN);
		test_stream(&settings[i], steps);
	}
}
