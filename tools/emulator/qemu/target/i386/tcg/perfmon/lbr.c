/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Last branch records: the ring of the last 32 taken branches, filtered by
 * MSR_LBR_SELECT, or with EN_CALLSTACK the last 32 calls that are not
 * returned from.
 *
 * MSR_LBR_INFO's cycle count is the number of instructions since the record
 * before, because PerfMon's clock runs at one instruction per cycle.  The
 * transactional bits are stored but never set: TCG has no transactions.
 *
 * IA32_DEBUGCTL is here, too, and its BTF, which makes steps from branch to
 * branch of single steps; see perfmon_steps().
 */
#include "qemu/osdep.h"
#include "migration/vmstate.h"
#include "bts.h"
#include "lbr.h"

#define MSR_LBR_SELECT          0x1c8
#define MSR_LASTBRANCH_TOS      0x1c9
#define MSR_DEBUGCTL            0x1d9
#define MSR_LASTBRANCH_FROM     0x680
#define MSR_LASTBRANCH_TO       0x6c0
#define MSR_LBR_INFO            0xdc0

/* MSR_LBR_SELECT; all but the last say what is left out. */
#define SELECT_CPL_EQ_0         BIT_ULL(0)
#define SELECT_CPL_NEQ_0        BIT_ULL(1)
#define SELECT_JCC              BIT_ULL(2)
#define SELECT_NEAR_REL_CALL    BIT_ULL(3)
#define SELECT_NEAR_IND_CALL    BIT_ULL(4)
#define SELECT_NEAR_RET         BIT_ULL(5)
#define SELECT_NEAR_IND_JMP     BIT_ULL(6)
#define SELECT_NEAR_REL_JMP     BIT_ULL(7)
#define SELECT_FAR_BRANCH       BIT_ULL(8)
#define SELECT_EN_CALLSTACK     BIT_ULL(9)
#define SELECT_VALID            MAKE_64BIT_MASK(0, 10)

/* MSR_LBR_INFO */
#define INFO_MISPRED            BIT_ULL(63)
#define INFO_IN_TX              BIT_ULL(62)
#define INFO_TSX_ABORT          BIT_ULL(61)
#define INFO_CYCLES             MAKE_64BIT_MASK(0, 16)
#define INFO_VALID              (INFO_MISPRED | INFO_IN_TX | \
                                 INFO_TSX_ABORT | INFO_CYCLES)

#define DEBUGCTL_VALID          (DEBUGCTL_LBR | DEBUGCTL_BTF |      \
                                 DEBUGCTL_FREEZE_LBRS_ON_PMI |      \
                                 DEBUGCTL_FREEZE_PERFMON_ON_PMI)

/* Bit of MSR_LBR_SELECT that leaves out a kind of near branch. */
static const uint16_t select_near[] = {
    [PERFMON_JCC_NOT_TAKEN] = SELECT_JCC,
    [PERFMON_JCC_TAKEN] = SELECT_JCC,
    [PERFMON_JMP] = SELECT_NEAR_REL_JMP,
    [PERFMON_CALL] = SELECT_NEAR_REL_CALL,
    [PERFMON_CALL_NEXT] = SELECT_NEAR_REL_CALL,
    [PERFMON_JMP_IND] = SELECT_NEAR_IND_JMP,
    [PERFMON_CALL_IND] = SELECT_NEAR_IND_CALL,
    [PERFMON_RET] = SELECT_NEAR_RET,
};

void lbr_reset(CPUX86State *env)
{
    memset(&env->lbr, 0, sizeof(env->lbr));
}

bool lbr_present(CPUX86State *env)
{
    return env_archcpu(env)->enable_pmu &&
           (env->features[FEAT_PERF_CAPABILITIES] & PERF_CAP_LBR_FMT);
}

/* Bit of MSR_LBR_SELECT that leaves out branches that end in @mode. */
static uint64_t select_mode(enum pmu_mode mode)
{
    return mode == PMU_MODE_OS ? SELECT_CPL_EQ_0 : SELECT_CPL_NEQ_0;
}

uint32_t lbr_modes(CPUX86State *env)
{
    uint32_t modes = 0;

    for (int mode = 0; lbr_enabled(env) && mode < PMU_MODES; mode++) {
        if (!(env->lbr.select & select_mode(mode))) {
            modes |= BIT(mode);
        }
    }
    return modes;
}

/* Instructions since the last record; a branch is the last of its block. */
static uint64_t lbr_cycles(CPUX86State *env)
{
    uint64_t insns = env->pmu.now[PMU_MODE_OS][PMU_SRC_INSN] +
                     env->pmu.now[PMU_MODE_USR][PMU_SRC_INSN];
    uint64_t cycles = insns - env->lbr.last_insns;

    env->lbr.last_insns = insns;
    return MIN(cycles, INFO_CYCLES);
}

static void lbr_push(CPUX86State *env, uint64_t from, uint64_t to, bool miss)
{
    LBRState *lbr = &env->lbr;

    lbr->tos = (lbr->tos + 1) % LBR_DEPTH;
    lbr->from[lbr->tos] = from;
    lbr->to[lbr->tos] = to;
    lbr->info[lbr->tos] = lbr_cycles(env) | (miss ? INFO_MISPRED : 0);
}

/* Forgets the last record, because its call has returned. */
static void lbr_pop(CPUX86State *env)
{
    LBRState *lbr = &env->lbr;

    lbr->from[lbr->tos] = 0;
    lbr->to[lbr->tos] = 0;
    lbr->info[lbr->tos] = 0;
    lbr->tos = (lbr->tos + LBR_DEPTH - 1) % LBR_DEPTH;
}

void lbr_near(CPUX86State *env, uint64_t from, uint64_t to,
              enum perfmon_branch kind, bool mispredicted)
{
    uint64_t out = select_near[kind] | select_mode(pmu_mode(env));
    bool stack = env->lbr.select & SELECT_EN_CALLSTACK;

    if ((env->lbr.select & out) || kind == PERFMON_JCC_NOT_TAKEN) {
        return;
    }
    if (stack && kind == PERFMON_RET) {
        lbr_pop(env);
    } else if (!stack || kind != PERFMON_CALL_NEXT) {
        lbr_push(env, from, to, mispredicted);
    }
}

void lbr_far(CPUX86State *env, uint64_t from)
{
    uint64_t out = SELECT_FAR_BRANCH | select_mode(pmu_mode(env));

    if (lbr_enabled(env) && !(env->lbr.select & out)) {
        lbr_push(env, from, env->eip, false);
    }
}

void lbr_trace_ends(CPUX86State *env)
{
    LBRState *lbr = &env->lbr;

    if (lbr_suspended(env)) {
        memset(lbr->from, 0, sizeof(lbr->from));
        memset(lbr->to, 0, sizeof(lbr->to));
        memset(lbr->info, 0, sizeof(lbr->info));
        lbr->tos = 0;
    }
}

/* perfmon_update_flags() must follow. */
static void debugctl_set(CPUX86State *env, uint64_t val)
{
    env->lbr.debugctl = val;
    /* The instruction that does so is no branch. */
    env->lbr.branched = false;
}

void lbr_debug_exception(CPUX86State *env)
{
    if (lbr_until_debug(env)) {
        debugctl_set(env, env->lbr.debugctl & ~DEBUGCTL_UNTIL_DEBUG);
        perfmon_update_flags(env);
    }
}

void lbr_smi(CPUX86State *env)
{
    env->lbr.smi_debugctl = env->lbr.debugctl;
    debugctl_set(env, 0);
}

void lbr_rsm(CPUX86State *env)
{
    debugctl_set(env, env->lbr.smi_debugctl);
    env->lbr.smi_debugctl = 0;
}

/* The register @msr, or NULL; @valid gets the bits that it has. */
static uint64_t *lbr_register(CPUX86State *env, uint32_t msr, uint64_t *valid)
{
    LBRState *lbr = &env->lbr;

    *valid = UINT64_MAX;
    switch (msr) {
    case MSR_LASTBRANCH_FROM ... MSR_LASTBRANCH_FROM + LBR_DEPTH - 1:
        return &lbr->from[msr - MSR_LASTBRANCH_FROM];
    case MSR_LASTBRANCH_TO ... MSR_LASTBRANCH_TO + LBR_DEPTH - 1:
        return &lbr->to[msr - MSR_LASTBRANCH_TO];
    case MSR_LBR_INFO ... MSR_LBR_INFO + LBR_DEPTH - 1:
        *valid = INFO_VALID;
        return &lbr->info[msr - MSR_LBR_INFO];
    case MSR_LASTBRANCH_TOS:
        *valid = LBR_DEPTH - 1;
        return &lbr->tos;
    case MSR_LBR_SELECT:
        *valid = SELECT_VALID;
        return &lbr->select;
    default:
        return NULL;
    }
}

static bool lbr_is_address(uint32_t msr)
{
    return msr >= MSR_LASTBRANCH_FROM && msr < MSR_LASTBRANCH_TO + LBR_DEPTH;
}

/* The bits that IA32_DEBUGCTL has. */
static uint64_t debugctl_valid(CPUX86State *env)
{
    uint64_t valid = DEBUGCTL_VALID | bts_debugctl_bits(env);

    if (!lbr_present(env)) {
        valid &= ~(DEBUGCTL_LBR | DEBUGCTL_FREEZE_LBRS_ON_PMI);
    }
    return valid;
}

static enum perfmon_access debugctl_write(CPUX86State *env, uint64_t val)
{
    if (val & ~debugctl_valid(env)) {
        return PERFMON_GP;
    }
    debugctl_set(env, val);
    perfmon_update_flags(env);
    return PERFMON_OK;
}

enum perfmon_access lbr_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    uint64_t valid, *reg = lbr_register(env, msr, &valid);

    if (msr == MSR_DEBUGCTL && env_archcpu(env)->enable_pmu) {
        *val = env->lbr.debugctl;
        return PERFMON_OK;
    }
    if (!reg || !lbr_present(env)) {
        return PERFMON_NOT_MINE;
    }
    *val = lbr_suspended(env) ? 0 : *reg;
    return PERFMON_OK;
}

enum perfmon_access lbr_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    uint64_t valid, *reg = lbr_register(env, msr, &valid);

    if (msr == MSR_DEBUGCTL && env_archcpu(env)->enable_pmu) {
        return debugctl_write(env, val);
    }
    if (!reg || !lbr_present(env)) {
        return PERFMON_NOT_MINE;
    }
    if ((val & ~valid) ||
        (lbr_is_address(msr) && !perfmon_canonical(env, val))) {
        return PERFMON_GP;
    }
    if (!lbr_suspended(env)) {
        *reg = val;
        perfmon_update_flags(env);
    }
    return PERFMON_OK;
}

static bool lbr_needed(void *opaque)
{
    X86CPU *cpu = opaque;

    return tcg_enabled() && cpu->enable_pmu;
}

/* A damaged file must not bring an index or a value that WRMSR refuses. */
static int lbr_post_load(void *opaque, int version_id)
{
    CPUX86State *env = &((X86CPU *)opaque)->env;
    uint64_t debugctl = env->lbr.debugctl | env->lbr.smi_debugctl;

    return env->lbr.tos < LBR_DEPTH && !(debugctl & ~debugctl_valid(env))
           ? 0 : -EINVAL;
}

const VMStateDescription vmstate_lbr = {
    .name = "cpu/perfmon_lbr",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = lbr_needed,
    .post_load = lbr_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(env.lbr.debugctl, X86CPU),
        VMSTATE_UINT64(env.lbr.select, X86CPU),
        VMSTATE_UINT64(env.lbr.tos, X86CPU),
        VMSTATE_UINT64_ARRAY(env.lbr.from, X86CPU, LBR_DEPTH),
        VMSTATE_UINT64_ARRAY(env.lbr.to, X86CPU, LBR_DEPTH),
        VMSTATE_UINT64_ARRAY(env.lbr.info, X86CPU, LBR_DEPTH),
        VMSTATE_UINT64(env.lbr.last_insns, X86CPU),
        VMSTATE_UINT64(env.lbr.smi_debugctl, X86CPU),
        VMSTATE_BOOL(env.lbr.branched, X86CPU),
        VMSTATE_END_OF_LIST()
    }
};
