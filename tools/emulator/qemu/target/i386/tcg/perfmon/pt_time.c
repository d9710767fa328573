/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT model: the packets of time, TSC, TMA, CBR, MTC and CYC (SDM
 * 33.4.2.10 to 33.4.2.14, 33.8.3).
 *
 * MTC packets are made when the next packet is, and where none comes, as out
 * of context, about once in a millisecond: all that are due by then.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/main-loop.h"
#include "cpu.h"
#include "pt.h"
#include "pt_packet.h"
#include "pt_regs.h"

/* How often the vCPU sends what is due, packets or not */
#define PT_TICK_NS              1000000
/* MTCs for one that a rude processor loses, and times for another frequency */
#define PT_RUDE_MTCS            8
#define PT_RUDE_CBRS            256
/* MTCs in the middle of an event's packets, at most */
#define PT_RUDE_MIDDLE_MTCS     4
/*
 * A longer time without MTC is the host's doing: it had no time for this vCPU.
 * That is told as sleep is, by TSC and TMA.  Unit: crystal ticks.
 */
#define PT_GAP_MAX              (2 * PT_TICK_NS / CRYSTAL_NS)
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

/* A CYC is due at @now: writes it to @packet; its length, 0 if none is due. */
static size_t pt_cyc(CPUX86State *env, uint64_t now, uint8_t *packet)
{
    uint64_t ctl = env->msr_rtit_ctrl;
    unsigned thresh = extract64(ctl, RTIT_CTL_CYC_THRESH_SHIFT, 4);
    uint64_t cycles;

    if (env->pt.cyc_base == PT_CYC_FROM_NOW) {
        env->pt.cyc_base = now;
    }
    cycles = now > env->pt.cyc_base ? now - env->pt.cyc_base : 0;
    if (env->pt.ratio != TSC_BUS_RATIO) {
        cycles = cycles * env->pt.ratio / TSC_BUS_RATIO;
    }
    if (!(ctl & RTIT_CTL_CYC_EN) || !cycles ||
        cycles < (thresh ? 1ull << (thresh - 1) : 0)) {
        return 0;
    }
    env->pt.cyc_base = now;
    return pt_packet_cyc(packet, cycles);
}

void pt_emit_cyc(CPUX86State *env, uint64_t now)
{
    uint8_t packet[PT_PACKET_MAX];
    size_t len = pt_cyc(env, now, packet);

    if (len) {
        pt_emit(env, packet, len);
    }
}

void pt_emit_cyc_cut(CPUX86State *env, uint64_t now)
{
    uint8_t packet[PT_PACKET_MAX];

    if (pt_cyc(env, now, packet)) {
        pt_emit(env, packet, 1);
    }
}

void pt_emit_tsc(CPUX86State *env, uint64_t now)
{
    uint8_t packet[PT_PACKET_MAX];

    if (env->msr_rtit_ctrl & RTIT_CTL_TSC_EN) {
        pt_emit_cyc(env, now);
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

    pt_emit(env, packet, pt_packet_cbr(packet, env->pt.ratio));
}

static void pt_emit_mtc(CPUX86State *env, uint64_t now)
{
    PTState *pt = &env->pt;
    uint64_t ctl = env->msr_rtit_ctrl;
    unsigned freq = extract64(ctl, RTIT_CTL_MTC_FREQ_SHIFT, 4);
    uint64_t count = pt_mtc_count(env, now);
    uint8_t packet[PT_PACKET_MAX];

    if (count - pt->mtc_last > PT_GAP_MAX >> freq) {
        if (ctl & RTIT_CTL_TSC_EN) {
            pt_emit_tsc(env, now);
            return;
        }
        pt->mtc_last = count - (PT_GAP_MAX >> freq);
    }
    while (pt->mtc_last < count) {
        pt->mtc_last++;
        if (!pt_rude(env, PT_RUDE_MTC, PT_RUDE_MTCS)) {
            pt_emit_cyc(env, (pt->mtc_last << freq) * TSC_PER_CRYSTAL);
            pt_emit(env, packet, pt_packet_mtc(packet, pt->mtc_last));
        }
    }
}

/* The core clock changes: the cycles until now, then CBR. */
static void pt_change_ratio(CPUX86State *env, uint64_t now)
{
    PTState *pt = &env->pt;
    uint8_t old = pt->ratio;

    pt_emit_cyc(env, now);
    pt->ratio = pt_rude_ratio(env);
    /* What the threshold keeps back are cycles of the old clock. */
    if (pt->cyc_base < now) {
        pt->cyc_base = now - (now - pt->cyc_base) * old / pt->ratio;
    }
    pt_emit_cbr(env);
}

void pt_timing_at(CPUX86State *env, uint64_t now)
{
    if (env->msr_rtit_ctrl & RTIT_CTL_MTC_EN) {
        pt_emit_mtc(env, now);
    }
    pt_emit_cyc(env, now);
    if (pt_rude(env, PT_RUDE_CBR, PT_RUDE_CBRS)) {
        pt_change_ratio(env, now);
    }
}

static bool pt_has_timing(CPUX86State *env)
{
    return env->msr_rtit_ctrl & (RTIT_CTL_MTC_EN | RTIT_CTL_CYC_EN);
}

bool pt_time_middle(CPUX86State *env, uint64_t *now)
{
    if (!pt_has_timing(env) || !pt_rude(env, PT_RUDE_MIDDLE, 2)) {
        return false;
    }
    /*
     * The packets of an event take no time in which many MTCs come due: if
     * they do, the vCPU slept, or the host ran something else.
     */
    *now = pt_now(env);
    return !(env->msr_rtit_ctrl & RTIT_CTL_MTC_EN) ||
           pt_mtc_count(env, *now) - env->pt.mtc_last <= PT_RUDE_MIDDLE_MTCS;
}

void pt_timing_middle(CPUX86State *env)
{
    uint64_t now;

    if (pt_time_middle(env, &now)) {
        pt_timing_at(env, now);
    }
}

void pt_timing(CPUX86State *env)
{
    if (pt_has_timing(env)) {
        pt_timing_at(env, pt_now(env));
    }
}

bool pt_tnt_begin(CPUX86State *env)
{
    PTState *pt = &env->pt;

    pt->tnt_tsc = pt_now(env);
    if (env->msr_rtit_ctrl & RTIT_CTL_MTC_EN) {
        pt_emit_mtc(env, pt->tnt_tsc);
    }
    /* The packet may have met the end of output. */
    return pt->tnt_en;
}

/*
 * Do timing packets come due by time alone?  INIT and SIPI are one transfer,
 * amid which no PSB+ may come.
 */
static bool pt_ticks(CPUX86State *env)
{
    return env->pt.trigger_en && !env->pt.asleep && !env->pt.wait_sipi &&
           env->msr_rtit_ctrl & RTIT_CTL_MTC_EN;
}

static void pt_tick(CPUX86State *env)
{
    PTState *pt = &env->pt;
    uint64_t ip = pt_ip(env, env->eip);

    /* Out of context an overflow begins with a tick and ends with the next. */
    if (pt_ticks(env) &&
        (pt->context_en || pt->ovf_lost || !pt_lost(env))) {
        pt_overflow_resolve(env, ip);
        pt_flush_tnt(env);
        pt_emit_mtc(env, pt_now(env));
        if (pt->psb_due) {
            pt_emit_psb(env, ip);
        }
    }
    pt_tick_arm(env);
}

static void pt_tick_on_cpu(CPUState *cs, run_on_cpu_data data)
{
    /*
     * Thousands of packets may be due.  They are made as those of the CPU's
     * own code are, without the BQL; but with it where the machine is stopped,
     * for somebody may be reading its state.
     */
    bool unlock = !cs->stopped;

    if (unlock) {
        bql_unlock();
    }
    pt_tick(cpu_env(cs));
    if (unlock) {
        bql_lock();
    }
}

static void pt_tick_timer(void *opaque)
{
    async_run_on_cpu(opaque, pt_tick_on_cpu, RUN_ON_CPU_NULL);
}

void pt_tick_arm(CPUX86State *env)
{
    if (pt_ticks(env)) {
        perfmon_timer_arm(env, &pt_config(env)->tick_timer, pt_tick_timer,
                          perfmon_clock_ns(env) + PT_TICK_NS);
    }
}

void pt_sleep_time(CPUX86State *env)
{
    env->pt.asleep = true;
    env->pt.sleep_tsc = pt_now(env);
}

void pt_wake_time(CPUX86State *env, uint64_t ip)
{
    PTState *pt = &env->pt;
    uint64_t now = pt_now(env);

    pt->asleep = false;
    if (pt->cyc_base != PT_CYC_FROM_NOW) {
        pt->cyc_base += now - pt->sleep_tsc;
    }
    pt_overflow_resolve(env, ip);
    /* OVF may have told a later time. */
    now = pt_now(env);
    pt_emit_tsc(env, now);
    pt_emit_cbr(env);
    pt_tick_arm(env);
}

void pt_time_resume(CPUX86State *env)
{
    uint64_t now = pt_now(env);
    uint64_t lost = pt_mtc_count(env, now) - env->pt.mtc_last;

    env->pt.cyc_base = now;
    env->pt.mtc_last += lost;
    /* More than eight bits of MTC can tell. */
    if (env->msr_rtit_ctrl & RTIT_CTL_MTC_EN && lost > UINT8_MAX) {
        pt_emit_tsc(env, now);
    }
}

void pt_time_start(CPUX86State *env)
{
    if (!env->pt.ratio) {
        env->pt.ratio = TSC_BUS_RATIO;
    }
    env->pt.cyc_base = PT_CYC_FROM_NOW;
    env->pt.mtc_last = pt_mtc_count(env, pt_now(env));
}
