/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The branch predictor behind BR_MISP_RETIRED and the mispredict bit of LBR.
 *
 * No processor's predictor is public.  This one is small and deterministic,
 * so that counts can be repeated and computed by hand:
 *
 *  - A conditional branch has a two-bit saturating counter, which starts at
 *    "strongly not taken" and is found by the branch's address; two branches
 *    may share one.
 *  - An indirect JMP or CALL is predicted to go where it went last time; it
 *    is mispredicted the first time, and when another branch took its place.
 *  - RET is predicted by a stack of the last PREDICT_RETURNS calls.
 *  - A direct JMP or CALL is never mispredicted, nor is a far transfer.
 */
#include "qemu/osdep.h"
#include "predict.h"

#define COND_MAX        3
#define COND_TAKEN      2

void predict_reset(PMUPredictor *p)
{
    memset(p, 0, sizeof(*p));
}

static bool predict_cond(PMUPredictor *p, uint64_t from, bool taken)
{
    uint8_t *state = &p->cond[(from ^ from / PREDICT_COND) % PREDICT_COND];
    bool predicted = *state >= COND_TAKEN;

    if (taken && *state < COND_MAX) {
        ++*state;
    } else if (!taken && *state) {
        --*state;
    }
    return predicted != taken;
}

static bool predict_target(PMUPredictor *p, uint64_t from, uint64_t to)
{
    size_t i = (from ^ from / PREDICT_TARGETS) % PREDICT_TARGETS;
    bool miss = p->target_from[i] != from || p->target_to[i] != to;

    p->target_from[i] = from;
    p->target_to[i] = to;
    return miss;
}

static void predict_push(PMUPredictor *p, uint64_t ret)
{
    p->ret_top = (p->ret_top + 1) % PREDICT_RETURNS;
    p->ret[p->ret_top] = ret;
}

static bool predict_pop(PMUPredictor *p, uint64_t to)
{
    bool miss = p->ret[p->ret_top] != to;

    p->ret[p->ret_top] = 0;
    p->ret_top = (p->ret_top + PREDICT_RETURNS - 1) % PREDICT_RETURNS;
    return miss;
}

bool predict_branch(PMUPredictor *p, uint64_t from, uint64_t to,
                    uint64_t next, enum perfmon_branch kind)
{
    switch (kind) {
    case PERFMON_JCC_NOT_TAKEN:
    case PERFMON_JCC_TAKEN:
        return predict_cond(p, from, kind == PERFMON_JCC_TAKEN);
    case PERFMON_JMP_IND:
        return predict_target(p, from, to);
    case PERFMON_CALL_IND:
        predict_push(p, next);
        return predict_target(p, from, to);
    case PERFMON_CALL:
        predict_push(p, next);
        return false;
    case PERFMON_RET:
        return predict_pop(p, to);
    case PERFMON_JMP:
    case PERFMON_CALL_NEXT:
        return false;
    }
    g_assert_not_reached();
}
