/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT model: what its files call of each other.
 *
 *   pt_cpuid.c    capabilities
 *   pt_msr.c      RTIT MSRs and their #GP rules
 *   pt_trace.c    enables, branches, far transfers, PSB+, overflow
 *   pt_event.c    PTWRITE, power events, event trace
 *   pt_packet.c   encoding of packets
 *   pt_output.c   ToPA and single-range output
 *
 * Everything here runs in the thread of the vCPU.
 */
#ifndef TARGET_I386_TCG_PERFMON_PT_H
#define TARGET_I386_TCG_PERFMON_PT_H

#include "cpu.h"
#include "perfmon.h"

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
enum perfmon_access pt_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val);

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

/* pt_trace.c */
void pt_reset(CPUX86State *env);
void pt_trace_start(CPUX86State *env, target_ulong next_ip);
void pt_trace_stop(CPUX86State *env, target_ulong ip);
/* Error or Stopped was set: TriggerEn falls without a packet. */
void pt_trigger_off(CPUX86State *env);
/* HF_PERFMON_* bits that PT wants in translation blocks of CPL @cpl */
uint32_t pt_tb_flags(CPUX86State *env, int cpl);
void pt_near(CPUX86State *env, target_ulong from, target_ulong to,
             enum perfmon_branch kind, unsigned len);
void pt_far(CPUX86State *env, target_ulong from, enum perfmon_far kind,
            int vector);
void pt_mov_cr3(CPUX86State *env, target_ulong next_ip);

/*
 * Before the packets of an event: everything that is older goes out first
 * (TNT bits, timing packets, the end of an overflow, a PSB+ that is due).
 * @ip is the address of the instruction that the event belongs to.
 */
void pt_event_begin(CPUX86State *env, uint64_t ip);
/* A FUP with @ip. */
void pt_emit_fup(CPUX86State *env, uint64_t ip);
/* What an IP packet carries for EIP @eip: the effective or linear address. */
uint64_t pt_ip(CPUX86State *env, target_ulong eip);
void pt_emit(CPUX86State *env, const uint8_t *packet, size_t len);

/* pt_event.c */

/*
 * The packets that event trace makes of a far transfer, before those of its
 * control flow.  The enables are still those of the source; @context_after
 * is ContextEn at the target.
 */
void pt_event_far(CPUX86State *env, uint64_t from, enum perfmon_far kind,
                  int vector, bool context_after);

#endif
