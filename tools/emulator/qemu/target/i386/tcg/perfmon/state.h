/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of the trace and performance monitoring models inside CPUX86State
 * and X86CPU.  Included by cpu.h; must not depend on it.
 *
 * The MSRs themselves are members that CPUX86State had before
 * (msr_rtit_*, msr_gp_*, msr_fixed_*, msr_global_*).  What is here is
 * internal to the processor: only the vCPU's own thread touches it.
 */
#ifndef TARGET_I386_TCG_PERFMON_STATE_H
#define TARGET_I386_TCG_PERFMON_STATE_H

#include "pmu_state.h"
#include "pt_rude.h"

/* Return addresses remembered for RET compression (SDM 33.4.2.2). */
#define PT_RETSTACK_DEPTH   64
/* RTIT_ADDRn_A and _B */
#define PT_ADDRS            8
/* Bytes of packets collected before they are written to guest memory. */
#define PT_STAGE_SIZE       256
/* TIPs that wait for the TNT before them, and entries of ToPA read ahead. */
#define PT_DEFERRED_MAX     8
#define PT_TOPA_CACHE       16

/**
 * struct PTOutput - where packets go
 * @stage: bytes not yet in guest memory
 * @staged: how many
 * @base: physical address of the current output region
 * @size: its size in bytes, 0 when there is none
 * @offset: of the next byte to write
 * @entry: ToPA entry of the region (flags)
 * @pmi_early: single-entry ToPA raised its PMI for this pass already
 * @cache: entries that were read when TraceEn was set
 * @cache_addr: physical address of the first of them
 * @cached: how many, 0 on a processor that reads entries when it needs them
 */
typedef struct PTOutput {
    uint8_t stage[PT_STAGE_SIZE];
    uint32_t staged;
    uint64_t base;
    uint64_t size;
    uint64_t offset;
    uint64_t entry;
    bool pmi_early;
    uint64_t cache[PT_TOPA_CACHE];
    uint64_t cache_addr;
    uint32_t cached;
} PTOutput;

/**
 * struct PTState - Intel PT's packet generator
 * @packet_en: PacketEn: control flow packets are generated
 * @tnt_en: conditional branches are recorded: PacketEn without DisTNT
 * @trigger_en: TriggerEn: TraceEn, and neither Error nor Stopped
 * @context_en: ContextEn: CPL and CR3 are those that are traced
 * @filter_en: FilterEn: the last branch landed in a traced IP range
 * @attention: something is due before the next branch is recorded: a PSB, or
 *             the beginning or end of an overflow; tested by the fast path
 * @psb_due: PSB+ is due
 * @tnt: TNT bits collected, the oldest in the highest place
 * @tnt_count: how many
 * @tnt_limit: how many make a packet
 * @deferred: targets of TIPs that come behind the TNT of @tnt
 * @deferred_count: how many
 * @last_ip: LastIP of IP compression
 * @last_ip_valid: false: the next IP is sent in full
 * @mode: last MODE.Exec sent, PT_MODE_UNKNOWN if none
 * @cr3: CR3 that the last PIP told or would have told
 * @ret: ring of return addresses
 * @ret_top: index of the next free place of @ret
 * @ret_count: how many of @ret are valid
 * @psb_bytes: PacketByteCnt
 * @last_tsc: time of the last packet with a time, so that time never runs
 *            back, TSC ticks
 * @cyc_base: time of the last CYC, TSC ticks
 * @mtc_last: last MTC sent, in MTC periods since CTC 0
 * @tnt_tsc: with CYC, time of the first bit in @tnt, TSC ticks
 * @asleep: the vCPU sleeps in a C-state, and was traced when it fell asleep
 * @power: it sleeps, and PWRX is to tell when it wakes
 * @cstate: C-state that it sleeps in, as an MWAIT hint has it: 0 is C1
 * @sleep_tsc: when it fell asleep, TSC ticks
 * @smi_trace_en: TraceEn as RSM will restore it
 * @wait_sipi: INIT has put the processor into wait-for-SIPI while it traced
 * @pmi_due: when a delayed ToPA PMI comes, virtual clock, 0 if none is on
 *           its way
 * @ovf_bytes: bytes since the last forced overflow
 * @ovf_lost: branches and events lost in the overflow in progress, 0 if none
 * @ovf_count: forced overflows so far
 * @packets: TNT and TIP packets sent, for fault injection
 * @random: state of the generator of pt_rude.c
 * @ratio: core clock to bus, as CBR tells it
 * @out: output
 */
typedef struct PTState {
    bool packet_en;
    bool tnt_en;
    bool trigger_en;
    bool context_en;
    bool filter_en;
    bool attention;
    bool psb_due;
    bool last_ip_valid;
    uint8_t mode;
    uint64_t tnt;
    uint32_t tnt_count;
    uint32_t tnt_limit;
    uint64_t deferred[PT_DEFERRED_MAX];
    uint32_t deferred_count;
    uint64_t last_ip;
    uint64_t cr3;
    uint64_t ret[PT_RETSTACK_DEPTH];
    uint32_t ret_top;
    uint32_t ret_count;
    uint64_t psb_bytes;
    uint64_t last_tsc;
    uint64_t cyc_base;
    uint64_t mtc_last;
    uint64_t tnt_tsc;
    bool asleep;
    bool power;
    uint8_t cstate;
    uint64_t sleep_tsc;
    bool smi_trace_en;
    bool wait_sipi;
    uint64_t pmi_due;
    uint64_t ovf_bytes;
    uint32_t ovf_lost;
    uint32_t ovf_count;
    uint64_t packets;
    uint64_t random;
    uint8_t ratio;
    PTOutput out;
} PTState;

/**
 * struct PTRegisters - the RTIT MSRs, as a warm reset keeps them
 * @psb_bytes: STATUS.PacketByteCnt
 */
typedef struct PTRegisters {
    uint64_t ctl;
    uint64_t status;
    uint64_t output_base;
    uint64_t output_mask;
    uint64_t cr3_match;
    uint64_t addrs[PT_ADDRS];
    uint64_t psb_bytes;
} PTRegisters;

/**
 * struct PTConfig - what a CPU's Intel PT can do, and its injected faults
 *
 * The first group are capabilities of CPUID leaf 14H.
 *
 * @ovf_every: force an overflow each so many bytes of packets, 0: never
 * @corrupt_at: falsify the so many-th TNT or TIP packet, 0: none
 * @corrupt_every: falsify each so many-th of them, 0: none
 * @pmi_delay: nanoseconds by which the ToPA PMI is late
 * @hybrid: CPUs with an odd APIC ID can do less, see pt_be_small_core()
 * @dirty: the MSRs have values at power-on
 * @left_on: ToPA table of a trace that the firmware has left on, 0: none
 * @hidden: each access to the MSRs faults, as under some hypervisors
 * @ret_no_ip: a compressible RET that leaves the IP ranges has TIP.PGD
 *             without IP
 * @rude: manners that the SDM permits, bits of enum pt_rude
 * @errata: of named processors, bits of enum pt_erratum
 * @seed: for what @rude leaves to chance
 * @kept: the MSRs, while a reset goes on
 * @pmi_timer: for @pmi_delay
 * @tick_timer: asks for the timing packets that are due
 */
typedef struct PTConfig {
    bool cr3filter;
    bool psbcyc;
    bool ipfilter;
    uint32_t ranges;
    bool mtc;
    bool ptwrite;
    bool powerev;
    bool psbpmi;
    bool event;
    bool notnt;
    bool topa;
    bool multi;
    bool single;
    bool lip;
    uint64_t ovf_every;
    uint64_t corrupt_at;
    uint64_t corrupt_every;
    uint64_t pmi_delay;
    bool hybrid;
    bool dirty;
    uint64_t left_on;
    bool hidden;
    bool ret_no_ip;
    uint64_t rude;
    uint64_t errata;
    uint64_t seed;
    PTRegisters kept;
    struct QEMUTimer *pmi_timer;
    struct QEMUTimer *tick_timer;
} PTConfig;

#endif
