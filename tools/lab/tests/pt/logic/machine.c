// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine around the driver: CPUID, features, hotplug, sleep. Its registers
 * for Processor Trace are in hw.c.
 */
#include "machine.h"

#include <string.h>

#include <linux/bug.h>
#include <linux/cpu.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kexec.h>
#include <linux/syscore_ops.h>
#include <linux/workqueue.h>

#include <asm/cpu_device_id.h>
#include <asm/cpufeature.h>
#include <asm/intel-family.h>

#include "perf_event.h"
#include "check.h"
#include "core.h"
#include "hw.h"
#include "memory.h"
#include "nmi.h"
#include "pt.h"

int shim_cpu;
/* Soon it begins again, as in the kernel. */
unsigned long jiffies = -300000UL;
struct pt_caps machine_caps[SHIM_CPUS];
bool machine_vmx_pt, machine_broadwell;
unsigned int machine_warnings, machine_irq_work_raised, machine_bugs;
int machine_tracing_cpu = -1, machine_hiding_cpu = -1;
u64 machine_tracing_ctl = RTIT_CTL_TRACEEN, machine_tracing_base;
struct cpuinfo_x86 boot_cpu_data = { .x86_virt_bits = 48, .cpuid_level = 0x16 };
/* sysfs.c is not tested here. */
const struct attribute_group *pt_attr_groups[1];

void pt_sysfs_init(void)
{
}

static int (*startup[SHIM_CPUHP_STATES])(unsigned int cpu);
static bool warned_once;
static struct syscore *sleeper;
static struct delayed_work *delayed;

struct pt_caps caps_all(void)
{
	/* psb_periods 0x3f, cycle_thresholds 0x3ff, mtc_periods 0x249, 4 ranges */
	return (struct pt_caps) { .word = {
		1, 0x1bf, 0xf, 0, 0x02490004, 0x003f03ff, 0, 0,
	} };
}

/* The SDM's places again, not those of caps.c. */
void caps_clear(struct pt_caps *caps, enum pt_capabilities cap)
{
	static const struct { u8 word; u32 bits; } places[PT_NR_CAPS] = {
		[PT_CAP_max_subleaf] = { 0, 0xffffffff },
		[PT_CAP_cr3_filtering] = { 1, 0x1 },
		[PT_CAP_psb_cyc] = { 1, 0x2 },
		[PT_CAP_ip_filtering] = { 1, 0x4 },
		[PT_CAP_mtc] = { 1, 0x8 },
		[PT_CAP_ptwrite] = { 1, 0x10 },
		[PT_CAP_power_event_trace] = { 1, 0x20 },
		[PT_CAP_event_trace] = { 1, 0x80 },
		[PT_CAP_tnt_disable] = { 1, 0x100 },
		[PT_CAP_topa_output] = { 2, 0x1 },
		[PT_CAP_topa_multiple_entries] = { 2, 0x2 },
		[PT_CAP_single_range_output] = { 2, 0x4 },
		[PT_CAP_output_subsys] = { 2, 0x8 },
		[PT_CAP_payloads_lip] = { 2, 0x80000000 },
		[PT_CAP_num_address_ranges] = { 4, 0x7 },
		[PT_CAP_mtc_periods] = { 4, 0xffff0000 },
		[PT_CAP_cycle_thresholds] = { 5, 0xffff },
		[PT_CAP_psb_periods] = { 5, 0xffff0000 },
	};

	caps->word[places[cap].word] &= ~places[cap].bits;
}

int machine_boot_as_is(u64 memory)
{
	memory_reset(memory);
	hw_reset();
	core_forget();
	memset(&pt_pmu, 0, sizeof(pt_pmu));
	memset(pt_cpu, 0, sizeof(pt_cpu));
	memset(startup, 0, sizeof(startup));
	warned_once = false;
	for (int cpu = 0; cpu < SHIM_CPUS; cpu++) {
		if (machine_tracing_cpu != cpu && machine_tracing_cpu != SHIM_CPUS)
			continue;
		hw_of(cpu)->ctl = machine_tracing_ctl;
		hw_of(cpu)->base = machine_tracing_base;
	}
	shim_cpu = 0;
	return shim_initcall();
}

int machine_boot(const struct pt_caps *caps, u64 memory)
{
	machine_caps[0] = *caps;
	machine_caps[1] = *caps;
	machine_vmx_pt = false;
	machine_broadwell = false;
	return machine_boot_as_is(memory);
}

void machine_cpu_up(int cpu, enum cpuhp_state before)
{
	int here = shim_cpu;
	enum cpuhp_state state;

	for (state = 0; state < before; state++) {
		shim_cpu = state == CPUHP_BP_PREPARE_DYN ? !cpu : cpu;
		if (startup[state])
			EXPECT(!startup[state](cpu));
	}
	shim_cpu = here;
}

void machine_sleep(void)
{
	EXPECT(!sleeper->ops->suspend(NULL));
	hw_reset_cpu(shim_cpu);
}

void machine_wake(void)
{
	sleeper->ops->resume(NULL);
}

void arch_irq_work_raise(void)
{
	machine_irq_work_raised++;
}

bool kexec_in_progress;

void machine_shutdown(bool kexec)
{
	kexec_in_progress = kexec;
	sleeper->ops->shutdown(NULL);
	kexec_in_progress = false;
}

void register_syscore(struct syscore *syscore)
{
	sleeper = syscore;
}

void unregister_syscore(struct syscore *syscore)
{
	EXPECT(sleeper == syscore);
	sleeper = NULL;
}

bool machine_has_callbacks(void)
{
	return sleeper || startup[CPUHP_BP_PREPARE_DYN] || startup[CPUHP_AP_ONLINE_DYN];
}

bool schedule_delayed_work(struct delayed_work *work, unsigned long delay)
{
	EXPECT(delay == HZ);
	delayed = work;
	return true;
}

bool machine_later(void)
{
	struct delayed_work *work = delayed;

	delayed = NULL;
	if (work)
		work->work.function(&work->work);
	return work;
}

int cpuhp_setup_state(enum cpuhp_state state, const char *name,
		      int (*callback)(unsigned int cpu),
		      int (*teardown)(unsigned int cpu))
{
	int ret = 0, cpu;

	startup[state] = callback;
	for (cpu = 0; cpu < SHIM_CPUS && !ret; cpu++) {
		shim_cpu = cpu;
		ret = callback(cpu);
	}
	shim_cpu = 0;
	/* Of a state that was made for it, its number. */
	return ret ?: SHIM_CPUHP_STATES + state;
}

void cpuhp_remove_state(int state)
{
	EXPECT(startup[state - SHIM_CPUHP_STATES]);
	startup[state - SHIM_CPUHP_STATES] = NULL;
}

void on_each_cpu(void (*function)(void *info), void *info, int wait)
{
	EXPECT(wait);
	for (int cpu = 0; cpu < SHIM_CPUS; cpu++)
		smp_call_function_single(cpu, function, info, wait);
}

static bool in_interrupt;

int smp_call_function_single(int cpu, void (*function)(void *info), void *info, int wait)
{
	int here = shim_cpu;

	shim_cpu = cpu;
	in_interrupt = true;
	function(info);
	in_interrupt = false;
	shim_cpu = here;
	return 0;
}

/* All memory of the tests is; what is below is reserved. */
int page_is_ram(unsigned long pfn)
{
	EXPECT(!in_interrupt);
	return memory_has((u64)pfn << PAGE_SHIFT, PAGE_SIZE);
}

void cpuid_count(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	const u32 *word = &machine_caps[shim_cpu].word[4 * subleaf];

	EXPECT(leaf == 0x14 && subleaf < PT_CPUID_LEAVES);
	*eax = word[0];
	*ebx = word[1];
	*ecx = word[2];
	*edx = word[3];
}

void cpuid(u32 leaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	EXPECT(leaf == 0x15);
	*eax = 2;
	*ebx = 250;
	*ecx = *edx = 0;
}

bool boot_cpu_has(unsigned int feature)
{
	return true;
}

const struct x86_cpu_id *x86_match_cpu(const struct x86_cpu_id *table)
{
	u32 vfm = machine_broadwell ? INTEL_BROADWELL_X : INTEL_SKYLAKE;

	for (; table->vfm; table++)
		if (table->vfm == vfm)
			return table;
	return NULL;
}

void shim_warn(const char *format, ...)
{
	machine_warnings++;
}

void shim_warn_once(const char *format, ...)
{
	machine_warnings += !warned_once;
	warned_once = true;
}

void shim_warn_on(const char *condition)
{
	if (machine_bugs)
		machine_bugs--;
	else
		blame("WARN_ON_ONCE(%s)", condition);
}
