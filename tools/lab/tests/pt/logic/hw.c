// SPDX-License-Identifier: GPL-2.0-only
/*
 * A model of Processor Trace: what its registers take, and where its output goes
 * (Intel SDM, "Trace Output", "Trace Enable and Configuration MSRs").
 *
 * Where the SDM has #GP or an operational error, the test is blamed: the driver
 * must not cause one.
 */
#include "hw.h"

#include <string.h>

#include <asm/intel_pt.h>
#include <asm/msr.h>
#include <linux/errno.h>

#include "check.h"
#include "machine.h"
#include "memory.h"
#include "nmi.h"
#include "sink.h"

/* The SDM's, not the driver's */
#define ENTRY_END	0x1UL
#define ENTRY_INT	0x4UL
#define ENTRY_STOP	0x10UL
#define ENTRY_RESERVED	0xfff0000000000c2aUL
#define ENTRY_ADDRESS	0x000ffffffffff000UL
#define LONGEST_ORDER	15

static struct hw cpus[SHIM_CPUS];

struct hw *hw_of(int cpu)
{
	return &cpus[cpu];
}

struct hw *hw_this(void)
{
	return hw_of(shim_cpu);
}

void hw_reset_cpu(int cpu)
{
	unsigned int early = cpus[cpu].early;

	memset(&cpus[cpu], 0, sizeof(cpus[cpu]));
	cpus[cpu].early = early;
}

void hw_reset(void)
{
	for (int cpu = 0; cpu < SHIM_CPUS; cpu++)
		hw_reset_cpu(cpu);
}

bool hw_enabled(void)
{
	return hw_this()->ctl & RTIT_CTL_TRACEEN;
}

bool hw_runs(void)
{
	return hw_enabled() &&
	       !(hw_this()->status & (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED));
}

static bool hw_can(enum pt_capabilities cap)
{
	return pt_caps_get(&machine_caps[shim_cpu], cap);
}

static u64 *hw_register(u32 msr)
{
	struct hw *hw = hw_this();

	switch (msr) {
	case MSR_IA32_RTIT_CTL:
		return &hw->ctl;
	case MSR_IA32_RTIT_STATUS:
		return &hw->status;
	case MSR_IA32_RTIT_OUTPUT_BASE:
		return &hw->base;
	case MSR_IA32_RTIT_OUTPUT_MASK:
		return &hw->ptrs;
	case MSR_IA32_RTIT_ADDR0_A ... MSR_IA32_RTIT_ADDR0_A + 7:
		if (msr - MSR_IA32_RTIT_ADDR0_A >=
		    2 * (hw_this(), machine_caps[shim_cpu].word[4] & 7))
			blame("#GP: there is no register %x", msr);
		return &hw->range[msr - MSR_IA32_RTIT_ADDR0_A];
	default:
		blame("#GP: unknown register %x", msr);
		return &hw->status;
	}
}

/* Output that hardware can do; nothing else may be started. */
static void hw_check_output(const struct hw *hw, u64 ctl)
{
	if (!(ctl & RTIT_CTL_TOPA)) {
		u32 mask = hw->ptrs;

		if (!hw_can(PT_CAP_single_range_output) || mask < 127 || mask & (mask + 1) ||
		    hw->base & mask || hw->ptrs >> 32 > mask)
			blame("an impossible single range: %lx, %lx", hw->base, hw->ptrs);
	} else if (!hw_can(PT_CAP_topa_output) || (hw->ptrs & 127) != 127 ||
		   hw->base & 4095) {
		blame("an impossible table: %lx, %lx", hw->base, hw->ptrs);
	}
}

/* Bits of CTL that the capabilities of this CPU do not have. */
static u64 hw_reserved_ctl(void)
{
	static const struct { enum pt_capabilities cap; u64 bits; } needs[] = {
		{ PT_CAP_cr3_filtering, 1UL << 7 },
		/* CYCEn, CycThresh, PSBFreq */
		{ PT_CAP_psb_cyc, 1UL << 1 | 0xfUL << 19 | 0xfUL << 24 },
		/* MTCEn, MTCFreq */
		{ PT_CAP_mtc, 1UL << 9 | 0xfUL << 14 },
		/* PTWEn, FUPonPTW */
		{ PT_CAP_ptwrite, 1UL << 12 | 1UL << 5 },
		{ PT_CAP_power_event_trace, 1UL << 4 },
		{ PT_CAP_event_trace, 1UL << 31 },
		{ PT_CAP_tnt_disable, 1UL << 55 },
		{ PT_CAP_topa_output, 1UL << 8 },
		{ PT_CAP_output_subsys, 1UL << 6 },
	};
	u64 reserved = ~0x0080ffff8f7bffffUL;

	for (unsigned int i = 0; i < ARRAY_SIZE(needs); i++)
		if (!hw_can(needs[i].cap))
			reserved |= needs[i].bits;
	/* ADDRn_CFG of ranges that there are not */
	return reserved | ((0xffff00000000UL << 4 * (machine_caps[shim_cpu].word[4] & 7)) &
			   0xffff00000000UL);
}

static void hw_write_ctl(struct hw *hw, u64 value)
{
	if (hw->vmx)
		blame("#GP: CTL is written in VMX operation");
	/* While it traces, all that can be changed is that it does. */
	if (hw->ctl & value & RTIT_CTL_TRACEEN && hw->ctl != value)
		blame("#GP: CTL changes from %lx to %lx", hw->ctl, value);
	if (value & hw_reserved_ctl())
		blame("#GP: CTL %lx, reserved are %lx", value, hw_reserved_ctl());
	if (value & RTIT_CTL_TRACEEN && !hw_enabled()) {
		hw_check_output(hw, value);
		sink_enabled();
	}
	hw->ctl = value;
}

u64 hw_read(u32 msr)
{
	struct hw *hw = hw_this();
	u64 value;

	if (msr == MSR_IA32_VMX_MISC)
		return machine_vmx_pt ? 1 << 14 : 0;
	if (msr == MSR_PLATFORM_INFO)
		return 0x2a00;

	nmi_point();
	hw->reads++;
	if (msr != MSR_IA32_RTIT_CTL && msr != MSR_IA32_RTIT_STATUS && hw_enabled())
		blame("register %x is read while it changes", msr);
	value = *hw_register(msr);
	nmi_point();
	return value;
}

int hw_read_safe(u32 msr, u64 *value)
{
	if (shim_cpu == machine_hiding_cpu)
		return -EIO;
	/* That of a trace that is on is a table of that trace, if not the current one. */
	hw_this()->reads++;
	*value = *hw_register(msr);
	return 0;
}

void hw_write(u32 msr, u64 value)
{
	struct hw *hw = hw_this();

	nmi_point();
	hw->writes++;
	if (msr == MSR_IA32_RTIT_CTL) {
		hw_write_ctl(hw, value);
	} else {
		if (hw_enabled())
			blame("#GP: register %x is written while TraceEn is set", msr);
		if (msr == MSR_IA32_RTIT_STATUS && value & RTIT_STATUS_BYTECNT &&
		    !hw_can(PT_CAP_psb_cyc))
			blame("#GP: STATUS %lx, which counts no packets", value);
		*hw_register(msr) = value;
	}
	nmi_point();
}

/* The entry where hardware is; links are followed. */
static u64 hw_entry(struct hw *hw)
{
	u64 index, entry, links = 0;

	for (;;) {
		index = (u32)hw->ptrs >> 7;
		if (!memory_has(hw->base + 8 * index, 8)) {
			blame("no table at %lx, entry %lu", hw->base, index);
			return 0;
		}
		memcpy(&entry, phys_to_virt(hw->base + 8 * index), 8);
		if (entry & ENTRY_RESERVED)
			blame("reserved bits in an entry: %lx", entry);
		if (!(entry & ENTRY_END))
			return entry;
		if (entry & (ENTRY_INT | ENTRY_STOP) || links++)
			blame("a bad link: %lx", entry);
		if (is_blamed())
			return 0;
		hw->base = entry & ENTRY_ADDRESS;
		hw->ptrs = hw->ptrs >> 32 << 32 | 127;
	}
}

static void hw_region_full(struct hw *hw, u64 entry)
{
	if (entry & ENTRY_INT)
		hw->pmi = true;
	if (entry & ENTRY_STOP) {
		hw->status |= RTIT_STATUS_STOPPED;
		return;
	}
	hw->ptrs = ((u32)hw->ptrs) + 128;
	hw_entry(hw);
}

/* Output to the region where hardware is, at most to its end. */
static u64 hw_output_topa(struct hw *hw, u64 bytes)
{
	bool one = !hw_can(PT_CAP_topa_multiple_entries);
	u64 entry = hw_entry(hw), offset = hw->ptrs >> 32, address, size;

	size = 4096UL << (entry >> 6 & LONGEST_ORDER);
	address = entry & ENTRY_ADDRESS;
	if (address & (size - 1) || offset >= size)
		blame("region %lx, offset %lx", entry, offset);
	if (one && ((u32)hw->ptrs >> 7 || !(*(u64 *)phys_to_virt(hw->base + 8) & ENTRY_END)))
		blame("more than the one entry there can be");
	if (is_blamed())
		return bytes;

	if (bytes > size - offset)
		bytes = size - offset;
	sink_output(address + offset, bytes);
	offset += bytes;
	hw->ptrs = offset << 32 | (u32)hw->ptrs;
	if (one && entry & ENTRY_INT && size - offset <= hw->early)
		hw->pmi = true;
	if (offset == size)
		hw_region_full(hw, entry);
	return bytes;
}

static u64 hw_output_range(struct hw *hw, u64 bytes)
{
	u64 mask = (u32)hw->ptrs, offset = hw->ptrs >> 32;

	if (bytes > mask + 1 - offset)
		bytes = mask + 1 - offset;
	sink_output(hw->base + offset, bytes);
	hw->ptrs = ((offset + bytes) & mask) << 32 | mask;
	return bytes;
}

static u64 hw_output_some(u64 bytes)
{
	struct hw *hw = hw_this();

	/* PacketByteCnt, where it can be seen: the next PSB is a while away. */
	if (hw_can(PT_CAP_psb_cyc))
		hw->status |= 1UL << 32;
	return hw->ctl & RTIT_CTL_TOPA ? hw_output_topa(hw, bytes) :
					 hw_output_range(hw, bytes);
}

u64 hw_output(u64 bytes)
{
	u64 done = 0;

	while (done < bytes && hw_runs() && !is_blamed())
		done += hw_output_some(bytes - done);
	return done;
}

u64 hw_output_until_pmi(u64 most)
{
	struct hw *hw = hw_this();
	u64 done = 0, some;

	while (done < most && hw_runs() && !hw->pmi && !is_blamed()) {
		/* By small pieces, so that nothing is written beyond. */
		some = most - done < 256 ? most - done : 256;
		done += hw_output_some(some);
	}
	return done;
}
