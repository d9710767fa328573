/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT model: the stream of packets. LastIP, the TNT bits that wait, what
 * the reader knows of mode and CR3, PSB+, and forced overflows (SDM 33.3.7,
 * 33.3.8, 33.4.2.16 to 33.4.2.18).
 *
 * A PSB that is due by the amount of packets is made when the next packet is.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "cpu.h"
#include "pt.h"
#include "pt_packet.h"
#include "pt_regs.h"

/* Branches and events that a forced overflow loses at most; at least half */
#define PT_OVF_LOST             16
/* Of a rude processor: IPs for one encoded otherwise, events for a PSB */
#define PT_RUDE_IPS             4
#define PT_RUDE_PSBS            32
/* and TNTs for a CYC that belongs to nothing */
#define PT_RUDE_CYCS            4
/* One forced overflow in so many has a PSB+ for itself, to end in its middle */
#define PT_OVF_IN_PSB           4
/* PSB period of PSBFreq 0 */
#define PT_PSB_UNIT             2048

uint64_t pt_ip(CPUX86State *env, target_ulong eip)
{
    return pt_config(env)->lip ? eip + perfmon_from(env).cs_base : eip;
}

/* Is an overflow to be forced now? */
static bool pt_overflow_due(CPUX86State *env)
{
    uint64_t every = pt_config(env)->ovf_every;

    return every && env->pt.ovf_bytes >= every;
}

void pt_emit(CPUX86State *env, const uint8_t *packet, size_t len)
{
    PTState *pt = &env->pt;

    if (!pt->trigger_en) {
        return;
    }
    if (unlikely(pt_config(env)->rude)) {
        pt_rude_between(env);
    }
    pt_output(env, packet, len);
    if (!pt->trigger_en) {
        return;
    }
    pt->psb_bytes += len;
    if (pt->psb_bytes >= PT_PSB_UNIT <<
        extract64(env->msr_rtit_ctrl, RTIT_CTL_PSB_FREQ_SHIFT, 4)) {
        pt->psb_due = pt->attention = true;
        if (env->msr_rtit_ctrl & RTIT_CTL_INJECT_PSB_PMI) {
            env->msr_rtit_status |= RTIT_STATUS_PEND_PSB;
        }
    }
    pt->ovf_bytes += len;
    if (pt_overflow_due(env)) {
        pt->attention = true;
    }
}

/* True for the packets that fault injection wants falsified. */
static bool pt_corrupt(CPUX86State *env)
{
    const PTConfig *config = pt_config(env);
    uint64_t packets = ++env->pt.packets;

    return packets == config->corrupt_at ||
           (config->corrupt_every && !(packets % config->corrupt_every));
}

void pt_emit_ip(CPUX86State *env, enum pt_ip_packet type, uint64_t ip)
{
    PTState *pt = &env->pt;
    uint8_t packet[PT_PACKET_MAX];
    bool full = !pt->last_ip_valid;
    size_t n;

    if (!full && (ip ^ pt->last_ip) >> 48 == 0 &&
        pt_rude(env, PT_RUDE_IP, PT_RUDE_IPS)) {
        n = pt_packet_ip48(packet, type, ip, &pt->last_ip);
    } else {
        full |= pt_rude(env, PT_RUDE_IP, PT_RUDE_IPS);
        n = pt_packet_ip(packet, type, ip, &pt->last_ip, full);
    }
    pt->last_ip_valid = true;
    pt_emit(env, packet, n);
}

void pt_emit_fup(CPUX86State *env, uint64_t ip)
{
    pt_emit_ip(env, PT_FUP, ip);
}

void pt_emit_pgd_no_ip(CPUX86State *env)
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

bool pt_mode_news(CPUX86State *env)
{
    return env->pt.mode != pt_exec_mode(env);
}

void pt_emit_mode(CPUX86State *env)
{
    uint8_t packet[PT_PACKET_MAX];
    uint8_t mode = pt_exec_mode(env);

    if (pt_mode_news(env)) {
        env->pt.mode = mode;
        pt_emit(env, packet, pt_packet_mode_exec(packet, mode));
    }
}

/* The address space that the reader is to know: pt->cr3. */
static void pt_emit_known_pip(CPUX86State *env)
{
    uint8_t packet[PT_PACKET_MAX];

    if (env->msr_rtit_ctrl & RTIT_CTL_OS) {
        pt_emit(env, packet, pt_packet_pip(packet, env->pt.cr3, false));
    }
}

void pt_emit_pip(CPUX86State *env)
{
    env->pt.cr3 = env->cr[3];
    pt_emit_known_pip(env);
}

/* How many bits the next TNT packet has at most. */
static uint32_t pt_tnt_limit(CPUX86State *env)
{
    uint32_t limit = env->msr_rtit_ctrl & RTIT_CTL_CYC_EN ? PT_TNT_SHORT_MAX
                                                          : PT_TNT_LONG_MAX;

    return pt_config(env)->rude & BIT_ULL(PT_RUDE_TNT)
           ? 1 + pt_rude_random(env, limit) : limit;
}

/* The TIPs that wait for the TNT that was just sent. */
static void pt_flush_deferred(CPUX86State *env)
{
    PTState *pt = &env->pt;
    uint32_t count = pt->deferred_count;

    for (uint32_t i = 0; i < count; i++) {
        pt_tip(env, pt->deferred[i]);
    }
    pt->deferred_count = 0;
}

void pt_flush_tnt(CPUX86State *env)
{
    PTState *pt = &env->pt;
    uint8_t packet[PT_PACKET_MAX];

    if (!pt->tnt_count) {
        return;
    }
    if (env->msr_rtit_ctrl & RTIT_CTL_CYC_EN) {
        pt_emit_cyc(env, pt->tnt_tsc);
    }
    if (pt_corrupt(env)) {
        pt->tnt ^= 1;
    }
    pt_emit(env, packet, pt_packet_tnt(packet, pt->tnt, pt->tnt_count));
    pt->tnt = 0;
    pt->tnt_count = 0;
    pt->tnt_limit = pt_tnt_limit(env);
    pt_flush_deferred(env);
}

void pt_tnt_full(CPUX86State *env)
{
    uint64_t ctl = env->msr_rtit_ctrl;

    pt_flush_tnt(env);
    /* With CYC the first branch of the next packet asks for the time. */
    if (ctl & RTIT_CTL_CYC_EN ? pt_rude(env, PT_RUDE_CYC, PT_RUDE_CYCS)
                              : ctl & RTIT_CTL_MTC_EN) {
        pt_timing(env);
    }
}

/* The packets of PSB+ that do not depend on what is traced. */
static void pt_begin_psb(CPUX86State *env)
{
    PTState *pt = &env->pt;
    uint8_t packet[PT_PACKET_MAX];
    uint64_t now = pt_now(env);

    pt->psb_due = false;
    env->msr_rtit_status &= ~RTIT_STATUS_PEND_PSB;
    pt->attention = false;
    pt->psb_bytes = 0;
    pt->last_ip = 0;
    pt->last_ip_valid = true;
    pt->ret_count = 0;
    pt->mode = PT_MODE_UNKNOWN;

    if (pt_erratum(env, PT_SKL168)) {
        pt->cyc_base = now;
    } else {
        pt_emit_cyc(env, now);
    }
    pt_emit(env, packet, pt_packet_psb(packet));
    pt_emit_tsc(env, now);
    pt_emit_cbr(env);
}

void pt_emit_psb(CPUX86State *env, uint64_t ip)
{
    PTState *pt = &env->pt;
    uint8_t packet[PT_PACKET_MAX];
    uint8_t mode = pt->mode;

    pt_begin_psb(env);
    pt_timing_middle(env);
    if (pt->context_en) {
        /* As with the mode: a transfer's own PIP comes behind its FUP. */
        pt_emit_known_pip(env);
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
        pt->last_ip_valid = pt_rude(env, PT_RUDE_PSB_IP, 1);
        pt_emit_fup(env, ip);
    }
    pt_timing_middle(env);
    pt_emit(env, packet, pt_packet_psbend(packet));
}

/*
 * Forced overflow: the packets in the processor are lost, and so are those of
 * the next branches and events.  The enables follow them (SDM 33.3.8.1).
 */
static void pt_overflow_begin(CPUX86State *env)
{
    PTState *pt = &env->pt;

    pt_forget_branches(pt);
    pt->ret_count = 0;
    /* Not always as many, or a loop would meet each end at the same place. */
    pt->ovf_lost = 1 + pt->packets % (PT_OVF_LOST / 2);
    pt->ovf_bytes = 0;
    pt->ovf_count++;
    pt->attention = true;
}

static void pt_overflow_end(CPUX86State *env, uint64_t ip)
{
    PTState *pt = &env->pt;
    uint8_t packet[PT_PACKET_MAX];
    bool moved = pt->context_en && pt->cr3 != env->cr[3];

    pt->ovf_lost = 0;
    pt->attention = pt->psb_due;
    /* The cycles of the overflow, then MTCs that come due from now on. */
    if (pt_erratum(env, PT_SKD007)) {
        pt_emit_cyc_cut(env, pt_now(env));
    } else {
        pt_emit_cyc(env, pt_now(env));
    }
    pt_emit(env, packet, pt_packet_ovf(packet));
    pt_time_resume(env);
    /* The decoder does not know the IPs that were lost. */
    pt->last_ip_valid = false;
    pt_timing_middle(env);
    if (pt->packet_en && !moved && !pt_mode_news(env)) {
        if (!pt_erratum(env, PT_SKD010) || pt->ovf_count % 2) {
            pt_emit_fup(env, ip);
        }
        return;
    }
    /* News before the IP: as if the overflow had ended with PacketEn = 0. */
    if (moved) {
        pt_emit_pip(env);
    }
    if (pt->packet_en) {
        pt_emit_mode(env);
        pt_emit_ip(env, PT_TIP_PGE, ip);
    } else if (pt->context_en && !pt->filter_en && pt_erratum(env, PT_APL12)) {
        pt_emit_fup(env, ip);
        pt->last_ip_valid = false;
    }
}

bool pt_overflow_leaves(CPUX86State *env, uint64_t ip)
{
    PTState *pt = &env->pt;

    if (!pt->ovf_lost || !pt->packet_en || !pt_erratum(env, PT_APL11)) {
        return false;
    }
    pt->packet_en = false;
    pt_overflow_end(env, ip);
    pt_emit_pgd_no_ip(env);
    return true;
}

void pt_overflow_resolve(CPUX86State *env, uint64_t ip)
{
    if (env->pt.ovf_lost) {
        pt_overflow_end(env, ip);
    }
}

bool pt_lost(CPUX86State *env)
{
    PTState *pt = &env->pt;

    if (!pt->ovf_lost) {
        if (!pt_overflow_due(env)) {
            return false;
        }
        pt_overflow_begin(env);
    }
    pt->ovf_lost++;
    return true;
}

void pt_lost_end(CPUX86State *env, uint64_t ip)
{
    if (env->pt.ovf_lost > PT_OVF_LOST) {
        pt_overflow_end(env, ip);
    }
}

void pt_flush_older(CPUX86State *env, uint64_t ip)
{
    pt_overflow_resolve(env, ip);
    pt_flush_tnt(env);
    /* By erratum SKL168 a PSB that is due loses them. */
    if (!env->pt.psb_due || !pt_erratum(env, PT_SKL168)) {
        pt_timing(env);
    }
}

void pt_event_begin(CPUX86State *env, uint64_t ip)
{
    pt_flush_older(env, ip);
    if (env->pt.psb_due || pt_rude(env, PT_RUDE_PSB, PT_RUDE_PSBS)) {
        pt_emit_psb(env, ip);
    }
}

/* The beginning of a PSB+ that an overflow ends: no PSBEND (SDM 33.3.7). */
static void pt_psb_cut(CPUX86State *env)
{
    uint8_t mode = env->pt.mode;

    pt_begin_psb(env);
    /*
     * A reader of what was before knows it still.  One that begins here
     * does not, until the next PSB+.
     */
    env->pt.mode = mode;
}

bool pt_attention(CPUX86State *env, uint64_t ip)
{
    PTState *pt = &env->pt;

    if (pt->ovf_lost && pt->ovf_lost <= PT_OVF_LOST) {
        pt->ovf_lost++;
        return false;
    }
    if (!pt->ovf_lost && pt_overflow_due(env)) {
        if (pt->psb_due || !(pt->ovf_count % PT_OVF_IN_PSB)) {
            pt_flush_older(env, ip);
            pt_psb_cut(env);
            /* They may have met the end of output. */
            if (!pt->trigger_en) {
                return false;
            }
        }
        pt_overflow_begin(env);
        return false;
    }
    pt_event_begin(env, ip);
    return true;
}

void pt_tip(CPUX86State *env, uint64_t ip)
{
    if (pt_corrupt(env)) {
        ip ^= 0x10;
    }
    pt_emit_ip(env, PT_TIP, ip);
}

void pt_stream_start(CPUX86State *env)
{
    PTState *pt = &env->pt;

    pt->attention = pt->psb_due = false;
    pt_forget_branches(pt);
    pt->tnt_limit = pt_tnt_limit(env);
    pt->last_ip_valid = false;
    pt->mode = PT_MODE_UNKNOWN;
    pt->cr3 = env->cr[3];
    pt->ret_count = 0;
    pt->ovf_lost = 0;
}
