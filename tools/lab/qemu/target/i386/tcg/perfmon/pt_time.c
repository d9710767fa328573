/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT model: the packets of time, TSC, TMA, CBR, MTC and CYC (SDM
 * 33.4.2.11 to 33.4.2.16, 33.8.3).
 *
 * MTC packets are made when the next packet is: between packets nobody can
 * tell.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "cpu.h"
#include "pt.h"
#include "pt_packet.h"
#include "pt_regs.h"

/* The MTC payload has 8 bits: a longer gap is told by TSC and TMA. */
#define PT_MTC_GAP_MAX          255
/* The cycle counter starts with the first packet: no CYC precedes it. */
#define PT_CYC_FROM_NOW         UINT64_MAX

uint64_t pt_now(CPUX86State *env)
{
    env->pt.last_tsc = MAX(env->pt.last_tsc, perfmon_read_tsc(env));
    return env->pt.last_tsc;
}

static uint64_t pt_mtc_count(CPUX86State *env, uint64_t now)
{
    return now / TSC_PER_CRYSTAL >>
           extract64(env->msr_rtit_ctrl, RTIT_CTL_MTC_FREQ_SHIFT, 4);
}

void pt_emit_cyc(CPUX86State *env, uint64_t now)
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

void pt_emit_tsc(CPUX86State *env, uint64_t now)
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

void pt_emit_cbr(CPUX86State *env)
{
    uint8_t packet[PT_PACKET_MAX];

    pt_emit(env, packet, pt_packet_cbr(packet, TSC_BUS_RATIO));
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

void pt_timing(CPUX86State *env)
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

void pt_time_start(CPUX86State *env)
{
    env->pt.cyc_base = PT_CYC_FROM_NOW;
    env->pt.mtc_last = pt_mtc_count(env, pt_now(env));
}
