/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PerfMon: what counters count, their overflow, and its interrupt.
 *
 * The processor keeps running totals per privilege mode (PMUState.now).
 * Flagged translation blocks add their instructions to a total as they
 * start; a fault takes back those that did not retire.  Branches are added
 * one by one.  Totals are brought into the counters (folded) only when
 * somebody looks, when the mode changes, or when a counter is due.
 *
 * A counter of instructions overflows exactly: a block that would run over
 * the limit is left before its first instruction, and cut to the length
 * that reaches the limit.  The interrupt then arrives behind the instruction
 * that made the counter overflow, without skid.
 *
 * The core clock runs at one instruction per cycle and stands while the
 * processor is halted.  Reference cycles are time stamp counter ticks while
 * it is not halted; a timer looks when they may have overflowed.
 */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "cpu.h"
#include "tcg/helper-tcg.h"
#include "exec/helper-proto.h"
#include "hw/i386/apic.h"
#include "accel/tcg/internal-common.h"
#include "lbr.h"
#include "pebs.h"
#include "pmu.h"
#include "pmu_regs.h"
#include "predict.h"

/* A guest's clock is looked at no more often, however near an overflow is. */
#define REF_LEAST_NS            10000

#define SRC(source)             BIT(source)
#define BRANCH(kind)            BIT(PMU_SRC_BRANCH + (kind))
#define MISS(kind)              BIT(PMU_SRC_MISS + (kind))

#define BRANCH_COND             (BRANCH(PERFMON_JCC_NOT_TAKEN) | \
                                 BRANCH(PERFMON_JCC_TAKEN))
#define BRANCH_NEAR_CALL        (BRANCH(PERFMON_CALL) |      \
                                 BRANCH(PERFMON_CALL_NEXT) | \
                                 BRANCH(PERFMON_CALL_IND))
#define BRANCH_ALL              (MAKE_64BIT_MASK(PMU_SRC_BRANCH, \
                                                 PMU_BRANCH_KINDS))
#define BRANCH_NEAR_TAKEN       (BRANCH_ALL & ~BRANCH(PMU_BRANCH_FAR) & \
                                 ~BRANCH(PERFMON_JCC_NOT_TAKEN))
#define MISS_OF(branches)       ((branches) << PMU_BRANCH_KINDS)

typedef struct PMUEvent {
    uint8_t event;
    uint8_t umask;
    uint32_t sources;
} PMUEvent;

/* The architectural events but those of the cache, and their neighbours. */
static const PMUEvent pmu_events[] = {
    { 0x3c, 0x00, SRC(PMU_SRC_INSN) },          /* CPU_CLK_UNHALTED.THREAD */
    { 0x3c, 0x01, SRC(PMU_SRC_REF) },           /* CPU_CLK_UNHALTED.REF */
    { 0xc0, 0x00, SRC(PMU_SRC_INSN) },          /* INST_RETIRED.ANY_P */
    { 0xc0, 0x01, SRC(PMU_SRC_INSN) },          /* INST_RETIRED.PREC_DIST */
    { 0xc4, 0x00, BRANCH_ALL },                 /* BR_INST_RETIRED.* */
    { 0xc4, 0x01, BRANCH_COND },
    { 0xc4, 0x02, BRANCH_NEAR_CALL },
    { 0xc4, 0x04, BRANCH_ALL },                 /* the one for PEBS */
    { 0xc4, 0x08, BRANCH(PERFMON_RET) },
    { 0xc4, 0x10, BRANCH(PERFMON_JCC_NOT_TAKEN) },
    { 0xc4, 0x20, BRANCH_NEAR_TAKEN },
    { 0xc4, 0x40, BRANCH(PMU_BRANCH_FAR) },
    { 0xc5, 0x00, MISS_OF(BRANCH_ALL) },        /* BR_MISP_RETIRED.* */
    { 0xc5, 0x01, MISS_OF(BRANCH_COND) },
    { 0xc5, 0x02, MISS_OF(BRANCH_NEAR_CALL) },
    { 0xc5, 0x04, MISS_OF(BRANCH_ALL) },
    { 0xc5, 0x20, MISS_OF(BRANCH_NEAR_TAKEN) },
};

static const uint32_t fixed_sources[PMU_NUM_FIXED] = {
    SRC(PMU_SRC_INSN), SRC(PMU_SRC_INSN), SRC(PMU_SRC_REF),
};

/*
 * CMASK turns a counter of events into one of cycles with at least so many
 * events.  A cycle is an instruction here, so that no source has more than
 * one event in a cycle.  An edge is seen with each branch, and never with
 * what happens in each cycle.
 */
static void pmu_apply_cmask(PMUCounter *c, uint64_t evtsel)
{
    int cmask = EVTSEL_CMASK(evtsel);
    bool each_cycle = c->sources & (SRC(PMU_SRC_INSN) | SRC(PMU_SRC_REF));
    bool inverted = evtsel & EVTSEL_INV;

    if (!cmask || !c->sources) {
        return;
    }
    if (cmask > 1) {
        c->sources = inverted ? SRC(PMU_SRC_INSN) : 0;
        each_cycle = true;
    } else if (inverted) {
        c->minus = each_cycle ? 0 : c->sources;
        c->sources = each_cycle ? 0 : SRC(PMU_SRC_INSN);
    }
    if ((evtsel & EVTSEL_EDGE) && each_cycle) {
        c->sources = 0;
    }
}

static PMUCounter pmu_decode_gp(uint64_t evtsel)
{
    PMUCounter c = { .pmi = evtsel & EVTSEL_INT };
    uint8_t event = evtsel & EVTSEL_EVENT;
    uint8_t umask = EVTSEL_UMASK(evtsel);

    c.modes = (evtsel & EVTSEL_OS ? BIT(PMU_MODE_OS) : 0) |
              (evtsel & EVTSEL_USR ? BIT(PMU_MODE_USR) : 0);
    if (!(evtsel & EVTSEL_EN)) {
        return c;
    }
    for (size_t i = 0; i < ARRAY_SIZE(pmu_events); i++) {
        if (pmu_events[i].event == event && pmu_events[i].umask == umask) {
            c.sources = pmu_events[i].sources;
        }
    }
    pmu_apply_cmask(&c, evtsel);
    return c;
}

static PMUCounter pmu_decode_fixed(CPUX86State *env, int i)
{
    uint32_t ctrl = env->msr_fixed_ctr_ctrl >> (i * FIXED_CTRL_WIDTH);

    return (PMUCounter) {
        .sources = fixed_sources[i],
        .modes = (ctrl & FIXED_CTRL_OS ? BIT(PMU_MODE_OS) : 0) |
                 (ctrl & FIXED_CTRL_USR ? BIT(PMU_MODE_USR) : 0),
        .pmi = ctrl & FIXED_CTRL_PMI,
    };
}

static PMUCounter pmu_decode(CPUX86State *env, int i)
{
    PMUCounter c = i < PMU_NUM_GP ? pmu_decode_gp(env->msr_gp_evtsel[i])
                                  : pmu_decode_fixed(env, i - PMU_NUM_GP);

    if (!(env->msr_global_ctrl & pmu_global_bit(i)) ||
        (env->msr_global_status & PMU_STATUS_CTR_FRZ) || !c.modes) {
        c.sources = 0;
    }
    return c;
}

/* Has the next instruction, or branch, look at the counters. */
static void pmu_look_again(CPUX86State *env)
{
    PMUState *pmu = &env->pmu;

    for (int mode = 0; mode < PMU_MODES; mode++) {
        pmu->limit[mode] = pmu->now[mode][PMU_SRC_INSN];
    }
    pmu->branch_budget = 1;
}

static void pmu_ref_due(CPUState *cs, run_on_cpu_data data)
{
    CPUX86State *env = cpu_env(cs);

    pmu_fold(env);
    /* A record is stored by the CPU's own code, in the memory that it has. */
    pmu_look_again(env);
}

static void pmu_ref_timer(void *opaque)
{
    async_run_on_cpu(opaque, pmu_ref_due, RUN_ON_CPU_NULL);
}

/* Looks again when @ticks of the reference clock have passed. */
static void pmu_arm_ref(CPUX86State *env, uint64_t ticks)
{
    int64_t ns = 1 + muldiv64(ticks, CRYSTAL_NS, TSC_PER_CRYSTAL);

    /* When it rings early, nothing is due and it is armed again. */
    perfmon_timer_arm(env, &env_archcpu(env)->pmu_ref_timer, pmu_ref_timer,
                      perfmon_clock_ns(env) + MAX(ns, REF_LEAST_NS));
}

/* Sets when to look at the counters again, at the latest. */
static void pmu_set_limits(CPUX86State *env)
{
    PMUState *pmu = &env->pmu;

    pmu->limit[PMU_MODE_OS] = UINT64_MAX;
    pmu->limit[PMU_MODE_USR] = UINT64_MAX;
    pmu->branch_budget = UINT64_MAX;
    for (int i = 0; i < PMU_NUM_COUNTERS; i++) {
        PMUCounter *c = &pmu->counter[i];
        uint64_t room = COUNTER_RANGE - *pmu_counter(env, i);

        for (int mode = 0; mode < PMU_MODES; mode++) {
            if ((c->sources & SRC(PMU_SRC_INSN)) && (c->modes & BIT(mode))) {
                uint64_t at = pmu->now[mode][PMU_SRC_INSN] + room;

                pmu->limit[mode] = MIN(pmu->limit[mode], at);
            }
        }
        if (c->sources & ~(SRC(PMU_SRC_INSN) | SRC(PMU_SRC_REF))) {
            pmu->branch_budget = MIN(pmu->branch_budget, room);
        }
        if ((c->sources & SRC(PMU_SRC_REF)) && !pmu->halted) {
            pmu_arm_ref(env, room);
        }
    }
}

/* What the counters count, from their registers. */
static void pmu_decode_all(CPUX86State *env)
{
    PMUState *pmu = &env->pmu;
    uint32_t clocks = SRC(PMU_SRC_INSN) | SRC(PMU_SRC_REF);

    pmu->insn_modes = 0;
    pmu->branch_modes = 0;
    pmu->ref_used = false;
    pmu->miss_used = false;
    for (int i = 0; i < PMU_NUM_COUNTERS; i++) {
        PMUCounter c = pmu_decode(env, i);
        uint32_t all = c.sources | c.minus;

        pmu->counter[i] = c;
        pmu->insn_modes |= all & SRC(PMU_SRC_INSN) ? c.modes : 0;
        if ((all & SRC(PMU_SRC_REF)) &&
            (pebs_counters(env) & pmu_global_bit(i))) {
            /* An instruction makes the record, as a clock has no place. */
            pmu->insn_modes |= c.modes;
        }
        pmu->branch_modes |= all & ~clocks ? c.modes : 0;
        pmu->ref_used |= all & SRC(PMU_SRC_REF);
        pmu->miss_used |= all & MISS_OF(BRANCH_ALL);
    }
}

void pmu_configure(CPUX86State *env)
{
    PMUState *pmu = &env->pmu;
    bool ref_used = pmu->ref_used;

    pmu_decode_all(env);
    if (pmu->ref_used && !ref_used) {
        pmu->ref_start = perfmon_read_tsc(env);
    }
    pmu->mode = pmu_mode(env);
    memcpy(pmu->seen, pmu->now, sizeof(pmu->seen));
    pmu_set_limits(env);
}

void pmu_resume(CPUX86State *env)
{
    PMUState *pmu = &env->pmu;

    pmu_decode_all(env);
    pmu_look_again(env);
    if (pmu->ref_used && !pmu->halted) {
        pmu_arm_ref(env, 0);
    }
}

uint32_t pmu_tb_flags(CPUX86State *env, int cpl)
{
    uint32_t mode = BIT(cpl ? PMU_MODE_USR : PMU_MODE_OS);
    uint32_t flags = 0;

    if (env->pmu.insn_modes & mode) {
        flags |= HF_PERFMON_COUNT_MASK;
    }
    if (((env->pmu.branch_modes | env->pmu.bts_modes) & mode) ||
        (env->lbr.debugctl & DEBUGCTL_BTF)) {
        flags |= HF_PERFMON_BRANCH_MASK;
    }
    if (lbr_modes(env) & mode) {
        flags |= HF_PERFMON_COUNT_MASK | HF_PERFMON_BRANCH_MASK;
    }
    return flags;
}

bool pmu_update_active(CPUX86State *env)
{
    PMUState *pmu = &env->pmu;

    /* Asleep: to be told of the end of it. */
    pmu->active = pmu->insn_modes || pmu->branch_modes || pmu->ref_used ||
                  lbr_enabled(env) || pmu->halted;
    pmu->predict = pmu->miss_used || lbr_enabled(env);
    return pmu->active;
}

static uint64_t pmu_events_since(PMUState *pmu, const PMUCounter *c)
{
    uint64_t sum = 0;

    for (int mode = 0; mode < PMU_MODES; mode++) {
        if (!(c->modes & BIT(mode))) {
            continue;
        }
        for (int src = 0; src < PMU_SOURCES; src++) {
            uint64_t n = pmu->now[mode][src] - pmu->seen[mode][src];

            sum += c->sources & SRC(src) ? n : 0;
            sum -= c->minus & SRC(src) ? n : 0;
        }
    }
    return sum;
}

static void pmu_read_ref(CPUX86State *env)
{
    PMUState *pmu = &env->pmu;
    uint64_t tsc;

    if (pmu->ref_used) {
        tsc = perfmon_read_tsc(env);
        if (!pmu->halted) {
            pmu->now[pmu->mode][PMU_SRC_REF] += tsc - pmu->ref_start;
        }
        pmu->ref_start = tsc;
    }
}

static void pmu_deliver(CPUX86State *env)
{
    X86CPU *cpu = env_archcpu(env);

    if (cpu->apic_state) {
        apic_deliver_pmi(cpu->apic_state);
    }
}

/* Freezes as IA32_DEBUGCTL says, then interrupts.  Counters are folded. */
static void pmu_interrupt(CPUX86State *env)
{
    if (env->lbr.debugctl & DEBUGCTL_FREEZE_LBRS_ON_PMI) {
        env->msr_global_status |= PMU_STATUS_LBR_FRZ;
    }
    if (env->lbr.debugctl & DEBUGCTL_FREEZE_PERFMON_ON_PMI) {
        env->msr_global_status |= PMU_STATUS_CTR_FRZ;
        pmu_configure(env);
    }
    perfmon_update_flags(env);
    pmu_deliver(env);
}

/*
 * Brings all counters up to date.  Those that overflowed and are PEBS's are
 * left one event before the overflow.  Returns a mask of them, and of others
 * in @overflow and, if they interrupt, in @pmi.
 */
static uint64_t pmu_add_up(CPUX86State *env, uint64_t *overflow, uint64_t *pmi)
{
    PMUState *pmu = &env->pmu;
    uint64_t pebs = 0;

    pmu_read_ref(env);
    for (int i = 0; i < PMU_NUM_COUNTERS; i++) {
        PMUCounter *c = &pmu->counter[i];
        uint64_t *value = pmu_counter(env, i);
        uint64_t bit = pmu_global_bit(i);

        if (!c->sources) {
            continue;
        }
        *value += pmu_events_since(pmu, c);
        if (*value < COUNTER_RANGE) {
            continue;
        }
        if (pebs_counters(env) & bit) {
            *value = COUNTER_RANGE - 1;
            pebs |= bit;
            continue;
        }
        *value &= COUNTER_RANGE - 1;
        *overflow |= bit;
        *pmi |= c->pmi ? bit : 0;
    }
    memcpy(pmu->seen, pmu->now, sizeof(pmu->seen));
    return pebs;
}

/* As pmu_fold(), by the CPU's own code, which has come to a place. */
static void pmu_fold_at(CPUX86State *env, const PEBSPlace *at)
{
    uint64_t overflow = 0, pmi = 0, buffer = 0;
    uint64_t pebs = pmu_add_up(env, &overflow, &pmi);

    if (pebs && at) {
        buffer = pebs_record(env, pebs, at);
    }
    pmu_set_limits(env);
    env->msr_global_status |= overflow | buffer;
    if (pmi || buffer) {
        pmu_interrupt(env);
    }
}

void pmu_fold(CPUX86State *env)
{
    pmu_fold_at(env, NULL);
}

void pmu_branch_due(CPUX86State *env, target_ulong from, target_ulong to)
{
    pmu_fold_at(env, &(PEBSPlace) { from, to });
}

void pmu_raise(CPUX86State *env, uint64_t status)
{
    pmu_fold(env);
    env->msr_global_status |= status;
    pmu_interrupt(env);
}

void pmu_branch_predicted(CPUX86State *env, target_ulong from, target_ulong to,
                          target_ulong next, enum perfmon_branch kind)
{
    PMUState *pmu = &env->pmu;
    bool miss = predict_branch(&pmu->predictor, from, to, next, kind);

    pmu->now[pmu_mode(env)][PMU_SRC_MISS + kind] += miss;
    if (lbr_enabled(env)) {
        lbr_near(env, from, to, kind, miss);
    }
}

/* Does it come between two instructions, and is none itself? */
static bool pmu_is_between(enum perfmon_far kind)
{
    return kind == PERFMON_FAR_FAULT || kind == PERFMON_FAR_IRQ;
}

/* What is due from before an interrupt comes before it in the trace, too. */
void pmu_far_begin(CPUX86State *env, target_ulong from, enum perfmon_far kind)
{
    if (pmu_is_between(kind) && pebs_traced(env)) {
        pmu_fold_at(env, &(PEBSPlace) { from, from });
    }
}

void pmu_far(CPUX86State *env, target_ulong from, enum perfmon_far kind)
{
    PMUState *pmu = &env->pmu;
    enum pmu_mode mode = pmu_mode(env);
    PEBSPlace at = { from, from };

    if (!pmu_is_between(kind)) {
        at.next_ip = env->eip;
        pmu->now[pmu->mode][PMU_SRC_BRANCH + PMU_BRANCH_FAR]++;
        pmu->branch_budget--;
    }
    lbr_far(env, from);
    if (mode != pmu->mode || !pmu->branch_budget) {
        pmu_fold_at(env, &at);
        pmu->mode = mode;
    }
}

void pmu_halt(CPUX86State *env)
{
    pmu_fold(env);
    env->pmu.halted = true;
}

void pmu_wake(CPUX86State *env)
{
    if (env->pmu.halted) {
        /* Nothing counts while halted, so this but moves the clock's start. */
        pmu_fold(env);
        env->pmu.halted = false;
        pmu_set_limits(env);
        perfmon_update_flags(env);
    }
}

void pmu_init(CPUX86State *env, bool wait)
{
    pmu_fold(env);
    env->pmu.mode = pmu_mode(env);
    env->pmu.halted = wait;
    pmu_set_limits(env);
}

/* Flags of a block of @insns instructions, or of what is less by debugging. */
static uint32_t pmu_short_block(CPUState *cs, uint32_t insns)
{
    uint32_t cflags = curr_cflags(cs);

    return cflags & CF_COUNT_MASK ? cflags : cflags | insns;
}

/*
 * A block is about to run over the limit.  Leaves it: either a counter is
 * due now, or the next block is to end where it will be.
 */
void helper_perfmon_limit(CPUX86State *env)
{
    CPUState *cs = env_cpu(env);
    PMUState *pmu = &env->pmu;
    enum pmu_mode mode = pmu_mode(env);
    uint64_t now;

    cpu_restore_state(cs, GETPC());
    now = pmu->now[mode][PMU_SRC_INSN];
    if (now >= pmu->limit[mode]) {
        pmu_fold_at(env, &(PEBSPlace) { env->eip, env->eip });
    } else {
        cs->cflags_next_tb = pmu_short_block(cs, pmu->limit[mode] - now);
    }
    cpu_loop_exit_noexc(cs);
}
