/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT model: which packets the execution makes (SDM 33.2.1, 33.7):
 * near branches, far transfers, MOV to CR3, INIT and SIPI, and the beginning
 * and end of tracing.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "lbr.h"
#include "pmu.h"
#include "pt.h"
#include "pt_packet.h"
#include "pt_regs.h"

/* TraceStop, if @ip, where a branch or event arrived, asks for it. */
static void pt_check_stop(CPUX86State *env, uint64_t ip)
{
    PTState *pt = &env->pt;
    uint8_t packet[PT_PACKET_MAX];

    if (pt->trigger_en && pt->context_en && pt_in_stop(env, ip)) {
        pt_event_begin(env, ip);
        pt_emit(env, packet, pt_packet_tracestop(packet));
        /* What is staged becomes visible with TraceEn = 0 (SDM 33.2.7). */
        env->msr_rtit_status |= RTIT_STATUS_STOPPED;
        pt_trigger_off(env);
    }
}

/* PacketEn rises at @ip. */
static void pt_packets_on(CPUX86State *env, uint64_t ip)
{
    pt_emit_mode(env);
    pt_emit_ip(env, PT_TIP_PGE, ip);
}

static void pt_push_return(PTState *pt, uint64_t ip)
{
    pt->ret[pt->ret_top] = ip;
    pt->ret_top = (pt->ret_top + 1) % PT_RETSTACK_DEPTH;
    pt->ret_count = MIN(pt->ret_count + 1, PT_RETSTACK_DEPTH);
}

/* Pops a return address.  True: it is @ip, as the reader will find too. */
static bool pt_pop_return(PTState *pt, uint64_t ip)
{
    if (!pt->ret_count) {
        return false;
    }
    pt->ret_count--;
    pt->ret_top = (pt->ret_top + PT_RETSTACK_DEPTH - 1) % PT_RETSTACK_DEPTH;
    if (pt->ret[pt->ret_top] != ip) {
        /*
         * Readers differ in whether a RET that was not compressed pops.
         * With nothing left to pop they cannot come apart.
         */
        pt->ret_count = 0;
        return false;
    }
    return true;
}

/* May a RET be told by a TNT bit? */
static bool pt_compresses(CPUX86State *env)
{
    return env->pt.tnt_en && !(env->msr_rtit_ctrl & RTIT_CTL_DIS_RETC);
}

/*
 * An indirect jump or call at @from goes to @to.  A rude processor may keep
 * the TIP back until the TNT is sent; never that of a RET, which a reader
 * with TNT bits left would take for a compressed one (SDM 33.4.2.2).
 */
static void pt_near_indirect(CPUX86State *env, uint64_t from, uint64_t to)
{
    PTState *pt = &env->pt;

    if (pt->tnt_count && pt->deferred_count < PT_DEFERRED_MAX &&
        !(env->msr_rtit_ctrl & RTIT_CTL_CYC_EN) &&
        pt_rude(env, PT_RUDE_DEFER, 2)) {
        pt->deferred[pt->deferred_count++] = to;
        return;
    }
    pt_event_begin(env, from);
    pt_tip(env, to);
}

/* A near branch that begins and ends with PacketEn set. */
static void pt_near_traced(CPUX86State *env, uint64_t from, uint64_t to,
                           enum perfmon_branch kind, unsigned len)
{
    PTState *pt = &env->pt;

    switch (kind) {
    case PERFMON_JCC_NOT_TAKEN:
    case PERFMON_JCC_TAKEN:
        if (pt->tnt_en) {
            pt_tnt(env, kind == PERFMON_JCC_TAKEN);
        }
        break;
    case PERFMON_JMP:
    case PERFMON_CALL_NEXT:
        break;
    case PERFMON_CALL:
        pt_push_return(pt, from + len);
        break;
    case PERFMON_CALL_IND:
        pt_push_return(pt, from + len);
        /* fall through */
    case PERFMON_JMP_IND:
        pt_near_indirect(env, from, to);
        break;
    case PERFMON_RET:
        if (pt_pop_return(pt, to) && pt_compresses(env)) {
            pt_tnt(env, true);
        } else {
            pt_event_begin(env, from);
            pt_tip(env, to);
        }
        break;
    }
}

/*
 * Has the TIP.PGD of a branch to @to, which leaves the IP ranges, no IP?  Of a
 * RET that could be compressed the SDM has both; of a direct jump or call it
 * has an IP, but for erratum SKL014.
 */
static bool pt_leaves_no_ip(CPUX86State *env, uint64_t to,
                            enum perfmon_branch kind)
{
    bool direct = kind == PERFMON_JMP || kind == PERFMON_CALL ||
                  kind == PERFMON_CALL_NEXT;

    return kind == PERFMON_JCC_TAKEN ||
           (direct && pt_erratum(env, PT_SKL014)) ||
           (kind == PERFMON_RET && pt_config(env)->ret_no_ip &&
            pt_pop_return(&env->pt, to) && pt_compresses(env));
}

/* A near branch under which FilterEn may change. */
static void pt_near_filtered(CPUX86State *env, uint64_t from, uint64_t to,
                             enum perfmon_branch kind, unsigned len)
{
    PTState *pt = &env->pt;
    bool was = pt->packet_en;
    bool filter = pt_filter(env, to);

    if (was && filter) {
        pt_near_traced(env, from, to, kind, len);
    } else if (was) {
        /* First: a PSB+ that is due forgets the return addresses. */
        pt_event_begin(env, from);
        if (pt_leaves_no_ip(env, to, kind)) {
            pt_emit_pgd_no_ip(env);
        } else {
            pt_emit_ip(env, PT_TIP_PGD, to);
        }
    }
    pt_set_enables(env, pt->context_en, filter);
    if (!was && pt->packet_en) {
        pt->packet_en = false;
        pt_event_begin(env, to);
        /* The flush may have met the end of output. */
        pt_set_enables(env, pt->context_en, filter);
        if (pt->packet_en) {
            pt_packets_on(env, to);
        }
    }
    pt_check_stop(env, to);
}

/* A taken branch to @to whose packets are lost: the enables follow it. */
static void pt_near_lost(CPUX86State *env, uint64_t to)
{
    pt_set_enables(env, env->pt.context_en, pt_filter(env, to));
    pt_check_stop(env, to);
}

void pt_near(CPUX86State *env, target_ulong from_eip, target_ulong to_eip,
             enum perfmon_branch kind, unsigned len)
{
    PTState *pt = &env->pt;
    bool filtered = kind != PERFMON_JCC_NOT_TAKEN && pt_has_ranges(env);
    uint64_t from = pt_ip(env, from_eip);
    uint64_t to = pt_ip(env, to_eip);

    if (!pt->trigger_en || !pt->context_en) {
        return;
    }
    if (pt->attention && !pt_attention(env, from)) {
        if (filtered) {
            pt_near_lost(env, to);
        }
        return;
    }
    if (filtered) {
        pt_near_filtered(env, from, to, kind, len);
    } else if (pt->packet_en) {
        pt_near_traced(env, from, to, kind, len);
    }
}

void helper_perfmon_tnt(CPUX86State *env, target_ulong from, uint32_t taken)
{
    PTState *pt = &env->pt;

    if (unlikely(!pt->tnt_en)) {
        return;
    }
    if (unlikely(pt->attention) && !pt_attention(env, pt_ip(env, from))) {
        return;
    }
    pt_tnt(env, taken);
}

static bool pt_far_has_fup(enum perfmon_far kind)
{
    switch (kind) {
    case PERFMON_FAR_SOFTINT:
    case PERFMON_FAR_INT1:
    case PERFMON_FAR_FAULT:
    case PERFMON_FAR_IRQ:
    case PERFMON_FAR_INIT:
        return true;
    default:
        return false;
    }
}

/* The packets by which control arrives at @ip with the new enables. */
static void pt_arrive(CPUX86State *env, uint64_t ip, bool was)
{
    PTState *pt = &env->pt;

    if (was && pt->packet_en) {
        pt_emit_mode(env);
        pt_tip(env, ip);
    } else if (was) {
        if (pt->context_en) {
            pt_emit_ip(env, PT_TIP_PGD, ip);
        } else {
            pt_emit_pgd_no_ip(env);
        }
    } else if (pt->packet_en) {
        pt_packets_on(env, ip);
    }
}

/* The enables follow a transfer to @ip whose packets are lost. */
static void pt_far_lost(CPUX86State *env, uint64_t ip, bool context)
{
    if (!context) {
        pt_overflow_leaves(env, ip);
    }
    pt_set_enables(env, context,
                   context ? pt_filter(env, ip) : env->pt.filter_en);
    pt_check_stop(env, ip);
    pt_lost_end(env, ip);
}

void pt_far(CPUX86State *env, target_ulong from, enum perfmon_far kind,
            int vector)
{
    PTState *pt = &env->pt;
    uint64_t to = pt_ip(env, env->eip);
    bool was = pt->packet_en;
    bool context = pt_context(env);
    uint64_t now;
    bool late;

    if (!pt->trigger_en) {
        return;
    }
    /* INIT and SIPI are one transfer: no overflow begins between. */
    if ((kind != PERFMON_FAR_SIPI || pt->ovf_lost) && pt_lost(env)) {
        pt_far_lost(env, to, context);
        return;
    }
    late = was && pt_far_has_fup(kind) && pt_time_middle(env, &now);
    if (kind == PERFMON_FAR_SIPI) {
        /* With INIT it is one transfer: no PSB+ may come between. */
        pt_flush_older(env, from);
    } else if (late) {
        pt_flush_tnt(env);
    } else if (was || context) {
        pt_event_begin(env, from);
    }
    pt_event_far(env, from, kind, vector, context);
    if (was && pt_far_has_fup(kind)) {
        pt_emit_fup(env, from);
        if (late) {
            pt_timing_at(env, now);
        }
    }
    if (context && env->cr[3] != pt->cr3) {
        pt_emit_pip(env);
    }
    pt_set_enables(env, context, context ? pt_filter(env, to) : pt->filter_en);
    pt_arrive(env, to, was);
    pt_check_stop(env, to);
}

/* The transfer ends where the start-up interrupt tells: no TIP before. */
static void pt_init_wait(CPUX86State *env, target_ulong from)
{
    PTState *pt = &env->pt;

    if (pt->wait_sipi) {
        return;
    }
    pt->wait_sipi = true;
    if (pt_lost(env)) {
        return;
    }
    if (pt->packet_en) {
        pt_event_begin(env, from);
    }
    pt_event_far(env, from, PERFMON_FAR_INIT, 0, pt_context(env));
    if (pt->packet_en) {
        pt_emit_fup(env, from);
        if (pt_context(env)) {
            pt_emit_pip(env);
        }
    }
}

void pt_init(CPUX86State *env, target_ulong from, bool wait)
{
    if (!env->pt.trigger_en) {
        return;
    }
    if (wait) {
        pt_init_wait(env, from);
    } else {
        pt_far(env, from, PERFMON_FAR_INIT, 0);
    }
}

void pt_sipi(CPUX86State *env, uint8_t vector)
{
    PTState *pt = &env->pt;

    if (pt->wait_sipi) {
        pt->wait_sipi = false;
        pt_far(env, 0, PERFMON_FAR_SIPI, vector);
        pt_tick_arm(env);
    }
}

void pt_mov_cr3(CPUX86State *env, target_ulong next_eip)
{
    PTState *pt = &env->pt;
    uint64_t next = pt_ip(env, next_eip);
    bool was = pt->packet_en;
    bool context = pt_context(env);

    if (!pt->trigger_en) {
        return;
    }
    if (pt_lost(env)) {
        pt_far_lost(env, next, context);
        return;
    }
    /*
     * No PSB+ here: its FUP would name the next instruction, and a reader
     * that starts there would tie the PIP to a later MOV to CR3.
     */
    if (was || context) {
        pt_flush_older(env, next);
    }
    if (context) {
        pt_emit_pip(env);
    }
    pt_set_enables(env, context,
                   context ? pt_filter(env, next) : pt->filter_en);
    if (was != pt->packet_en) {
        pt_arrive(env, next, was);
    }
    pt_check_stop(env, next);
}

/*
 * PSB and PMI preservation: software that saved STATUS has what was pending
 * then made good.  Returns whether a PSB is to be injected.  The PSB clears
 * PendPSB; PendToPAPMI is software's to clear when it has handled the PMI.
 */
static bool pt_inject_pending(CPUX86State *env)
{
    if (!(env->msr_rtit_ctrl & RTIT_CTL_INJECT_PSB_PMI)) {
        return false;
    }
    if (env->msr_rtit_status & RTIT_STATUS_PEND_TOPA_PMI) {
        pmu_raise(env, PMU_STATUS_TOPA_PMI);
    }
    return env->msr_rtit_status & RTIT_STATUS_PEND_PSB;
}

void pt_trace_start(CPUX86State *env, target_ulong next_eip, bool rsm)
{
    PTState *pt = &env->pt;
    uint64_t next = pt_ip(env, next_eip);
    bool psb = !pt->psb_bytes || !pt_config(env)->psbcyc;

    pt_stream_start(env);
    pt_time_start(env);
    pt->asleep = pt->power = false;
    pt->wait_sipi = false;
    if (env->msr_rtit_status & (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED) ||
        !pt_output_open(env)) {
        return;
    }
    pt->trigger_en = true;
    pt->context_en = pt_context(env);
    psb |= pt_inject_pending(env);
    if (psb) {
        /* As if the TIP.PGE that follows had come before. */
        pt->packet_en = pt_erratum(env, PT_BDM70) && pt->context_en &&
                        pt_filter(env, next) &&
                        env->msr_rtit_ctrl & RTIT_CTL_BRANCH_EN;
        pt_emit_psb(env, next);
        /* Readers that know the erratum do not know this IP. */
        pt->last_ip_valid &= !pt->packet_en;
        pt->packet_en = false;
    } else {
        pt_emit_tsc(env, pt_now(env));
        pt_emit_cbr(env);
    }
    if (rsm) {
        pt_event_rsm(env);
    }
    pt_set_enables(env, pt->context_en, pt_filter(env, next));
    pt_arrive(env, next, false);
    pt_check_stop(env, next);
    pt_tick_arm(env);
}

void pt_trace_stop(CPUX86State *env, target_ulong eip, bool smi)
{
    PTState *pt = &env->pt;
    uint64_t ip = pt_ip(env, eip);

    if (pt_overflow_leaves(env, ip)) {
        pt_set_enables(env, false, false);
    }
    if (pt->trigger_en) {
        /* A PSB that is due stays pending where software preserves it. */
        if (env->msr_rtit_ctrl & RTIT_CTL_INJECT_PSB_PMI) {
            pt_flush_older(env, ip);
        } else {
            pt_event_begin(env, ip);
        }
        if (smi) {
            pt_event_smi(env, ip);
        }
    }
    if (pt->packet_en) {
        pt_emit_fup(env, ip);
        pt_emit_pgd_no_ip(env);
    }
    pt_output_flush(env);
    lbr_trace_ends(env);
    pt->trigger_en = false;
    pt_set_enables(env, false, false);
}
