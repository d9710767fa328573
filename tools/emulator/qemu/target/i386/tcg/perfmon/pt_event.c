/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT model: packets that software or events make beside control flow:
 * PTWRITE (SDM 33.2.2), power events (33.2.3), event trace (33.2.4), SMM
 * (33.2.9).
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "pt.h"
#include "pt_packet.h"
#include "pt_regs.h"

/* C-state that HLT enters, C1, as an MWAIT hint has it (SDM 33.4.2.24) */
#define PT_CSTATE_HLT       0
/* An MWAIT hint that asks for C0 */
#define PT_CSTATE_C0        0xf
/* PWRX wake reason: an interrupt */
#define PT_WAKE_INTERRUPT   BIT(0)
/* EAX of MWAIT: sub-state below, C-state above */
#define MWAIT_STATE_SHIFT   4

bool perfmon_has_ptwrite(CPUX86State *env)
{
    return pt_present(env) && pt_config(env)->ptwrite;
}

void pt_emit_event_ip(CPUX86State *env, uint64_t ip)
{
    pt_timing_middle(env);
    pt_emit_fup(env, ip);
}

void helper_perfmon_ptwrite(CPUX86State *env, target_ulong from, uint64_t val,
                            uint32_t bytes)
{
    PTState *pt = &env->pt;
    uint64_t ctl = env->msr_rtit_ctrl;
    bool fup = ctl & RTIT_CTL_FUP_ON_PTW;
    uint8_t packet[PT_PACKET_MAX];
    uint64_t ip = pt_ip(env, from);

    if (!pt->trigger_en || !pt->context_en || !pt->filter_en ||
        !(ctl & RTIT_CTL_PTW_EN)) {
        return;
    }
    pt_lost_end(env, ip);
    if (pt_lost(env)) {
        return;
    }
    pt_event_begin(env, ip);
    pt_emit(env, packet, pt_packet_ptw(packet, val, bytes, fup));
    if (fup) {
        pt_emit_event_ip(env, ip);
    }
}

void helper_perfmon_iflag(CPUX86State *env, target_ulong eip)
{
    PTState *pt = &env->pt;
    uint64_t ip = pt_ip(env, eip);

    if (!pt->packet_en || !(env->msr_rtit_ctrl & RTIT_CTL_EVENT_EN) ||
        !pt_mode_news(env)) {
        return;
    }
    if (!pt_lost(env)) {
        /* A PSB+ would tell the new flag as if it had always been so. */
        pt_flush_older(env, ip);
        pt_emit_mode(env);
        pt_emit_event_ip(env, ip);
    }
}

static void pt_emit_cfe(CPUX86State *env, enum pt_cfe type, uint8_t vector,
                        bool ip)
{
    uint8_t packet[PT_PACKET_MAX];

    pt_emit(env, packet, pt_packet_cfe(packet, type, vector, ip));
}

/* IRET: the IP is told only where no TIP can be expected to. */
static void pt_event_iret(CPUX86State *env, uint64_t from, bool leaves)
{
    pt_emit_cfe(env, PT_CFE_IRET, 0, leaves);
    if (leaves) {
        pt_emit_event_ip(env, from);
    }
}

/*
 * What comes between two instructions: with PacketEn the FUP of the control
 * flow comes behind and tells the IP.
 */
static void pt_event_async(CPUX86State *env, enum pt_cfe type, uint64_t from,
                           uint8_t vector)
{
    PTState *pt = &env->pt;
    bool fup = pt->context_en && pt->filter_en && !pt->packet_en;

    pt_emit_cfe(env, type, vector, fup);
    if (fup) {
        pt_emit_event_ip(env, from);
    }
}

static void pt_event_fault(CPUX86State *env, uint64_t from, uint8_t vector)
{
    uint8_t packet[PT_PACKET_MAX];

    /* The address is the source's: code that is not traced does not show. */
    if (vector == EXCP0E_PAGE && env->pt.context_en) {
        pt_emit(env, packet, pt_packet_evd(packet, PT_EVD_CR2, env->cr[2]));
    }
    pt_event_async(env, PT_CFE_INTR, from, vector);
}

void pt_event_far(CPUX86State *env, uint64_t from, enum perfmon_far kind,
                  int vector, bool context_after)
{
    PTState *pt = &env->pt;

    if (!(env->msr_rtit_ctrl & RTIT_CTL_EVENT_EN) ||
        !(pt->context_en || context_after)) {
        return;
    }
    switch (kind) {
    case PERFMON_FAR_IRET:
        pt_event_iret(env, from, pt->packet_en && !context_after);
        break;
    case PERFMON_FAR_FAULT:
        pt_event_fault(env, from, vector);
        break;
    case PERFMON_FAR_SOFTINT:
    case PERFMON_FAR_INT1:
    case PERFMON_FAR_IRQ:
        pt_event_async(env, PT_CFE_INTR, from, vector);
        break;
    case PERFMON_FAR_INIT:
        pt_event_async(env, PT_CFE_INIT, from, 0);
        break;
    case PERFMON_FAR_SIPI:
        /* There is no instruction that it could be tied to. */
        pt_emit_cfe(env, PT_CFE_SIPI, vector, false);
        break;
    case PERFMON_FAR_INSN:
        break;
    }
}

void pt_event_smi(CPUX86State *env, uint64_t ip)
{
    if (env->msr_rtit_ctrl & RTIT_CTL_EVENT_EN && env->pt.context_en) {
        pt_event_async(env, PT_CFE_SMI, ip, 0);
    }
}

void pt_event_rsm(CPUX86State *env)
{
    /* As with IRET: where it leads to is the TIP.PGE's to tell. */
    if (env->msr_rtit_ctrl & RTIT_CTL_EVENT_EN && env->pt.context_en) {
        pt_emit_cfe(env, PT_CFE_RSM, 0, false);
    }
}

/* The instruction at @ip puts the thread into a C-state: execution stops. */
static void pt_sleep(CPUX86State *env, uint64_t ip, uint8_t state,
                     uint8_t substate)
{
    PTState *pt = &env->pt;
    uint8_t packet[PT_PACKET_MAX];

    pt_emit(env, packet, pt_packet_pwre(packet, false, state, substate));
    pt_emit(env, packet, pt_packet_exstop(packet, pt->context_en));
    if (pt->context_en) {
        pt_emit_event_ip(env, ip);
    }
    pt->power = true;
    pt->cstate = state;
    pt_sleep_time(env);
}

/*
 * The vCPU is about to wait; the clock is told.  True: there are packets of
 * power events.
 */
static bool pt_wait(CPUX86State *env, uint64_t ip, bool sleeps)
{
    if (!env->pt.trigger_en || !sleeps) {
        return false;
    }
    pt_overflow_resolve(env, ip);
    pt_sleep_time(env);
    return env->msr_rtit_ctrl & RTIT_CTL_PWR_EVT_EN && !pt_lost(env);
}

void pt_hlt(CPUX86State *env, target_ulong eip)
{
    uint64_t ip = pt_ip(env, eip);

    if (pt_wait(env, ip, true)) {
        pt_event_begin(env, ip);
        pt_sleep(env, ip, PT_CSTATE_HLT, 0);
    }
}

/*
 * MWAIT: EAX holds the C-state and the sub-state, ECX the extensions (SDM
 * volume 2).  A wait in C0 makes no packet (SDM 33.7).
 */
void pt_mwait(CPUX86State *env, target_ulong eip)
{
    uint32_t hints = env->regs[R_EAX];
    uint8_t state = extract32(hints, MWAIT_STATE_SHIFT, 4);
    uint64_t ip = pt_ip(env, eip);
    uint8_t packet[PT_PACKET_MAX];

    if (!pt_wait(env, ip, state != PT_CSTATE_C0)) {
        return;
    }
    pt_event_begin(env, ip);
    if (env->pt.context_en) {
        pt_emit(env, packet,
                pt_packet_mwait(packet, hints, env->regs[R_ECX]));
    }
    pt_sleep(env, ip, state, extract32(hints, 0, MWAIT_STATE_SHIFT));
}

void pt_wake(CPUX86State *env)
{
    PTState *pt = &env->pt;
    uint8_t packet[PT_PACKET_MAX];
    uint64_t ip = pt_ip(env, env->eip);

    if (!pt->asleep) {
        return;
    }
    /* What is older has the time of before the sleep. */
    pt_flush_tnt(env);
    pt_wake_time(env, ip);
    pt_event_begin(env, ip);
    if (pt->power) {
        pt->power = false;
        pt_emit(env, packet, pt_packet_pwrx(packet, pt->cstate, pt->cstate,
                                            PT_WAKE_INTERRUPT));
    }
}

void pt_smi(CPUX86State *env)
{
    PTState *pt = &env->pt;

    pt->smi_trace_en = env->msr_rtit_ctrl & RTIT_CTL_TRACE_EN;
    if (pt->smi_trace_en) {
        pt_trace_stop(env, env->eip, true);
        env->msr_rtit_ctrl &= ~RTIT_CTL_TRACE_EN;
    }
}

void pt_rsm(CPUX86State *env)
{
    PTState *pt = &env->pt;

    /* Software in SMM is to clear it before; then nothing happens here. */
    if (env->msr_rtit_ctrl & RTIT_CTL_TRACE_EN) {
        pt_trace_stop(env, env->eip, false);
        env->msr_rtit_ctrl &= ~RTIT_CTL_TRACE_EN;
    }
    if (pt->smi_trace_en) {
        pt->smi_trace_en = false;
        env->msr_rtit_ctrl |= RTIT_CTL_TRACE_EN;
        pt_trace_start(env, env->eip, true);
    }
}
