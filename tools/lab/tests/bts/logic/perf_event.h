/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for arch/x86/events/perf_event.h. */
#ifndef SHIM_X86_PERF_EVENT_H
#define SHIM_X86_PERF_EVENT_H

#include <stdbool.h>

#include <linux/percpu.h>

#include <asm/intel_ds.h>

enum x86_lbr_exclusive { x86_lbr_exclusive_bts };

#define ARCH_PERFMON_EVENTSEL_USR	(1ULL << 16)
#define ARCH_PERFMON_EVENTSEL_OS	(1ULL << 17)
#define ARCH_PERFMON_EVENTSEL_INT	(1ULL << 20)
#define INTEL_PMC_IDX_FIXED_BTS		1
#define X86_FEATURE_DTES64		1
#define X86_FEATURE_DSCPL		2
#define X86_FEATURE_PTI			3
#define test_bit(bit, word)		(*(word) >> (bit) & 1)
#define boot_cpu_has(feature)		hw_has(feature)
#define cpu_online(cpu)			(!hw_offline)

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

bool hw_has(unsigned int feature);
/* The CPUs are offline */
extern bool hw_offline;
void intel_pmu_enable_bts(u64 config);
void intel_pmu_disable_bts(void);
int x86_add_exclusive(unsigned int user);
void x86_del_exclusive(unsigned int user);
int x86_reserve_hardware(void);
void x86_release_hardware(void);
int perf_allow_kernel(void);

void intel_bts_disable_local(void);
void intel_bts_enable_local(void);
int intel_bts_interrupt(void);
void cpu_emergency_stop_bts(void);

#endif
