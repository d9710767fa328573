/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adaptive PEBS: what a record contains, and its form in memory.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "cpu.h"
#include "ds.h"
#include "lbr.h"
#include "pebs_record.h"

/* The first word of a record: its size above, its groups below */
#define PEBS_FORMAT_SIZE_SHIFT  48

static void pebs_compose_gpr(CPUX86State *env, const PEBSPlace *at,
                             PEBSRecord *record)
{
    unsigned regs = env->hflags & HF_CS64_MASK ? CPU_NB_REGS : 8;
    unsigned n = 0;

    record->gpr[n++] = cpu_compute_eflags(env);
    record->gpr[n++] = at->next_ip;
    for (unsigned i = 0; i < regs; i++) {
        record->gpr[n++] = env->regs[i];
    }
    record->gprs = n;
}

static void pebs_compose_xmm(CPUX86State *env, PEBSRecord *record)
{
    /* Where a mode or a build has fewer, the others are 0. */
    for (unsigned i = 0; i < MIN(PEBS_XMM_WORDS, 2 * CPU_NB_REGS); i++) {
        record->xmm[i] = env->xmm_regs[i / 2].ZMM_Q(i % 2);
    }
}

static void pebs_compose_lbr(CPUX86State *env, unsigned count,
                             PEBSRecord *record)
{
    const LBRState *lbr = &env->lbr;
    uint64_t *word = record->lbr;

    /* The record says how many it has, less one. */
    record->lbrs = MIN(count, LBR_DEPTH);
    record->groups |= (uint64_t)(record->lbrs - 1) << PEBS_CFG_LBRS_SHIFT;
    for (unsigned i = 0; i < record->lbrs; i++) {
        unsigned n = (lbr->tos - i) % LBR_DEPTH;

        *word++ = lbr->from[n];
        *word++ = lbr->to[n];
        *word++ = lbr->info[n];
    }
}

void pebs_compose(CPUX86State *env, uint64_t cfg, uint64_t counters,
                  const PEBSPlace *at, PEBSRecord *record)
{
    *record = (PEBSRecord) {
        .groups = cfg & ~MAKE_64BIT_MASK(PEBS_CFG_LBRS_SHIFT,
                                         PEBS_CFG_LBRS_LEN),
        .basic = { at->event_ip, counters,
                   perfmon_read_tsc(env) + env->tsc_offset },
    };
    if (cfg & PEBS_CFG_GPR) {
        pebs_compose_gpr(env, at, record);
    }
    if (cfg & PEBS_CFG_XMM) {
        pebs_compose_xmm(env, record);
    }
    if (cfg & PEBS_CFG_LBR) {
        pebs_compose_lbr(env, 1 + extract64(cfg, PEBS_CFG_LBRS_SHIFT,
                                            PEBS_CFG_LBRS_LEN), record);
    }
}

uint64_t pebs_size(const PEBSRecord *record)
{
    uint64_t words = 1 + PEBS_BASIC_WORDS + PEBS_LBR_WORDS * record->lbrs;

    words += record->groups & PEBS_CFG_MEMORY ? PEBS_MEMORY_WORDS : 0;
    words += record->groups & PEBS_CFG_GPR ? PEBS_GPR_WORDS : 0;
    words += record->groups & PEBS_CFG_XMM ? PEBS_XMM_WORDS : 0;
    return words * sizeof(uint64_t);
}

bool pebs_store(CPUX86State *env, uint64_t addr, const PEBSRecord *record)
{
    uint64_t format = record->groups |
                      pebs_size(record) << PEBS_FORMAT_SIZE_SHIFT;
    const struct {
        const uint64_t *words;
        size_t n;
    } parts[] = {
        { &format, 1 },
        { record->basic, PEBS_BASIC_WORDS },
        { record->memory,
          record->groups & PEBS_CFG_MEMORY ? PEBS_MEMORY_WORDS : 0 },
        { record->gpr, record->groups & PEBS_CFG_GPR ? PEBS_GPR_WORDS : 0 },
        { record->xmm, record->groups & PEBS_CFG_XMM ? PEBS_XMM_WORDS : 0 },
        { record->lbr, PEBS_LBR_WORDS * record->lbrs },
    };

    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        if (!ds_store(env, addr, parts[i].words, parts[i].n,
                      sizeof(uint64_t))) {
            return false;
        }
        addr += parts[i].n * sizeof(uint64_t);
    }
    return true;
}
