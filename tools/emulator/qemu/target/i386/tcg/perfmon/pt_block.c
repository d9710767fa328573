/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT model: records of PEBS in the trace (SDM 33.4.2.26 to 33.4.2.28):
 * blocks of items, each begun by a BBP, all of them ended by one BEP.
 *
 * An item begins as a short TNT does: readers tell them apart by where they
 * are, so that nothing else comes between the first BBP and the BEP.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "pebs_record.h"
#include "pt.h"
#include "pt_packet.h"

/*
 * Last branch records of one block, and blocks that can have some: the oldest
 * two of 32 are not told.
 */
#define PT_BLOCK_LBRS       10
#define PT_LBR_BLOCKS       3

static void pt_emit_block(CPUX86State *env, enum pt_block_type type,
                          const uint64_t *items, unsigned n, unsigned bytes)
{
    uint8_t packet[PT_PACKET_MAX];

    pt_emit(env, packet, pt_packet_bbp(packet, type, bytes));
    for (unsigned id = 0; id < n; id++) {
        pt_emit(env, packet, pt_packet_bip(packet, id, items[id], bytes));
    }
}

static void pt_emit_lbrs(CPUX86State *env, const PEBSRecord *record)
{
    unsigned first = 0;

    for (unsigned i = 0; i < PT_LBR_BLOCKS && first < record->lbrs; i++) {
        unsigned n = MIN(record->lbrs - first, PT_BLOCK_LBRS);

        pt_emit_block(env, PT_BLOCK_LBR + i,
                      record->lbr + PEBS_LBR_WORDS * first,
                      PEBS_LBR_WORDS * n, 8);
        first += n;
    }
}

static void pt_emit_record(CPUX86State *env, const PEBSRecord *record)
{
    bool wide = env->hflags & HF_CS64_MASK;

    pt_emit_block(env, PT_BLOCK_PEBS_BASIC, record->basic, PEBS_BASIC_WORDS, 8);
    if (record->groups & PEBS_CFG_MEMORY) {
        pt_emit_block(env, PT_BLOCK_PEBS_MEMORY, record->memory,
                      PEBS_MEMORY_WORDS, 8);
    }
    if (record->groups & PEBS_CFG_GPR) {
        pt_emit_block(env, PT_BLOCK_GPR, record->gpr, record->gprs,
                      wide ? 8 : 4);
    }
    if (record->groups & PEBS_CFG_XMM) {
        pt_emit_block(env, PT_BLOCK_XMM, record->xmm, PEBS_XMM_WORDS, 8);
    }
    pt_emit_lbrs(env, record);
}

bool pt_pebs(CPUX86State *env, const PEBSRecord *record, target_ulong next_eip)
{
    PTState *pt = &env->pt;
    uint64_t ip = pt_ip(env, next_eip);
    uint8_t packet[PT_PACKET_MAX];
    bool fup;

    if (!pt->trigger_en) {
        return false;
    }
    pt_lost_end(env, ip);
    if (pt_lost(env)) {
        return true;
    }
    pt_event_begin(env, ip);
    fup = pt->context_en;
    pt_emit_record(env, record);
    pt_emit(env, packet, pt_packet_bep(packet, fup));
    if (fup) {
        pt_emit_event_ip(env, ip);
    }
    return true;
}
