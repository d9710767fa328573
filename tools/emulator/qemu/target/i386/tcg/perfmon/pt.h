/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT model: what its files call of each other.
 *
 *   pt_cpuid.c    capabilities
 *   pt_msr.c      RTIT MSRs and their #GP rules
 *   pt_trace.c    branches, far transfers, begin and end of tracing
 *   pt_reset.c    power-on and reset
 *   pt_rude.c     what the SDM permits and a polite processor does not do
 *   pt_filter.c   enables: CPL, CR3, IP ranges
 *   pt_event.c    PTWRITE, power events, event trace, SMM
 *   pt_block.c    records of PEBS
 *   pt_stream.c   the stream of packets: LastIP, TNT bits, PSB+, overflow
 *   pt_time.c     packets of time
 *   pt_packet.c   encoding of packets
 *   pt_output.c   ToPA and single-range output
 *
 * Everything here runs in the thread of the vCPU.
 */
#ifndef TARGET_I386_TCG_PERFMON_PT_H
#define TARGET_I386_TCG_PERFMON_PT_H

#include "cpu.h"
#include "perfmon.h"
#include "pt_packet.h"
#include "pt_regs.h"

/* No MODE.Exec was sent since PSB, or PT was just enabled. */
#define PT_MODE_UNKNOWN     0xff

static inline PTConfig *pt_config(CPUX86State *env)
{
    return &env_archcpu(env)->pt;
}

bool pt_present(CPUX86State *env);

/* pt_cpuid.c */
void pt_cpuid(CPUX86State *env, uint32_t subleaf, uint32_t *eax,
              uint32_t *ebx, uint32_t *ecx, uint32_t *edx);
bool pt_config_check(X86CPU *cpu, Error **errp);
/* Are the frequency encodings of @ctl among those that CPUID names? */
bool pt_encodings_valid(CPUX86State *env, uint64_t ctl);
unsigned pt_ranges(CPUX86State *env);

/* pt_msr.c */
enum perfmon_access pt_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val);
enum perfmon_access pt_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val,
                             target_ulong next_ip);

/* pt_rude.c */

/* A number below @range. */
uint32_t pt_rude_random(CPUX86State *env, uint32_t range);
/* PAD and MNT, before any packet. */
void pt_rude_between(CPUX86State *env);
/* The ratio of the core clock to the bus from now on. */
uint8_t pt_rude_ratio(CPUX86State *env);

/* True about once in @one_in times on a processor with @manner. */
static inline bool pt_rude(CPUX86State *env, enum pt_rude manner,
                           uint32_t one_in)
{
    return unlikely(pt_config(env)->rude & BIT_ULL(manner)) &&
           !pt_rude_random(env, one_in);
}

static inline bool pt_erratum(CPUX86State *env, enum pt_erratum erratum)
{
    return unlikely(pt_config(env)->errata & BIT_ULL(erratum));
}

/* pt_output.c */

/*
 * Start output where the MSRs say.  False: an operational error, which is
 * in STATUS.Error.
 */
bool pt_output_open(CPUX86State *env);
/* Hand over a packet; it is dropped when output has ended. */
void pt_output(CPUX86State *env, const uint8_t *packet, size_t len);
/* Write what is staged; afterwards the MSRs tell the exact position. */
void pt_output_flush(CPUX86State *env);
/* Is the region of a restored machine one that its entry or MSRs select? */
bool pt_output_valid(CPUX86State *env);
/* Sets the timer of a delayed PMI that is on its way, if one is. */
void pt_pmi_arm(CPUX86State *env);

/* pt_filter.c */

/* ContextEn as CPL and CR3 are now. */
bool pt_context(CPUX86State *env);
/* FilterEn after a branch or event that arrived at @ip. */
bool pt_filter(CPUX86State *env, uint64_t ip);
bool pt_in_stop(CPUX86State *env, uint64_t ip);
/* Are IP ranges configured at all? */
bool pt_has_ranges(CPUX86State *env);
void pt_set_enables(CPUX86State *env, bool context, bool filter);
/* Error or Stopped was set: TriggerEn falls without a packet. */
void pt_trigger_off(CPUX86State *env);
/* HF_PERFMON_* bits that PT wants in translation blocks of CPL @cpl */
uint32_t pt_tb_flags(CPUX86State *env, int cpl);

/* pt_time.c */

/* The time now, in TSC ticks before the guest's TSC offset. */
uint64_t pt_now(CPUX86State *env);
/* Tracing begins. */
void pt_time_start(CPUX86State *env);
/* The timing packets that come before any other packet made now. */
void pt_timing(CPUX86State *env);
void pt_emit_cyc(CPUX86State *env, uint64_t now);
/* Its first byte only, as erratum SKD007 has it. */
void pt_emit_cyc_cut(CPUX86State *env, uint64_t now);
/* Timing packets amid the packets of one event, on a rude processor. */
void pt_timing_middle(CPUX86State *env);
/*
 * For callers that decide before an event whether timing packets come amid
 * its packets.  True: they do, by pt_timing_at() with the time in *@now.
 */
bool pt_time_middle(CPUX86State *env, uint64_t *now);
/* As pt_timing(), as if the time were @now. */
void pt_timing_at(CPUX86State *env, uint64_t now);
/* TSC, TMA, as far as they are enabled. */
void pt_emit_tsc(CPUX86State *env, uint64_t now);
void pt_emit_cbr(CPUX86State *env);
/*
 * The first bit of a TNT packet comes: its CYC has this time.  False: output
 * has ended.
 */
bool pt_tnt_begin(CPUX86State *env);
/* The vCPU falls asleep: its cycles are not counted. */
void pt_sleep_time(CPUX86State *env);
/* After an overflow: MTCs that were due are lost, cycles count anew. */
void pt_time_resume(CPUX86State *env);
/* Sees to it that timing packets come where nothing else happens. */
void pt_tick_arm(CPUX86State *env);
/* It wakes, to execute at @ip: TSC, TMA, CBR. */
void pt_wake_time(CPUX86State *env, uint64_t ip);

/* pt_stream.c */

/* Tracing begins. */
void pt_stream_start(CPUX86State *env);
/* What an IP packet carries for EIP @eip: the effective or linear address. */
uint64_t pt_ip(CPUX86State *env, target_ulong eip);
void pt_emit(CPUX86State *env, const uint8_t *packet, size_t len);
void pt_emit_ip(CPUX86State *env, enum pt_ip_packet type, uint64_t ip);
/* A FUP with @ip. */
void pt_emit_fup(CPUX86State *env, uint64_t ip);
/* A TIP; fault injection may falsify it. */
void pt_tip(CPUX86State *env, uint64_t ip);
void pt_emit_pgd_no_ip(CPUX86State *env);
void pt_emit_pip(CPUX86State *env);
/* Does the reader not know the mode? */
bool pt_mode_news(CPUX86State *env);
/* MODE.Exec, unless the reader knows the mode. */
void pt_emit_mode(CPUX86State *env);
void pt_emit_psb(CPUX86State *env, uint64_t ip);
void pt_flush_tnt(CPUX86State *env);
/* The TNT bits fill a packet. */
void pt_tnt_full(CPUX86State *env);
/* All that is older than an event at @ip, but for PSB+. */
void pt_flush_older(CPUX86State *env, uint64_t ip);
/*
 * Before the packets of an event: everything that is older goes out first
 * (TNT bits, timing packets, the end of an overflow, a PSB+ that is due).
 * @ip is the address of the instruction that the event belongs to.
 */
void pt_event_begin(CPUX86State *env, uint64_t ip);
/* The overflow in progress ends, if there is one; execution is at @ip. */
void pt_overflow_resolve(CPUX86State *env, uint64_t ip);
/*
 * Tracing ends at @ip, by TraceEn or ContextEn, in an overflow.  True: erratum
 * APL11 has told so, by OVF and TIP.PGD.
 */
bool pt_overflow_leaves(CPUX86State *env, uint64_t ip);
/* An event comes.  True: its packets are lost in an overflow, or begin one. */
bool pt_lost(CPUX86State *env);
/* The enables are those after an event that was lost, execution is at @ip. */
void pt_lost_end(CPUX86State *env, uint64_t ip);
/*
 * Something is due before the near branch at @ip.  True: the branch is to be
 * recorded; false: it is lost in an overflow.
 */
bool pt_attention(CPUX86State *env, uint64_t ip);

/* The branches that no packet has told yet are lost. */
static inline void pt_forget_branches(PTState *pt)
{
    pt->tnt = 0;
    pt->tnt_count = 0;
    pt->deferred_count = 0;
}

static inline void pt_tnt(CPUX86State *env, bool taken)
{
    PTState *pt = &env->pt;

    if (!pt->tnt_count && env->msr_rtit_ctrl & RTIT_CTL_CYC_EN &&
        !pt_tnt_begin(env)) {
        return;
    }
    pt->tnt = pt->tnt << 1 | taken;
    if (unlikely(++pt->tnt_count >= pt->tnt_limit)) {
        pt_tnt_full(env);
    }
}

/* pt_reset.c */

/* The MSRs at power-on, which the first reset finds. */
void pt_power_on(CPUX86State *env);
/* Before the state of the CPU is reset, and after. */
void pt_reset_begin(CPUX86State *env);
void pt_reset(CPUX86State *env);

/* pt_trace.c */

/* TraceEn is set: by RSM, or by WRMSR. */
void pt_trace_start(CPUX86State *env, target_ulong next_ip, bool rsm);
/* TraceEn is cleared: by an SMI, or by WRMSR. */
void pt_trace_stop(CPUX86State *env, target_ulong ip, bool smi);
void pt_near(CPUX86State *env, target_ulong from, target_ulong to,
             enum perfmon_branch kind, unsigned len);
void pt_far(CPUX86State *env, target_ulong from, enum perfmon_far kind,
            int vector);
void pt_mov_cr3(CPUX86State *env, target_ulong next_ip);
/* INIT; @wait: the processor waits for a start-up interrupt. */
void pt_init(CPUX86State *env, target_ulong from, bool wait);
/* A start-up interrupt has come. */
void pt_sipi(CPUX86State *env, uint8_t vector);

/* pt_event.c */

/* The instruction at @eip puts the vCPU to sleep; it wakes. */
void pt_hlt(CPUX86State *env, target_ulong eip);
void pt_mwait(CPUX86State *env, target_ulong eip);
void pt_wake(CPUX86State *env);
void pt_smi(CPUX86State *env);
void pt_rsm(CPUX86State *env);

/* The FUP of an event whose packet came before. */
void pt_emit_event_ip(CPUX86State *env, uint64_t ip);

/*
 * The packets that event trace makes of a far transfer, before those of its
 * control flow.  The enables are still those of the source; @context_after
 * is ContextEn at the target.
 */
void pt_event_far(CPUX86State *env, uint64_t from, enum perfmon_far kind,
                  int vector, bool context_after);
/* Likewise of an SMI at @ip, and of an RSM that sets TraceEn. */
void pt_event_smi(CPUX86State *env, uint64_t ip);
void pt_event_rsm(CPUX86State *env);

#endif
