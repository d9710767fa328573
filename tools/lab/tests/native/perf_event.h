/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for arch/x86/events/perf_event.h. */
#ifndef SHIM_X86_PERF_EVENT_H
#define SHIM_X86_PERF_EVENT_H

#include <linux/bitops.h>
#include <linux/cpu.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include <asm/cpufeature.h>
#include <asm/intel_ds.h>

enum x86_lbr_exclusive { x86_lbr_exclusive_bts, x86_lbr_exclusive_pt };

#define ARCH_PERFMON_EVENTSEL_USR	(1ULL << 16)
#define ARCH_PERFMON_EVENTSEL_OS	(1ULL << 17)
#define ARCH_PERFMON_EVENTSEL_INT	(1ULL << 20)
#define INTEL_PMC_IDX_FIXED_BTS		1

struct cpu_hw_events {
	struct debug_store *ds;
	unsigned long active_mask[1];
};

struct x86_pmu {
	bool bts, bts_active;
	int version;
};

extern struct x86_pmu x86_pmu;
DECLARE_PER_CPU(struct cpu_hw_events, cpu_hw_events);

void intel_pmu_enable_bts(u64 config);
void intel_pmu_disable_bts(void);
/* Who uses what nobody else may use meanwhile. */
int x86_add_exclusive(unsigned int user);
void x86_del_exclusive(unsigned int user);
int x86_reserve_hardware(void);
void x86_release_hardware(void);
int perf_allow_kernel(void);

void intel_pt_interrupt(void);

void intel_bts_disable_local(void);
void intel_bts_enable_local(void);
int intel_bts_interrupt(void);
void cpu_emergency_stop_bts(void);

#endif
