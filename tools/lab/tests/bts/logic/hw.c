// SPDX-License-Identifier: GPL-2.0-only
#include "hw.h"

#include <string.h>

#include <linux/compiler.h>

#include "perf_event.h"
#include "check.h"
#include "core.h"
#include "nmi.h"

/* Branches of the handler before it switches BTS off, and after it has switched it on. */
#define BEFORE	3
#define AFTER	31

/* The core PMU's own buffer, where nothing must go. */
static u64 own[64 * RECORD_WORDS];
static struct debug_store store;

int shim_cpu;
struct hw hw;
struct x86_pmu x86_pmu;
struct cpu_hw_events cpu_hw_events[SHIM_CPUS];

void hw_reset(void)
{
	memset(&hw, 0, sizeof(hw));
	store = (struct debug_store) {
		.bts_buffer_base	 = (u64)own,
		.bts_index		 = (u64)own,
		.bts_absolute_maximum	 = (u64)own + sizeof(own),
		.bts_interrupt_threshold = (u64)own + sizeof(own) - 4 * RECORD_WORDS * 8,
	};
	x86_pmu = (struct x86_pmu) { true, true, 4 };
	hw_lacks = 1 << X86_FEATURE_PTI;
	cpu_hw_events[0].ds = &store;
}

bool hw_is_restored(void)
{
	return store.bts_buffer_base == (u64)own && store.bts_index == (u64)own &&
	       store.bts_absolute_maximum == (u64)own + sizeof(own) &&
	       store.bts_interrupt_threshold < store.bts_absolute_maximum;
}

void intel_pmu_enable_bts(u64 config)
{
	nmi_point();
	/* The base adds bits; none may be left of a trace before. */
	EXPECT(!hw.on);
	hw.on = true;
	hw.btint = config & ARCH_PERFMON_EVENTSEL_INT;
	hw.os = config & ARCH_PERFMON_EVENTSEL_OS;
	hw.writes++;
	nmi_point();
}

void intel_pmu_disable_bts(void)
{
	nmi_point();
	hw.on = false;
	hw.btint = false;
	hw.os = false;
	hw.writes++;
	nmi_point();
}

static bool hw_has_room(u64 bytes)
{
	if (store.bts_index <= store.bts_absolute_maximum &&
	    store.bts_absolute_maximum - store.bts_index >= bytes)
		return true;
	if (hw.btint)
		return false;
	store.bts_index = store.bts_buffer_base;
	return store.bts_absolute_maximum - store.bts_buffer_base >= bytes;
}

static void hw_branch(void)
{
	u64 record[RECORD_WORDS] = { ++hw.number, ~hw.number, 0 }, before;

	if (!hw_has_room(sizeof(record))) {
		hw.lost++;
		return;
	}
	before = store.bts_index;
	if ((u64 *)before >= own && (u64 *)before < own + ARRAY_SIZE(own))
		EXPECT(store.bts_interrupt_threshold > store.bts_absolute_maximum);
	else if (core_takes((void *)before))
		memcpy((void *)before, record, sizeof(record));
	hw.stored++;
	store.bts_index += sizeof(record);
	if (before < store.bts_interrupt_threshold &&
	    store.bts_index >= store.bts_interrupt_threshold) {
		hw.raised++;
		hw.pmi |= !hw.masked;
	}
	if (!hw.btint && store.bts_index >= store.bts_absolute_maximum)
		store.bts_index = store.bts_buffer_base;
}

void hw_branches(unsigned int n, bool kernel)
{
	while (n-- && hw.on && (!kernel || hw.os) && !is_blamed())
		hw_branch();
}

static void hw_handler(void)
{
	bool mine = hw.pmi;
	int claimed;

	hw.pmi = false;
	hw.masked = true;
	hw_branches(BEFORE, true);
	intel_bts_disable_local();
	claimed = intel_bts_interrupt();
	hw.claimed = claimed;
	EXPECT(!mine || (claimed && !core_is_overwrite()));
	/* What is none of its business may be claimed where an interrupt was awaited. */
	EXPECT(mine || !claimed || hw.raised);
	intel_bts_enable_local();
	hw_branches(AFTER, true);
	hw.masked = false;
	hw_branches(BEFORE, true);
}

void hw_nmi(void)
{
	nmi_run(hw_handler);
}

void hw_deliver(void)
{
	while (hw.pmi && !in_nmi())
		hw_nmi();
}

void hw_block_step(void)
{
	struct hw was = hw;

	nmi_point();
	nmi_point();
	hw.on = was.on;
	hw.btint = was.btint;
	hw.os = was.os;
	nmi_point();
}

unsigned int hw_lacks;
bool hw_offline;

bool cpu_online(unsigned int cpu)
{
	return !hw_offline;
}

bool boot_cpu_has(unsigned int feature)
{
	return !(hw_lacks & 1 << feature);
}
