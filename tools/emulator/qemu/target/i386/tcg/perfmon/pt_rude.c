/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT model: the choices of a rude processor, and what it puts between
 * packets.
 */
#include "qemu/osdep.h"
#include "pt.h"
#include "pt_packet.h"

/* How many packets there are for one PAD run, and for one MNT */
#define PT_RUDE_PADS        8
#define PT_RUDE_MNTS        64
#define PT_RUDE_PAD_MAX     4

/* Ratios of the core clock to the bus that a rude processor runs at */
#define PT_RUDE_CBR_MIN     8
#define PT_RUDE_CBR_RANGE   32

/* Each vCPU has a sequence of its own, which goes on over TraceEn = 0. */
static uint64_t pt_rude_seed(CPUX86State *env)
{
    return pt_config(env)->seed * 2654435761u + env_archcpu(env)->apic_id + 1;
}

/* Marsaglia's xorshift64: any state but zero. */
uint32_t pt_rude_random(CPUX86State *env, uint32_t range)
{
    uint64_t x = env->pt.random ? env->pt.random : pt_rude_seed(env);

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    env->pt.random = x;
    return (x >> 32) % range;
}

void pt_rude_between(CPUX86State *env)
{
    static const uint8_t pads[PT_RUDE_PAD_MAX];
    uint8_t packet[PT_PACKET_MAX];

    if (pt_rude(env, PT_RUDE_PAD, PT_RUDE_PADS)) {
        pt_output(env, pads, 1 + pt_rude_random(env, PT_RUDE_PAD_MAX));
    }
    /* No packet but PAD comes between a TNT and the TIPs that waited for it. */
    if (!env->pt.deferred_count && pt_rude(env, PT_RUDE_MNT, PT_RUDE_MNTS)) {
        pt_output(env, packet, pt_packet_mnt(packet, env->pt.random));
    }
}

uint8_t pt_rude_ratio(CPUX86State *env)
{
    return PT_RUDE_CBR_MIN + pt_rude_random(env, PT_RUDE_CBR_RANGE);
}
