// SPDX-License-Identifier: GPL-2.0-only
/*
 * NMIs in the middle of what the driver does: at each access to a register, to
 * what it shares with NMIs, and to perf's core, an NMI comes. Afterwards all must
 * be as it was asked for last, and no byte and no interrupt may be lost.
 *
 * First one NMI comes, at each place in turn; then several, at random.
 */
#include <setjmp.h>

#include <linux/smp.h>

#include <asm/intel_pt.h>
#include <asm/perf_event.h>

#include "perf_event.h"
#include "check.h"
#include "core.h"
#include "hw.h"
#include "machine.h"
#include "nmi.h"

#define MEMORY		(1UL << 45)
/* Fewer of these than of other steps: each is a trace from begin to end. */
#define STEPS_PER_RUN	5

/**
 * struct setting - an area, and who writes to it
 * @name: of the setting
 * @missing: a capability that the CPU lacks; 0: none
 * @overwrite: newest data win
 * @nr: number of regions, of a page each
 */
struct setting {
	const char *name;
	enum pt_capabilities missing;
	bool overwrite;
	unsigned int nr;
};

static const struct setting settings[] = {
	{ "several regions", 0, false, 4 },
	{ "one region at a time", PT_CAP_topa_multiple_entries, false, 4 },
	{ "a single region", 0, false, 1 },
	{ "newest data win", 0, true, 2 },
	{ "a single range", 0, true, 1 },
};

static struct trace trace;
static bool in;

static void do_in(void)
{
	in = !trace_in(&trace);
}

static void do_out(void)
{
	if (in)
		trace_out(&trace);
	in = false;
}

static void do_pause(void)
{
	perf_aux_pause(&trace.event, true);
}

static void do_resume(void)
{
	perf_aux_pause(&trace.event, false);
}

static void do_pause_resume(void)
{
	do_pause();
	do_resume();
}

static void do_in_paused(void)
{
	do_pause();
	do_in();
}

static void do_resume_pause(void)
{
	do_resume();
	do_pause();
}

static void do_sample(void)
{
	if (trace.rb.aux.overwrite && trace.rb.aux.writer == &trace.event)
		trace_sample(&trace, 1000);
}

/* Another filter, for example: the event is stopped for a moment. */
static void do_restart(void)
{
	if (!in)
		return;
	trace.event.pmu->stop(&trace.event, PERF_EF_UPDATE);
	if (!trace.event.pending_disable)
		trace.event.pmu->start(&trace.event, 0);
}

/* A tick after the group was throttled: the core starts what has stopped meanwhile. */
static void unthrottle(void)
{
	if (in && trace.event.hw.state & PERF_HES_STOPPED)
		trace.event.pmu->start(&trace.event, 0);
}

static void do_vmx(void)
{
	intel_pt_handle_vmx(1);
	intel_pt_handle_vmx(0);
}

static void do_vmx_enter(void)
{
	intel_pt_handle_vmx(1);
}

static void do_output(void)
{
	hw_output_until_pmi(trace.rb.aux.size);
}

/* Hardware has written until it interrupted; or a PMI is late. */
static void do_pmi(void)
{
	do_output();
	trace.rb.aux.due |= trace.rb.aux.writer && hw_this()->pmi;
	hw_this()->pmi = false;
	intel_pt_interrupt();
}

/* The interrupt comes so late that hardware has had to stop. */
static void do_late_pmi(void)
{
	hw_output(2 * trace.rb.aux.size);
	do_pmi();
}

static void do_stale_pmi(void)
{
	intel_pt_interrupt();
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
	{ "schedule in paused", do_pause, do_in },
	{ "schedule out", do_in, do_out },
	{ "pause", do_in, do_pause },
	{ "resume", do_in_paused, do_resume },
	{ "sample", do_in, do_sample },
	{ "restart", do_in, do_restart },
	{ "VMX and back", do_in, do_vmx },
	{ "VMX", do_in, do_vmx_enter },
};

static const struct action nmis[] = {
	{ "PMI", 0, do_pmi },
	{ "late PMI", 0, do_late_pmi },
	{ "stale PMI", 0, do_stale_pmi },
	{ "pause", 0, do_pause },
	{ "resume", 0, do_resume },
	{ "pause and resume", 0, do_pause_resume },
	{ "resume and pause", 0, do_resume_pause },
	{ "sample", 0, do_sample },
};

/* What comes where: nmi_at() of one; several at random */
static unsigned int single_place;
static const struct action *single_action;

static void nmi_at(unsigned int place)
{
	if (place == single_place)
		nmi_run(single_action->act);
}

static void nmi_random(unsigned int place)
{
	if (!random_below(12))
		nmi_run(nmis[random_below(ARRAY_SIZE(nmis))].act);
	else if (!random_below(3))
		core_deliver();
}

static void tick_random(void)
{
	if (!random_below(4))
		hw_output(random_up_to(3000));
}

static void set_up(const struct setting *setting)
{
	static const u8 orders[8];
	struct pt_caps caps = caps_all();

	if (setting->missing)
		caps_clear(&caps, setting->missing);
	EXPECT(!machine_boot(&caps, MEMORY));
	hw_this()->early = 512;
	EXPECT(!trace_init(&trace, CONFIG_PLAIN));
	EXPECT(trace_map(&trace, orders, setting->nr, setting->overwrite, 6000));
	in = false;
}

static void tear_down(void)
{
	trace_unmap(&trace);
	trace_destroy(&trace);
}

/* The trace goes on: the reader reads all, and what hardware writes then arrives. */
static void go_on(void)
{
	u64 before;

	intel_pt_handle_vmx(0);
	do_out();
	core_check(&trace);
	trace_read(&trace, trace.rb.aux.overwrite ? 0 : trace.rb.aux.head - trace.rb.aux.tail);
	do_resume();
	do_in();
	EXPECT(in);
	core_check(&trace);
	before = trace.rb.aux.position;
	hw_output(600);
	EXPECT(trace.rb.aux.position > before);
	do_out();
	core_check(&trace);
}

/* What was asked for last, is so; see core_check(). */
static void settle_and_check(const struct action *base)
{
	core_check(&trace);
	EXPECT(base->act != do_out || !trace.rb.aux.writer);
	/* Nothing but a full area ends a trace. */
	if (in && !trace.rb.aux.writer)
		EXPECT(trace.event.pending_disable);
	go_on();
}

static unsigned int run(const struct setting *setting, const struct action *base,
			void (*tick)(void), void (*nmi)(unsigned int place))
{
	unsigned int places;

	set_up(setting);
	/* As if it had run before, so that there is something in the area. */
	do_in();
	hw_output(100);
	do_out();
	base->prepare();
	nmi_arm(tick, nmi);
	base->act();
	places = nmi_disarm();
	if (random_below(2))
		unthrottle();
	settle_and_check(base);
	tear_down();
	return places;
}

static void test_each_place(const struct setting *setting, const struct action *base)
{
	unsigned int places = 0, i;

	for (i = 0; i < ARRAY_SIZE(nmis) && !is_blamed(); i++) {
		single_action = &nmis[i];
		single_place = 0;
		do {
			single_place++;
			places = run(setting, base, NULL, nmi_at);
		} while (single_place <= places && !is_blamed());
		if (is_blamed())
			diag("%s: %s at place %u of %s", setting->name,
			     single_action->name, single_place, base->name);
	}
	EXPECT(places >= 3 || base->act == do_sample);
	verdict("nmi: %s: each NMI at each of %u places of: %s", setting->name, places,
		base->name);
}

static void test_random(const struct setting *setting, unsigned long runs)
{
	const struct action *base;

	for (unsigned long i = 0; i < runs && !is_blamed(); i++) {
		base = &bases[random_below(ARRAY_SIZE(bases))];
		run(setting, base, tick_random, nmi_random);
		if (is_blamed())
			diag("%s: run %lu of %s", setting->name, i, base->name);
	}
	verdict("nmi: %s: many NMIs, while hardware writes", setting->name);
}

static jmp_buf left;

static void nmi_kill(unsigned int place)
{
	if (place != single_place)
		return;
	nmi_run(cpu_emergency_stop_pt);
	/* Who was interrupted does not go on. */
	longjmp(left, 1);
}

/* This kernel ends, at whatever place: nothing is written after that. */
static void test_kill(const struct setting *setting, const struct action *base)
{
	bool more = true;

	for (single_place = 1; more && !is_blamed(); single_place++) {
		set_up(setting);
		do_in();
		hw_output(100);
		do_out();
		base->prepare();
		nmi_arm(NULL, nmi_kill);
		more = setjmp(left);
		if (!more)
			base->act();
		nmi_disarm();
		EXPECT(!more || !hw_enabled());
		/* The CPU that crashed takes NMIs for a while. */
		if (more) {
			do_resume();
			intel_pt_interrupt();
			EXPECT(!hw_enabled());
		}
		tear_down();
	}
	EXPECT(single_place > 3);
	verdict("nmi: %s: the kernel's end at each place of: %s", setting->name, base->name);
}

/* A tracepoint in wrmsrq() may overflow each time: whatever begins, is undone. */
static void do_contrary(void)
{
	perf_aux_pause(&trace.event, hw_enabled());
}

static void nmi_contrary(unsigned int place)
{
	if (place > 10000) {
		blame("it goes on for ever");
		longjmp(left, 1);
	}
	nmi_run(do_contrary);
}

static void test_contrary(const struct setting *setting, const struct action *base)
{
	set_up(setting);
	base->prepare();
	nmi_arm(NULL, nmi_contrary);
	if (!setjmp(left))
		base->act();
	nmi_disarm();
	/* What is asked for now, counts again. */
	do_pause();
	if (!is_blamed())
		core_check(&trace);
	do_resume();
	if (!is_blamed())
		settle_and_check(base);
	tear_down();
	verdict("nmi: %s: each change undone: %s", setting->name, base->name);
}

void test_nmi(unsigned long steps)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(settings); i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(bases); j++) {
			test_contrary(&settings[i], &bases[j]);
			test_each_place(&settings[i], &bases[j]);
		}
		test_random(&settings[i], steps / STEPS_PER_RUN);
	}
	for (unsigned int j = 0; j < 4; j++)
		test_kill(&settings[0], &bases[j]);
}
