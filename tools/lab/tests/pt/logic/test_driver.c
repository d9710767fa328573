// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver as a whole: which machines it takes, CPUs that differ, that come and
 * go, sleep, VMX operation, errors of the hardware.
 */
#include <string.h>

#include <linux/kexec.h>

#include <asm/intel_pt.h>
#include <asm/msr.h>
#include <asm/processor.h>
#include <asm/perf_event.h>

#include "perf_event.h"
#include "check.h"
#include "core.h"
#include "hw.h"
#include "machine.h"
#include "pt.h"

#define MEMORY	(1UL << 40)

static struct trace trace, child;

static void open_trace(const struct pt_caps *caps, bool overwrite)
{
	static const u8 orders[4];

	EXPECT(!machine_boot(caps, MEMORY));
	EXPECT(!trace_init(&trace, CONFIG_PLAIN));
	EXPECT(trace_map(&trace, orders, 4, overwrite, 0));
}

static void begin(bool overwrite)
{
	struct pt_caps caps = caps_all();

	open_trace(&caps, overwrite);
	EXPECT(!trace_in(&trace));
}

static void end(void)
{
	trace_out(&trace);
	core_check(&trace);
	trace_unmap(&trace);
	trace_destroy(&trace);
}

static unsigned int capabilities(void)
{
	return pt_pmu.pmu.capabilities & (PERF_PMU_CAP_AUX_NO_SG | PERF_PMU_CAP_AUX_PREFER_LARGE);
}

static void test_machines(void)
{
	struct pt_caps caps = caps_all();

	EXPECT(!machine_boot(&caps, MEMORY));
	EXPECT(capabilities() == PERF_PMU_CAP_AUX_PREFER_LARGE);
	EXPECT(!(~pt_pmu.pmu.capabilities & (PERF_PMU_CAP_EXCLUSIVE | PERF_PMU_CAP_ITRACE |
					     PERF_PMU_CAP_AUX_PAUSE)));
	EXPECT(pt_pmu.max_nonturbo_ratio == 0x2a);
	EXPECT(pt_pmu.tsc_art_num == 250 && pt_pmu.tsc_art_den == 2);
	EXPECT(intel_pt_validate_hw_cap(PT_CAP_psb_periods) == 0x3f);
	EXPECT(intel_pt_validate_cap(caps.word, PT_CAP_mtc_periods) == 0x249);

	/* The last leaf that it has is that of the ratios; or it ends before. */
	boot_cpu_data.cpuid_level = 0x15;
	EXPECT(!machine_boot(&caps, MEMORY) && pt_pmu.tsc_art_num == 250);
	boot_cpu_data.cpuid_level = 0x14;
	EXPECT(!machine_boot(&caps, MEMORY) && !pt_pmu.tsc_art_num);
	boot_cpu_data.cpuid_level = 0x16;

	caps_clear(&caps, PT_CAP_topa_multiple_entries);
	EXPECT(!machine_boot(&caps, MEMORY) && capabilities() == PERF_PMU_CAP_AUX_NO_SG);
	caps = caps_all();
	caps_clear(&caps, PT_CAP_topa_output);
	machine_warnings = 0;
	EXPECT(machine_boot(&caps, MEMORY) == -ENODEV && machine_warnings == 1);
	verdict("driver: machines with tables, of one region too, and one without");
}

/*
 * A debugger traces to the trace hub, the firmware to memory that it has reserved: it is
 * left alone. What a kernel before this one traces, to memory, is stopped. There is one
 * line in the log.
 */
static void test_in_use(void)
{
	static const struct { u64 ctl, base; int ret; } cases[] = {
		{ RTIT_CTL_TRACEEN | RTIT_CTL_FABRIC_EN, MEMORY, -EBUSY },
		{ RTIT_CTL_TRACEEN | RTIT_CTL_TOPA, MEMORY - 4096, -EBUSY },
		{ RTIT_CTL_TRACEEN, 0x80000000, -EBUSY },
		{ RTIT_CTL_TRACEEN | RTIT_CTL_TOPA, MEMORY, 0 },
		{ RTIT_CTL_TRACEEN, MEMORY + 4096, 0 },
	};

	for (int i = 0; i < ARRAY_SIZE(cases) * (SHIM_CPUS + 1); i++) {
		const u64 ctl = cases[i / (SHIM_CPUS + 1)].ctl;
		const int ret = cases[i / (SHIM_CPUS + 1)].ret;
		int cpu = i % (SHIM_CPUS + 1);

		machine_caps[0] = machine_caps[1] = caps_all();
		machine_tracing_cpu = cpu;
		machine_tracing_ctl = ctl;
		machine_tracing_base = cases[i / (SHIM_CPUS + 1)].base;
		machine_warnings = 0;
		EXPECT(machine_boot_as_is(MEMORY) == ret && machine_warnings == 1);
		for (int traces = 0; traces < SHIM_CPUS; traces++)
			if (cpu == traces || cpu == SHIM_CPUS)
				EXPECT(hw_of(traces)->ctl == (ret ? ctl : ctl & ~RTIT_CTL_TRACEEN));
	}
	machine_tracing_cpu = -1;
	for (machine_hiding_cpu = 0; machine_hiding_cpu < SHIM_CPUS; machine_hiding_cpu++) {
		machine_warnings = 0;
		EXPECT(machine_boot_as_is(MEMORY) == -ENODEV && machine_warnings == 1);
	}
	machine_hiding_cpu = -1;
	verdict("driver: a trace is on, and whose it is, or a hypervisor has the registers");
}

static void test_unlike(void)
{
	struct pt_caps all = caps_all();

	machine_caps[0] = machine_caps[1] = all;
	caps_clear(&machine_caps[0], PT_CAP_mtc);
	caps_clear(&machine_caps[1], PT_CAP_psb_cyc);
	EXPECT(!machine_boot_as_is(MEMORY));
	EXPECT(!intel_pt_validate_hw_cap(PT_CAP_mtc) && !intel_pt_validate_hw_cap(PT_CAP_psb_cyc));
	EXPECT(intel_pt_validate_hw_cap(PT_CAP_ptwrite));
	EXPECT(trace_init(&trace, 0x200) == -EINVAL);
	EXPECT(!trace_init(&trace, CONFIG_PLAIN));
	trace_destroy(&trace);

	machine_caps[0] = machine_caps[1] = all;
	machine_caps[1].word[2] |= 1U << 31;
	machine_warnings = 0;
	EXPECT(machine_boot_as_is(MEMORY) == -ENODEV && machine_warnings);
	verdict("driver: CPUs that differ");
}

static void test_init(void)
{
	struct pt_caps caps = caps_all();

	EXPECT(!machine_boot(&caps, MEMORY));
	EXPECT(trace_init(&trace, 1UL << 2) == -EINVAL);
	EXPECT(trace_init(&trace, 1) == 0);
	trace.event.attr.type++;
	EXPECT(pt_pmu.pmu.event_init(&trace.event) == -ENOENT);
	trace_destroy(&trace);
	while (machine_later())
		;
	EXPECT(!trace_init(&trace, CONFIG_PLAIN));
	EXPECT(trace.event.hw.aux_config == 0x240c && is_intel_pt_event(&trace.event));
	/* As long as there is an event, and once more. */
	EXPECT(machine_later() && machine_later());
	trace_destroy(&trace);
	EXPECT(machine_later() && !machine_later());
	begin(false);
	EXPECT(hw_this()->ctl == (0x240c | 1 | 1 << 8));
	end();

	machine_caps[0] = machine_caps[1] = caps;
	machine_broadwell = true;
	EXPECT(!machine_boot_as_is(MEMORY));
	EXPECT(trace_init(&trace, 1) == -EINVAL && !trace_init(&trace, CONFIG_PLAIN));
	trace_destroy(&trace);
	machine_broadwell = false;
	verdict("driver: events that are taken");
}

/* Two events on a CPU: who came first, goes on. */
static void test_exclusive(void)
{
	struct trace other;

	begin(false);
	EXPECT(!trace_init(&other, CONFIG_PLAIN));
	EXPECT(pt_pmu.pmu.add(&other.event, PERF_EF_START) == -EBUSY);
	core_check(&trace);
	/* 6.1 may have it active, too: it has lost its area, then the first one was added. */
	other.event.hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	for (int i = 0; i < 2; i++) {
		pt_pmu.pmu.stop(&other.event, PERF_EF_UPDATE);
		pt_pmu.pmu.start(&other.event, 0);
		EXPECT(other.event.hw.state == (PERF_HES_STOPPED | PERF_HES_UPTODATE));
		EXPECT(hw_runs());
		core_check(&trace);
	}
	pt_pmu.pmu.del(&other.event, 0);
	EXPECT(hw_runs());
	trace_destroy(&other);
	end();

	begin(false);
	trace_out(&trace);
	trace.event.hw.aux_paused = 0;
	trace.event.hw.state = 0;
	EXPECT(!pt_pmu.pmu.add(&trace.event, 0));
	EXPECT(!hw_enabled() && trace.event.hw.state == (PERF_HES_STOPPED | PERF_HES_UPTODATE));
	end();
	verdict("driver: one event at a time");
}

/* Stopped and started where it is */
static void test_stop_start(bool overwrite)
{
	begin(overwrite);
	for (int i = 0; i < 2; i++) {
		hw_output(100);
		/* Its newest data can be had until it is told of them. */
		if (overwrite)
			EXPECT(trace_sample(&trace, 50) == 50);
		pt_pmu.pmu.stop(&trace.event, PERF_EF_UPDATE);
		EXPECT(trace.event.hw.state == (PERF_HES_STOPPED | PERF_HES_UPTODATE) &&
		       !hw_enabled());
		core_check(&trace);
		if (overwrite)
			EXPECT(!trace_sample(&trace, 50));
		pt_pmu.pmu.start(&trace.event, 0);
		EXPECT(!trace.event.hw.state && hw_runs());
		core_check(&trace);
	}
	end();
	EXPECT(!hw_enabled());
	verdict("driver: stopped and started%s", overwrite ? ", newest data win" : "");
}

/* Nothing is traced, which a record says at once; perf does not try again at each tick. */
static void expect_untraced(int cpu, bool new)
{
	unsigned int told = trace.rb.aux.transactions;
	int here = shim_cpu;

	shim_cpu = cpu;
	EXPECT(!trace_in(&trace) && !hw_enabled());
	EXPECT(trace.event.hw.state == (PERF_HES_STOPPED | PERF_HES_UPTODATE));
	EXPECT(!trace.event.pending_disable);
	trace_out(&trace);
	shim_cpu = here;
	/* The reader learns of a gap once, even if the task never runs elsewhere. */
	EXPECT(trace.rb.aux.transactions == told + new);
	EXPECT(trace.rb.aux.flags == PERF_AUX_FLAG_PARTIAL && !trace.rb.aux.size_told);
}

/* It comes by INIT, with TraceEn that nobody cleared, and an error of nobody's. */
static void test_comes_tracing(void)
{
	struct pt_caps caps = caps_all();

	open_trace(&caps, false);
	/* It has begun, so it does not clear the register once more. */
	EXPECT(!trace_in(&trace) && hw_output(100) == 100);
	trace_out(&trace);
	hw_of(1)->ctl = RTIT_CTL_TRACEEN | RTIT_CTL_TOPA;
	hw_of(1)->base = MEMORY;
	hw_of(1)->status = RTIT_STATUS_ERROR;
	machine_warnings = 0;
	machine_cpu_up(1, SHIM_CPUHP_STATES);
	EXPECT(!hw_of(1)->ctl || !(hw_of(1)->ctl & RTIT_CTL_TRACEEN));
	EXPECT(machine_warnings == 1);
	shim_cpu = 1;
	EXPECT(!trace_in(&trace) && hw_output(100) == 100);
	trace_out(&trace);
	EXPECT(!trace.rb.aux.flags);
	shim_cpu = 0;

	for (int i = 0; i < 2; i++) {
		hw_of(1)->ctl = RTIT_CTL_TRACEEN | (i ? RTIT_CTL_FABRIC_EN : RTIT_CTL_TOPA);
		hw_of(1)->base = i ? MEMORY : 4096;
		machine_warnings = 0;
		machine_cpu_up(1, SHIM_CPUHP_STATES);
		EXPECT(machine_warnings == 1 && hw_of(1)->ctl & RTIT_CTL_TRACEEN);
		EXPECT(per_cpu(pt_cpu, 1).unusable);
	}
	hw_of(1)->ctl = 0;
	EXPECT(!trace_in(&trace));
	end();
	verdict("driver: a CPU that comes tracing");
}

/* No CPU traces when the next kernel comes, and none begins; KVM leaves VMX operation. */
static void test_shutdown(void)
{
	begin(false);
	hw_output(30);
	/* A reset stops the hardware: no CPU is asked, as one might not answer. */
	machine_shutdown(false);
	EXPECT(hw_enabled());
	machine_shutdown(true);
	EXPECT(!hw_enabled() && trace.rb.aux.head == 30);
	intel_pt_handle_vmx(0);
	pt_pmu.pmu.start(&trace.event, 0);
	EXPECT(!hw_enabled());
	trace_out(&trace);
	expect_untraced(1, false);
	/* A CPU that comes now does not trace either. */
	kexec_in_progress = true;
	machine_cpu_up(1, SHIM_CPUHP_STATES);
	kexec_in_progress = false;
	expect_untraced(1, false);
	trace_unmap(&trace);
	trace_destroy(&trace);
	verdict("driver: another kernel is started");
}

static void test_no_pmu(void)
{
	struct pt_caps caps = caps_all();

	core_refuses_pmu = -ENOMEM;
	EXPECT(machine_boot(&caps, MEMORY) == -ENOMEM && !machine_has_callbacks());
	core_refuses_pmu = 0;
	EXPECT(!machine_boot(&caps, MEMORY) && machine_has_callbacks());
	verdict("driver: no PMU, nothing is left");
}

static void test_hotplug(void)
{
	struct pt_caps caps = caps_all();

	open_trace(&caps, false);
	shim_cpu = 1;
	EXPECT(!trace_in(&trace) && hw_output(100) == 100);
	trace_out(&trace);
	shim_cpu = 0;

	/* Its registers are lost; an event comes as early as it can. */
	hw_reset_cpu(1);
	machine_cpu_up(1, CPUHP_AP_ONLINE_DYN);
	expect_untraced(1, true);
	expect_untraced(1, false);
	machine_cpu_up(1, SHIM_CPUHP_STATES);
	shim_cpu = 1;
	EXPECT(!trace_in(&trace) && hw_output(100) == 100);
	trace_out(&trace);
	EXPECT(!trace.rb.aux.flags);
	shim_cpu = 0;

	/* It is known which CPU an event is for. But a task with such an event can fork. */
	per_cpu(pt_cpu, 0).unusable = true;
	trace.event.cpu = 0;
	EXPECT(pt_pmu.pmu.event_init(&trace.event) == -ENODEV);
	trace_prepare(&child, CONFIG_PLAIN);
	child.event.cpu = 0;
	child.event.parent = &trace.event;
	EXPECT(!trace_open(&child));
	if (child.event.destroy)
		trace_destroy(&child);
	per_cpu(pt_cpu, 0).unusable = false;

	/* Another one comes, which can do less. */
	caps_clear(&machine_caps[1], PT_CAP_mtc);
	machine_cpu_up(1, SHIM_CPUHP_STATES);
	trace.event.cpu = 1;
	EXPECT(pt_pmu.pmu.event_init(&trace.event) == -ENODEV);
	expect_untraced(1, true);
	EXPECT(!trace_in(&trace));
	end();
	EXPECT(!trace.rb.aux.flags);

	/* The newest data are still there after a gap. */
	begin(true);
	hw_output(100);
	trace_out(&trace);
	per_cpu(pt_cpu, 1).unusable = true;
	expect_untraced(1, true);
	EXPECT(!trace_in(&trace) && trace_sample(&trace, 50) == 50);
	end();
	verdict("driver: a CPU that goes, that comes, and another one");
}

static void test_sleep(void)
{
	begin(false);
	hw_output(700);
	machine_sleep();
	EXPECT(trace.rb.aux.head == 700);
	machine_irq_work_raised = 0;
	machine_wake();
	/* What was asked for when interrupts were off already, is asked for again. */
	EXPECT(machine_irq_work_raised == 1);
	core_check(&trace);
	EXPECT(hw_output(50) == 50);
	end();
	EXPECT(trace.rb.aux.head == 750);

	begin(false);
	trace_out(&trace);
	machine_sleep();
	machine_wake();
	EXPECT(!hw_enabled());
	core_check(&trace);
	EXPECT(!trace_in(&trace) && hw_output(50) == 50);
	end();

	/* It is full, so the event is about to be disabled, and does not begin again. */
	begin(false);
	hw_output(1UL << 20);
	machine_sleep();
	EXPECT(trace.event.pending_disable);
	machine_wake();
	EXPECT(!hw_enabled() && trace.event.hw.state == (PERF_HES_STOPPED | PERF_HES_UPTODATE));
	hw_this()->pmi = false;
	trace_out(&trace);
	trace_unmap(&trace);
	trace_destroy(&trace);

	/* A hypervisor hides the registers from then on; or the firmware traces. */
	for (int firmware = 0; firmware < 2; firmware++) {
		begin(false);
		machine_sleep();
		if (firmware)
			hw_this()->ctl = RTIT_CTL_TRACEEN | RTIT_CTL_TOPA;
		else
			machine_hiding_cpu = 0;
		machine_warnings = 0;
		machine_wake();
		machine_hiding_cpu = -1;
		EXPECT(per_cpu(pt_cpu, 0).unusable && machine_warnings == 1);
		EXPECT(trace.rb.aux.flags == PERF_AUX_FLAG_PARTIAL);
		EXPECT(hw_enabled() == firmware);
		hw_this()->ctl = 0;
		end();
	}

	/* Stopped before, it stays so; and what was, does not come back the next time. */
	begin(true);
	machine_sleep();
	machine_wake();
	trace_out(&trace);
	machine_wake();
	EXPECT(!hw_enabled());
	EXPECT(!trace_in(&trace));
	pt_pmu.pmu.stop(&trace.event, PERF_EF_UPDATE);
	machine_sleep();
	machine_wake();
	EXPECT(!hw_enabled() && trace.event.hw.state & PERF_HES_STOPPED);
	end();
	verdict("driver: sleep");
}

static void test_vmx(void)
{
	begin(false);
	hw_output(10);
	intel_pt_handle_vmx(1);
	hw_this()->vmx = true;
	core_check(&trace);
	EXPECT(!hw_enabled());
	hw_this()->vmx = false;
	intel_pt_handle_vmx(0);
	core_check(&trace);
	EXPECT(hw_output(20) == 20);
	trace_out(&trace);
	EXPECT(trace.rb.aux.flags == PERF_AUX_FLAG_PARTIAL && trace.rb.aux.size_told == 30);

	intel_pt_handle_vmx(1);
	hw_this()->vmx = true;
	EXPECT(!trace_in(&trace) && !hw_enabled());
	trace_out(&trace);
	EXPECT(trace.rb.aux.flags == PERF_AUX_FLAG_PARTIAL);
	EXPECT(!trace_in(&trace) && !hw_enabled());
	/* The end of this kernel, in the middle of something */
	per_cpu(pt_cpu, 0).state = PT_BUSY;
	cpu_emergency_stop_pt();
	per_cpu(pt_cpu, 0).state = PT_PAUSED;
	hw_this()->vmx = false;
	intel_pt_handle_vmx(0);
	EXPECT(hw_enabled());
	trace_out(&trace);
	EXPECT(trace.rb.aux.flags == PERF_AUX_FLAG_PARTIAL);
	EXPECT(!trace_in(&trace));
	end();
	EXPECT(!trace.rb.aux.flags);

	machine_vmx_pt = true;
	EXPECT(!machine_boot_as_is(MEMORY) && pt_pmu.vmx);
	machine_vmx_pt = false;
	verdict("driver: VMX operation");
}

/* Hardware cannot go on: this is told, and it goes on. */
static void test_errors(bool overwrite, unsigned int written)
{
	const u64 count = 77UL << 32;

	begin(overwrite);
	hw_output(written);
	hw_this()->status = RTIT_STATUS_ERROR | count;
	machine_warnings = 0;
	trace_out(&trace);
	EXPECT(trace.rb.aux.flags == PERF_AUX_FLAG_PARTIAL && !hw_this()->status);
	EXPECT(machine_warnings == 1);

	/* At a filter: no hole, and so no PSB is needed. */
	EXPECT(!trace_in(&trace));
	trace.event.hw.aux_config |= 2UL << 44;
	hw_output(written);
	hw_this()->status = RTIT_STATUS_STOPPED | count;
	trace_out(&trace);
	EXPECT(!trace.rb.aux.flags && hw_this()->status == count);

	/* Nothing is wrong; bits that only tell of the moment need not be cleared. */
	EXPECT(!trace_in(&trace));
	hw_output(written);
	hw_this()->status = count | 7;
	trace_out(&trace);
	EXPECT(!trace.rb.aux.flags && hw_this()->status == (count | 7));
	EXPECT(!trace_in(&trace));

	/* Stopped, where nothing is to stop it. */
	hw_output(written);
	hw_this()->status = RTIT_STATUS_STOPPED | count;
	machine_bugs = !overwrite;
	trace_out(&trace);
	EXPECT(trace.rb.aux.flags == PERF_AUX_FLAG_PARTIAL && !hw_this()->status && !machine_bugs);
	EXPECT(!trace_in(&trace));
	end();
	verdict("driver: errors and stops of hardware that has written %u bytes%s", written,
		overwrite ? ", newest data win" : "");
}

/* On a CPU where nothing has been traced before */
static void test_errors_elsewhere(void)
{
	begin(false);
	hw_output(100);
	trace_out(&trace);
	shim_cpu = 1;
	EXPECT(!trace_in(&trace) && hw_output(100));
	hw_this()->status |= RTIT_STATUS_ERROR;
	trace_out(&trace);
	EXPECT(trace.rb.aux.flags == PERF_AUX_FLAG_PARTIAL && !hw_this()->status);
	shim_cpu = 0;
	EXPECT(!trace_in(&trace));
	end();
	verdict("driver: errors on another CPU");
}

/* Samples alone look as well; but a filter's stop is not for them to end. */
static void test_sampled_errors(void)
{
	const u64 count = 77UL << 32;

	begin(true);
	hw_output(100);
	hw_this()->status = RTIT_STATUS_ERROR | count;
	EXPECT(trace_sample(&trace, 50) == 50 && hw_runs() && !hw_this()->status);
	hw_output(100);
	hw_this()->status = RTIT_STATUS_STOPPED | count;
	EXPECT(trace_sample(&trace, 50) == 50 && hw_runs() && !hw_this()->status);
	hw_output(100);
	trace.event.hw.aux_config |= 2UL << 44;
	hw_this()->status = RTIT_STATUS_STOPPED | count;
	EXPECT(trace_sample(&trace, 50) == 50);
	EXPECT(hw_this()->status == (RTIT_STATUS_STOPPED | count));
	trace_out(&trace);
	EXPECT(trace.rb.aux.flags == PERF_AUX_FLAG_PARTIAL);
	EXPECT(!trace_in(&trace));
	end();
	verdict("driver: errors between samples");
}

/* No room, or none up to the end of a region: the event is disabled, until there is. */
static void test_no_room(void)
{
	struct perf_aux *aux = &trace.rb.aux;

	begin(false);
	EXPECT(hw_output(1UL << 20) == aux->size);
	/* A PMI ends the transaction while pt_pmu_stop() sets STOPPED, which undoes its UPTODATE. */
	core_deliver();
	EXPECT(trace.event.hw.state == (PERF_HES_STOPPED | PERF_HES_UPTODATE));
	trace.event.hw.state = 0;
	trace_out(&trace);
	EXPECT(trace.event.hw.state == (PERF_HES_STOPPED | PERF_HES_UPTODATE));
	EXPECT(trace.event.pending_disable);
	trace.event.pending_disable = 0;
	EXPECT(trace_in(&trace) == -EINVAL && trace.event.pending_disable);
	core_check(&trace);

	/* A part of the first region */
	aux->transactions = 0;
	trace_read(&trace, 1000);
	EXPECT(trace_in(&trace) == -EINVAL && trace.event.pending_disable);
	EXPECT(aux->transactions == 1 && aux->flags == PERF_AUX_FLAG_TRUNCATED &&
	       !aux->size_told);
	core_check(&trace);

	/* The rest of it */
	trace_read(&trace, 3096);
	EXPECT(!trace_in(&trace) && hw_output(1UL << 20) == 4096);
	end();

	/* One byte is left, with which nothing begins: what comes then has a hole before it. */
	begin(false);
	EXPECT(hw_output(aux->size - 1) == aux->size - 1);
	core_deliver();
	EXPECT(!aux->writer && !aux->flags && trace.event.pending_disable);
	trace_out(&trace);
	trace_read(&trace, 4096);
	EXPECT(!trace_in(&trace) && !hw_this()->status);
	end();
	verdict("driver: areas without room");
}

/* What is left of a region that is the only one, when it is less than an interrupt's. */
static void test_padding(void)
{
	static const struct { unsigned int written, told; } cases[] = {
		{ 3583, 3583 }, { 3584, 4096 }, { 3585, 4096 }, { 4095, 4096 },
	};
	struct pt_caps caps = caps_all();

	caps_clear(&caps, PT_CAP_topa_multiple_entries);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		open_trace(&caps, false);
		EXPECT(!trace_in(&trace) && hw_output(cases[i].written) == cases[i].written);
		trace_out(&trace);
		EXPECT(trace.rb.aux.size_told == cases[i].told && !trace.rb.aux.flags);

		/* Whatever region it is: where hardware stops, something is lost. */
		EXPECT(!trace_in(&trace));
		EXPECT(hw_output(1UL << 20) == 4096 - trace.rb.aux.head % 4096);
		end();
		EXPECT(trace.rb.aux.flags == PERF_AUX_FLAG_TRUNCATED);
	}
	verdict("driver: padding up to the end of a region");
}

/*
 * Padding fills the area of two tasks, hardware has not stopped, nothing was lost until
 * then. What comes when there is room again, has a hole before it all the same.
 */
static void test_padded_full(unsigned int read)
{
	struct pt_caps caps = caps_all();

	caps_clear(&caps, PT_CAP_topa_multiple_entries);
	open_trace(&caps, false);
	EXPECT(!trace_init(&child, CONFIG_PLAIN));
	child.event.rb = trace.event.rb;
	for (int i = 0; i < 4; i++) {
		struct trace *task = i % 2 ? &child : &trace;

		EXPECT(!trace_in(task) && hw_output(4000) == 4000);
		trace_out(task);
	}
	if (read)
		trace_read(&trace, read);
	EXPECT(trace_in(&trace) == -EINVAL && trace.event.pending_disable);
	/* It goes on in the task that did not come upon the end. */
	trace_read(&trace, 4096 - read);
	EXPECT(!trace_in(&child) && !hw_this()->status && hw_output(10) == 10);
	trace_out(&child);
	trace_destroy(&child);
	EXPECT(!trace_in(&trace));
	end();
	verdict("driver: an area that padding has filled, %u bytes of it read", read);
}

/* The PMI of a full area went to a guest: who looks each second finds it. */
static void test_lost_pmi(bool filter)
{
	u64 written = 0;

	begin(false);
	while (hw_runs()) {
		written += hw_output_until_pmi(trace.rb.aux.size);
		hw_this()->pmi = false;
	}
	EXPECT(!trace.rb.aux.transactions);
	/* Also where a filter may have stopped it. */
	if (filter)
		trace.event.hw.aux_config |= 2UL << 44;
	EXPECT(machine_later());
	EXPECT(trace.rb.aux.flags == PERF_AUX_FLAG_TRUNCATED && trace.event.pending_disable);
	EXPECT(trace.rb.aux.head == written && written == trace.rb.aux.size);
	/* It comes after all, or its reader is quick. */
	intel_pt_interrupt();
	EXPECT(trace.rb.aux.transactions == 1);
	trace_out(&trace);
	trace_read(&trace, 4096);
	EXPECT(!trace_in(&trace) && hw_output(10) == 10);

	/* One that has room goes on as it was. */
	EXPECT(machine_later());
	EXPECT(trace.rb.aux.transactions == 1 && hw_output(10) == 10);
	core_check(&trace);
	end();
	verdict("driver: a full area whose interrupt is lost%s", filter ? ", a filter that stops" : "");
}

/* Where newest data win, no interrupt is expected, and none costs anything. */
static void test_stale_pmi(void)
{
	unsigned int accesses;

	begin(true);
	hw_output(100);
	accesses = hw_this()->reads + hw_this()->writes;
	intel_pt_interrupt();
	EXPECT(hw_this()->reads + hw_this()->writes == accesses && !trace.rb.aux.transactions);
	end();
	verdict("driver: an interrupt that is none of this trace");
}

/* A trace begins with PSB once, on whatever CPU it goes on. */
static void test_first_start(void)
{
	static const u8 orders[4];
	struct pt_caps caps = caps_all();

	/* Another one has been there, and PSB is not due yet. */
	open_trace(&caps, false);
	EXPECT(!trace_init(&child, CONFIG_PLAIN) && trace_map(&child, orders, 4, false, 0));
	for (shim_cpu = SHIM_CPUS - 1; ; shim_cpu--) {
		EXPECT(!trace_in(&child) && hw_output(100) == 100);
		trace_out(&child);
		EXPECT(hw_this()->status);
		if (!shim_cpu)
			break;
	}
	EXPECT(!trace_in(&trace) && !hw_this()->status && trace.event.itrace_started == 1);
	hw_output(100);
	trace_out(&trace);
	EXPECT(!trace_in(&trace) && hw_this()->status);
	trace_out(&trace);
	/* Another event of the same area */
	trace.event.hw.aux_config &= ~(u64)RTIT_CTL_TRACEEN;
	EXPECT(!trace_in(&trace) && !hw_this()->status);
	end();

	/* It is held, so nothing was written: the PSB is due on another CPU, too. */
	EXPECT(!trace_init(&trace, CONFIG_PLAIN) && trace_map(&trace, orders, 4, false, 0));
	trace.event.hw.aux_paused = 1;
	EXPECT(!trace_in(&trace));
	trace_out(&trace);
	shim_cpu = 1;
	trace.event.hw.aux_paused = 0;
	EXPECT(hw_this()->status && !trace_in(&trace) && !hw_this()->status);
	end();
	shim_cpu = 0;
	trace_unmap(&child);
	trace_destroy(&child);
	verdict("driver: the first start of a trace");
}

/* A paused trace, or one that VMX operation has stopped, has data as well. */
static void test_kill_stopped(void)
{
	for (int vmx = 0; vmx < 2; vmx++) {
		begin(false);
		hw_output(30);
		if (vmx)
			intel_pt_handle_vmx(1);
		else
			perf_aux_pause(&trace.event, true);
		hw_this()->vmx = vmx;
		cpu_emergency_stop_pt();
		EXPECT(!hw_enabled() && trace.rb.aux.head == 30);
		core_forget();
		trace_unmap(&trace);
		trace_destroy(&trace);
	}
	verdict("driver: the end of this kernel, while a trace is stopped");
}

/* Registers are not touched where nothing is traced, or where they may be missing. */
static void test_kill_idle(void)
{
	unsigned int writes;

	begin(false);
	trace_out(&trace);
	writes = hw_this()->writes;
	cpu_emergency_stop_pt();
	per_cpu(pt_cpu, 0).unusable = true;
	per_cpu(pt_cpu, 0).state = PT_BUSY;
	cpu_emergency_stop_pt();
	EXPECT(hw_this()->writes == writes);
	per_cpu(pt_cpu, 0).unusable = false;
	per_cpu(pt_cpu, 0).state = PT_IDLE;
	EXPECT(!trace_in(&trace));
	end();
	verdict("driver: the end of this kernel, where nothing is traced");
}

/* The newest data; the place after them is what a dump needs. */
static void test_kill_overwrite(void)
{
	begin(true);
	hw_output(5000);
	cpu_emergency_stop_pt();
	EXPECT(!hw_enabled() && trace.rb.aux.head == 5000 && !trace.rb.aux.transactions);
	core_forget();
	trace_unmap(&trace);
	trace_destroy(&trace);

	begin(true);
	hw_output(trace.rb.aux.size);
	cpu_emergency_stop_pt();
	EXPECT(!trace.rb.aux.head);
	core_forget();
	trace_unmap(&trace);
	trace_destroy(&trace);
	verdict("driver: the end of this kernel, newest data win");
}

/* The kernel is left: nothing is written from then on, what was is told. */
static void test_kill(void)
{
	begin(false);
	hw_output(30);
	cpu_emergency_stop_pt();
	EXPECT(!hw_enabled() && trace.rb.aux.head == 30 && !trace.rb.aux.transactions);
	cpu_emergency_stop_pt();
	EXPECT(!hw_enabled() && trace.rb.aux.head == 30);
	/* The CPU that crashed takes NMIs for a while. */
	intel_pt_interrupt();
	perf_aux_pause(&trace.event, true);
	perf_aux_pause(&trace.event, false);
	EXPECT(!hw_enabled() && !trace.rb.aux.transactions);
	core_forget();
	trace_unmap(&trace);
	trace_destroy(&trace);
	verdict("driver: the end of this kernel");
}

void test_driver(void)
{
	test_machines();
	test_in_use();
	test_no_pmu();
	test_unlike();
	test_init();
	test_exclusive();
	test_stop_start(false);
	test_stop_start(true);
	test_hotplug();
	test_comes_tracing();
	test_shutdown();
	test_sleep();
	test_vmx();
	test_errors(false, 0);
	test_errors(true, 0);
	test_errors(false, 100);
	test_errors(true, 100);
	test_errors_elsewhere();
	test_sampled_errors();
	test_no_room();
	test_padding();
	test_padded_full(0);
	test_padded_full(1000);
	test_lost_pmi(false);
	test_lost_pmi(true);
	test_stale_pmi();
	test_first_start();
	test_kill();
	test_kill_stopped();
	test_kill_idle();
	test_kill_overwrite();
}
