/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT model: which packets the execution makes (SDM 33.2.2, 33.2.6,
 * 33.3.7, 33.3.8, 33.7).
 *
 *   TriggerEn = TraceEn, and neither STATUS.Error nor STATUS.Stopped
 *   ContextEn = CPL and CR3 are those that RTIT_CTL selects
 *   FilterEn  = the last taken branch or event landed in a traced IP range
 *   PacketEn  = all of them and BranchEn
 *
 * Packets that are due by time or by amount (MTC, PSB) are made when the
 * next packet is: between packets nobody can tell.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "pmu.h"
#include "pt.h"
#include "pt_packet.h"
#include "pt_regs.h"

/* Near branches that a forced overflow loses. */
#define PT_OVF_LOST             16
/* The MTC payload has 8 bits: a longer gap is told by TSC and TMA. */
#define PT_MTC_GAP_MAX          255
/* The cycle counter starts with the first packet, so that no CYC precedes it. */
#define PT_CYC_FROM_NOW         UINT64_MAX
/* PSB period of PSBFreq 0 */
#define PT_PSB_UNIT             2048

uint64_t pt_ip(CPUX86State *env, target_ulong eip)
{
    return pt_config(env)->lip ? eip + env->segs[R_CS].base : eip;
}

void pt_emit(CPUX86State *env, const uint8_t *packet, size_t len)
{
    PTState *pt = &env->pt;
    uint64_t every = pt_config(env)->ovf_every;

    if (!pt->trigger_en) {
        return;
    }
    pt_output(env, packet, len);
    pt->psb_bytes += len;
    if (pt->psb_bytes >= PT_PSB_UNIT <<
        extract64(env->msr_rtit_ctrl, RTIT_CTL_PSB_FREQ_SHIFT, 4)) {
        pt->psb_due = pt->attention = true;
    }
    pt->ovf_bytes += len;
    if (every && pt->ovf_bytes >= every) {
        pt->attention = true;
    }
}

/* True for the packet that fault injection wants falsified. */
static bool pt_corrupt(CPUX86State *env)
{
    return ++env->pt.packets == pt_config(env)->corrupt_at;
}

static void pt_emit_ip(CPUX86State *env, enum pt_ip_packet type, uint64_t ip)
{
    PTState *pt = &env->pt;
    uint8_t packet[PT_PACKET_MAX];
    size_t n = pt_packet_ip(packet, type, ip, &pt->last_ip, !pt->last_ip_valid);

    pt->last_ip_valid = true;
    pt_emit(env, packet, n);
}

void pt_emit_fup(CPUX86State *env, uint64_t ip)
{
    pt_emit_ip(env, PT_FUP, ip);
}

static void pt_emit_pgd_no_ip(CPUX86State *env)
{
    uint8_t packet[PT_PACKET_MAX];

    pt_emit(env, packet, pt_packet_ip_none(packet, PT_TIP_PGD));
}

static uint8_t pt_exec_mode(CPUX86State *env)
{
    uint8_t mode = 0;

    if (env->hflags & HF_CS64_MASK) {
        mode = PT_MODE_EXEC_CSL;
    } else if (env->hflags & HF_CS32_MASK) {
        mode = PT_MODE_EXEC_CSD;
    }
    if (env->msr_rtit_ctrl & RTIT_CTL_EVENT_EN && env->eflags & IF_MASK) {
        mode |= PT_MODE_EXEC_IF;
    }
    return mode;
}

/* MODE.Exec, unless the reader knows the mode. */
static void pt_emit_mode(CPUX86State *env)
{
    uint8_t packet[PT_PACKET_MAX];
    uint8_t mode = pt_exec_mode(env);

    if (env->pt.mode != mode) {
        env->pt.mode = mode;
        pt_emit(env, packet, pt_packet_mode_exec(packet, mode));
    }
}

static void pt_emit_pip(CPUX86State *env)
{
    uint8_t packet[PT_PACKET_MAX];

    env->pt.cr3 = env->cr[3];
    if (env->msr_rtit_ctrl & RTIT_CTL_OS) {
        pt_emit(env, packet, pt_packet_pip(packet, env->cr[3], false));
    }
}

/* The time now, in TSC ticks before the guest's TSC offset. */
static uint64_t pt_now(CPUX86State *env)
{
    env->pt.last_tsc = MAX(env->pt.last_tsc, perfmon_read_tsc(env));
    return env->pt.last_tsc;
}

static uint64_t pt_mtc_count(CPUX86State *env, uint64_t now)
{
    return now / TSC_PER_CRYSTAL >>
           extract64(env->msr_rtit_ctrl, RTIT_CTL_MTC_FREQ_SHIFT, 4);
}

static void pt_emit_cyc(CPUX86State *env, uint64_t now)
{
    uint64_t ctl = env->msr_rtit_ctrl;
    unsigned thresh = extract64(ctl, RTIT_CTL_CYC_THRESH_SHIFT, 4);
    uint8_t packet[PT_PACKET_MAX];
    uint64_t cycles;

    if (env->pt.cyc_base == PT_CYC_FROM_NOW) {
        env->pt.cyc_base = now;
    }
    cycles = now > env->pt.cyc_base ? now - env->pt.cyc_base : 0;
    if (ctl & RTIT_CTL_CYC_EN && cycles &&
        cycles >= (thresh ? 1ull << (thresh - 1) : 0)) {
        env->pt.cyc_base = now;
        pt_emit(env, packet, pt_packet_cyc(packet, cycles));
    }
}

/* TSC, TMA, as far as they are enabled. */
static void pt_emit_tsc(CPUX86State *env, uint64_t now)
{
    uint8_t packet[PT_PACKET_MAX];

    if (env->msr_rtit_ctrl & RTIT_CTL_TSC_EN) {
        pt_emit_cyc(env, now);
        env->pt.cyc_base = now;
        pt_emit(env, packet, pt_packet_tsc(packet, now + env->tsc_offset));
        if (env->msr_rtit_ctrl & RTIT_CTL_MTC_EN) {
            pt_emit(env, packet, pt_packet_tma(packet, now / TSC_PER_CRYSTAL,
                                               now % TSC_PER_CRYSTAL));
        }
    }
    env->pt.mtc_last = pt_mtc_count(env, now);
}

static void pt_emit_cbr(CPUX86State *env)
{
    uint8_t packet[PT_PACKET_MAX];

    pt_emit(env, packet, pt_packet_cbr(packet, CORE_BUS_RATIO));
}

static void pt_emit_mtc(CPUX86State *env, uint64_t now)
{
    PTState *pt = &env->pt;
    uint64_t ctl = env->msr_rtit_ctrl;
    uint64_t count = pt_mtc_count(env, now);
    uint8_t packet[PT_PACKET_MAX];

    if (count - pt->mtc_last > PT_MTC_GAP_MAX) {
        if (ctl & RTIT_CTL_TSC_EN) {
            pt_emit_tsc(env, now);
            return;
        }
        pt->mtc_last = count - PT_MTC_GAP_MAX;
    }
    while (pt->mtc_last < count) {
        pt->mtc_last++;
        pt_emit_cyc(env, (pt->mtc_last <<
                          extract64(ctl, RTIT_CTL_MTC_FREQ_SHIFT, 4)) *
                         TSC_PER_CRYSTAL);
        pt_emit(env, packet, pt_packet_mtc(packet, pt->mtc_last));
    }
}

/* The timing packets that come before any other packet made now. */
static void pt_timing(CPUX86State *env)
{
    uint64_t ctl = env->msr_rtit_ctrl;
    uint64_t now;

    if (ctl & (RTIT_CTL_MTC_EN | RTIT_CTL_CYC_EN)) {
        now = pt_now(env);
        if (ctl & RTIT_CTL_MTC_EN) {
            pt_emit_mtc(env, now);
        }
        pt_emit_cyc(env, now);
    }
}

static void pt_flush_tnt(CPUX86State *env)
{
    PTState *pt = &env->pt;
    uint8_t packet[PT_PACKET_MAX];

    if (!pt->tnt_count) {
        return;
    }
    pt_timing(env);
    if (pt_corrupt(env)) {
        pt->tnt ^= 1;
    }
    pt_emit(env, packet, pt_packet_tnt(packet, pt->tnt, pt->tnt_count));
    pt->tnt = 0;
    pt->tnt_count = 0;
}

static void pt_emit_psb(CPUX86State *env, uint64_t ip)
{
    PTState *pt = &env->pt;
    uint8_t packet[PT_PACKET_MAX];
    uint8_t mode = pt->mode;
    uint64_t now = pt_now(env);

    pt->psb_due = false;
    pt->attention = false;
    pt->psb_bytes = 0;
    pt->last_ip = 0;
    pt->last_ip_valid = true;
    pt->ret_count = 0;
    pt->mode = PT_MODE_UNKNOWN;

    pt_emit_cyc(env, now);
    pt_emit(env, packet, pt_packet_psb(packet));
    pt_emit_tsc(env, now);
    pt_emit_cbr(env);
    if (pt->context_en) {
        pt_emit_pip(env);
        if (env->msr_rtit_ctrl & RTIT_CTL_BRANCH_EN) {
            pt_emit(env, packet, pt_packet_mode_tsx(packet));
        }
    }
    if (pt->packet_en) {
        if (mode == PT_MODE_UNKNOWN) {
            mode = pt_exec_mode(env);
        }
        /* A far transfer has loaded CS already; the FUP's code had the old. */
        pt->mode = mode;
        pt_emit(env, packet, pt_packet_mode_exec(packet, mode));
        /* In full: perf looks ahead to it with the LastIP of before the PSB. */
        pt->last_ip_valid = false;
        pt_emit_fup(env, ip);
    }
    pt_emit(env, packet, pt_packet_psbend(packet));
}

/*
 * Forced overflow: the packets in the processor are lost, and so are those of
 * the next branches.
 */
static void pt_overflow_begin(CPUX86State *env)
{
    PTState *pt = &env->pt;

    pt->tnt = 0;
    pt->tnt_count = 0;
    pt->ret_count = 0;
    pt->ovf_lost = 1;
    pt->ovf_bytes = 0;
}

static void pt_overflow_end(CPUX86State *env, uint64_t ip)
{
    PTState *pt = &env->pt;
    uint8_t packet[PT_PACKET_MAX];

    pt->ovf_lost = 0;
    pt->attention = pt->psb_due;
    pt_emit(env, packet, pt_packet_ovf(packet));
    pt->cyc_base = pt_now(env);
    if (pt->packet_en) {
        pt_emit_fup(env, ip);
    }
}

/* All that is older than an event at @ip, but for PSB+. */
static void pt_flush_older(CPUX86State *env, uint64_t ip)
{
    PTState *pt = &env->pt;

    if (pt->ovf_lost) {
        pt_overflow_end(env, ip);
    }
    if (pt->tnt_count) {
        pt_flush_tnt(env);
    } else {
        pt_timing(env);
    }
}

void pt_event_begin(CPUX86State *env, uint64_t ip)
{
    pt_flush_older(env, ip);
    if (env->pt.psb_due) {
        pt_emit_psb(env, ip);
    }
}

void helper_perfmon_iflag(CPUX86State *env, target_ulong eip)
{
    PTState *pt = &env->pt;
    uint64_t ip = pt_ip(env, eip);

    if (pt->packet_en && env->msr_rtit_ctrl & RTIT_CTL_EVENT_EN &&
        pt->mode != pt_exec_mode(env)) {
        /* A PSB+ would tell the new flag as if it had always been so. */
        pt_flush_older(env, ip);
        pt_emit_mode(env);
        pt_emit_fup(env, ip);
    }
}

/*
 * Something is due before the near branch at @ip.  True: the branch is to be
 * recorded; false: it is lost in an overflow.
 */
static bool pt_attention(CPUX86State *env, uint64_t ip)
{
    PTState *pt = &env->pt;
    uint64_t every = pt_config(env)->ovf_every;

    if (pt->ovf_lost && pt->ovf_lost++ < PT_OVF_LOST) {
        return false;
    }
    if (!pt->ovf_lost && every && pt->ovf_bytes >= every && pt->packet_en) {
        pt_overflow_begin(env);
        return false;
    }
    pt_event_begin(env, ip);
    return true;
}

static bool pt_context(CPUX86State *env)
{
    uint64_t ctl = env->msr_rtit_ctrl;
    bool user = env->hflags & HF_CPL_MASK;

    if (!(ctl & (user ? RTIT_CTL_USER : RTIT_CTL_OS))) {
        return false;
    }
    return !(ctl & RTIT_CTL_CR3_FILTER) ||
           !((env->cr[3] ^ env->msr_rtit_cr3_match) & ~RTIT_CR3_RESERVED);
}

static unsigned pt_addr_cfg(CPUX86State *env, unsigned range)
{
    return extract64(env->msr_rtit_ctrl, RTIT_CTL_ADDR_CFG_SHIFT(range),
                     RTIT_CTL_ADDR_CFG_LEN);
}

/* Is @ip in a range that is configured as @cfg?  *@any: there is one. */
static bool pt_in_range(CPUX86State *env, uint64_t ip, unsigned cfg, bool *any)
{
    unsigned i;

    *any = false;
    for (i = 0; i < pt_ranges(env); i++) {
        if (pt_addr_cfg(env, i) != cfg) {
            continue;
        }
        *any = true;
        if (ip >= env->msr_rtit_addrs[2 * i] &&
            ip <= env->msr_rtit_addrs[2 * i + 1]) {
            return true;
        }
    }
    return false;
}

static bool pt_in_stop(CPUX86State *env, uint64_t ip)
{
    bool any;

    return pt_in_range(env, ip, RTIT_ADDR_CFG_STOP, &any);
}

static bool pt_filter(CPUX86State *env, uint64_t ip)
{
    bool any, in = pt_in_range(env, ip, RTIT_ADDR_CFG_FILTER, &any);

    return (in || !any) && !pt_in_stop(env, ip);
}

static void pt_set_enables(CPUX86State *env, bool context, bool filter)
{
    PTState *pt = &env->pt;
    uint64_t ctl = env->msr_rtit_ctrl;

    /* RET compression does not reach over code that the reader cannot see. */
    if (filter != pt->filter_en) {
        pt->ret_count = 0;
    }
    pt->context_en = context;
    pt->filter_en = filter;
    pt->packet_en = pt->trigger_en && context && filter &&
                    ctl & RTIT_CTL_BRANCH_EN;
    pt->tnt_en = pt->packet_en && !(ctl & RTIT_CTL_DIS_TNT);
}

void pt_trigger_off(CPUX86State *env)
{
    PTState *pt = &env->pt;

    pt->trigger_en = false;
    pt->tnt = 0;
    pt->tnt_count = 0;
    pt->ovf_lost = 0;
    pt_set_enables(env, pt->context_en, pt->filter_en);
    perfmon_update_flags(env);
}

/* TraceStop, if @ip, where a branch or event arrived, asks for it. */
static void pt_check_stop(CPUX86State *env, uint64_t ip)
{
    PTState *pt = &env->pt;
    uint8_t packet[PT_PACKET_MAX];

    if (pt->trigger_en && pt->context_en && pt_in_stop(env, ip)) {
        pt_event_begin(env, ip);
        pt_emit(env, packet, pt_packet_tracestop(packet));
        pt_output_flush(env);
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

static void pt_tip(CPUX86State *env, uint64_t ip)
{
    if (pt_corrupt(env)) {
        ip ^= 0x10;
    }
    pt_emit_ip(env, PT_TIP, ip);
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

static void pt_tnt(CPUX86State *env, bool taken)
{
    PTState *pt = &env->pt;

    pt->tnt = pt->tnt << 1 | taken;
    if (unlikely(++pt->tnt_count >= pt->tnt_limit)) {
        pt_flush_tnt(env);
    }
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
        pt_event_begin(env, from);
        pt_tip(env, to);
        break;
    case PERFMON_RET:
        if (pt_pop_return(pt, to) && pt->tnt_en &&
            !(env->msr_rtit_ctrl & RTIT_CTL_DIS_RETC)) {
            pt_tnt(env, true);
        } else {
            pt_event_begin(env, from);
            pt_tip(env, to);
        }
        break;
    }
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
        pt->ret_count = 0;
        pt_event_begin(env, from);
        if (kind == PERFMON_JCC_TAKEN) {
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

static bool pt_has_ranges(CPUX86State *env)
{
    return env->msr_rtit_ctrl >> RTIT_CTL_ADDR_CFG_SHIFT(0) &
           MAKE_64BIT_MASK(0, 4 * RTIT_CTL_ADDR_CFG_LEN);
}

void pt_near(CPUX86State *env, target_ulong from_eip, target_ulong to_eip,
             enum perfmon_branch kind, unsigned len)
{
    PTState *pt = &env->pt;
    uint64_t from = pt_ip(env, from_eip);
    uint64_t to = pt_ip(env, to_eip);

    if (!pt->trigger_en || !pt->context_en) {
        return;
    }
    if (pt->attention && pt->packet_en && !pt_attention(env, from)) {
        return;
    }
    if (kind != PERFMON_JCC_NOT_TAKEN && pt_has_ranges(env)) {
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
    return kind == PERFMON_FAR_SOFTINT || kind == PERFMON_FAR_FAULT ||
           kind == PERFMON_FAR_IRQ;
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

void pt_far(CPUX86State *env, target_ulong from, enum perfmon_far kind,
            int vector)
{
    PTState *pt = &env->pt;
    uint64_t to = pt_ip(env, env->eip);
    bool was = pt->packet_en;
    bool context = pt_context(env);

    if (!pt->trigger_en) {
        return;
    }
    if (was || context) {
        pt_event_begin(env, from);
    }
    pt_event_far(env, from, kind, vector, context);
    if (was && pt_far_has_fup(kind)) {
        pt_emit_fup(env, from);
    }
    if (context && env->cr[3] != pt->cr3) {
        pt_emit_pip(env);
    }
    pt_set_enables(env, context, context ? pt_filter(env, to) : pt->filter_en);
    pt_arrive(env, to, was);
    pt_check_stop(env, to);
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
    pt_set_enables(env, context, context ? pt_filter(env, next) : pt->filter_en);
    if (was != pt->packet_en) {
        pt_arrive(env, next, was);
    }
    pt_check_stop(env, next);
}

static void pt_forget(CPUX86State *env)
{
    PTState *pt = &env->pt;
    uint64_t now = pt_now(env);

    pt->attention = pt->psb_due = false;
    pt->tnt = 0;
    pt->tnt_count = 0;
    pt->tnt_limit = env->msr_rtit_ctrl & RTIT_CTL_CYC_EN ? PT_TNT_SHORT_MAX
                                                         : PT_TNT_LONG_MAX;
    pt->last_ip_valid = false;
    pt->mode = PT_MODE_UNKNOWN;
    pt->cr3 = env->cr[3];
    pt->ret_count = 0;
    pt->cyc_base = PT_CYC_FROM_NOW;
    pt->mtc_last = pt_mtc_count(env, now);
    pt->ovf_lost = 0;
    pt->cstate = 0;
}

/*
 * PSB and PMI preservation: software that saved STATUS has what was pending
 * then made good.  The model leaves nothing pending of its own: a PSB that is
 * due goes out before tracing ends, and a PMI is raised where it is due.
 * Returns whether a PSB is to be injected.
 */
static bool pt_inject_pending(CPUX86State *env)
{
    uint64_t pending = env->msr_rtit_status &
                       (RTIT_STATUS_PEND_PSB | RTIT_STATUS_PEND_TOPA_PMI);

    if (!(env->msr_rtit_ctrl & RTIT_CTL_INJECT_PSB_PMI)) {
        return false;
    }
    env->msr_rtit_status &= ~pending;
    if (pending & RTIT_STATUS_PEND_TOPA_PMI) {
        pmu_raise(env, GLOBAL_STATUS_TOPA_PMI);
    }
    return pending & RTIT_STATUS_PEND_PSB;
}

void pt_trace_start(CPUX86State *env, target_ulong next_eip)
{
    PTState *pt = &env->pt;
    uint64_t next = pt_ip(env, next_eip);
    bool psb = !pt->psb_bytes || !pt_config(env)->psbcyc;

    pt_forget(env);
    if (env->msr_rtit_status & (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED) ||
        !pt_output_open(env)) {
        return;
    }
    pt->trigger_en = true;
    pt->context_en = pt_context(env);
    psb |= pt_inject_pending(env);
    if (psb) {
        pt_emit_psb(env, next);
    } else {
        pt_emit_tsc(env, pt_now(env));
        pt_emit_cbr(env);
    }
    pt_set_enables(env, pt->context_en, pt_filter(env, next));
    pt_arrive(env, next, false);
    pt_check_stop(env, next);
}

void pt_trace_stop(CPUX86State *env, target_ulong eip)
{
    PTState *pt = &env->pt;
    uint64_t ip = pt_ip(env, eip);

    if (pt->trigger_en) {
        pt_event_begin(env, ip);
    }
    if (pt->packet_en) {
        pt_emit_fup(env, ip);
        pt_emit_pgd_no_ip(env);
    }
    pt_output_flush(env);
    pt->trigger_en = false;
    pt_set_enables(env, false, false);
}

uint32_t pt_tb_flags(CPUX86State *env, int cpl)
{
    uint64_t ctl = env->msr_rtit_ctrl;

    if (!env->pt.trigger_en || !(ctl & (cpl ? RTIT_CTL_USER : RTIT_CTL_OS)) ||
        !(ctl & (RTIT_CTL_BRANCH_EN | RTIT_CTL_PTW_EN))) {
        return 0;
    }
    return HF_PERFMON_PT_MASK |
           (pt_has_ranges(env) ? HF_PERFMON_BRANCH_MASK : 0);
}

void pt_reset(CPUX86State *env)
{
    env->pt = (PTState) { .mode = PT_MODE_UNKNOWN };
    env->msr_rtit_output_mask = RTIT_MASK_LOWER;
}
