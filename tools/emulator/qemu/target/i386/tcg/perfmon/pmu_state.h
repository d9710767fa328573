/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of the PerfMon and LBR models inside CPUX86State.  Included by
 * state.h; must not depend on cpu.h.
 *
 * The counters, event selects and global registers are members that
 * CPUX86State had before (msr_gp_*, msr_fixed_*, msr_global_*).
 */
#ifndef TARGET_I386_TCG_PERFMON_PMU_STATE_H
#define TARGET_I386_TCG_PERFMON_PMU_STATE_H

#define PMU_NUM_GP          8
#define PMU_NUM_FIXED       3
#define PMU_NUM_COUNTERS    (PMU_NUM_GP + PMU_NUM_FIXED)
#define PMU_COUNTER_WIDTH   48

#define LBR_DEPTH           32

/*
 * IA32_PERF_CAPABILITIES: LBRs with MSR_LBR_INFO, full width counter writes;
 * PEBS records after the event, with all registers, of format 3; or of format
 * 4, by any counter and with what is asked for; and to a trace
 */
#define PMU_CAP_LBR_FMT_INFO    5
#define PMU_CAP_FW_WRITE        BIT_ULL(13)
#define PMU_CAP_PEBS            (BIT_ULL(6) | BIT_ULL(7))
#define PMU_CAP_PEBS_FIXED      (3ULL << 8)
#define PMU_CAP_PEBS_ADAPTIVE   (4ULL << 8 | BIT_ULL(14))
#define PMU_CAP_PEBS_TRACE      BIT_ULL(16)
#define PMU_CAPABILITIES        (PMU_CAP_LBR_FMT_INFO | PMU_CAP_FW_WRITE | \
                                 PMU_CAP_PEBS | PMU_CAP_PEBS_FIXED | \
                                 PMU_CAP_PEBS_ADAPTIVE | PMU_CAP_PEBS_TRACE)

/* Kinds of enum perfmon_branch, and one for far branches. */
#define PMU_BRANCH_KINDS    9
#define PMU_BRANCH_FAR      (PMU_BRANCH_KINDS - 1)

/* What the processor counts by itself; an event is a sum of some of these. */
enum pmu_source {
    PMU_SRC_INSN,
    PMU_SRC_REF,
    PMU_SRC_BRANCH,
    PMU_SRC_MISS = PMU_SRC_BRANCH + PMU_BRANCH_KINDS,
    PMU_SOURCES = PMU_SRC_MISS + PMU_BRANCH_KINDS,
};

/* Privilege as PerfMon sees it: ring 0, or any other ring. */
enum pmu_mode {
    PMU_MODE_OS,
    PMU_MODE_USR,
    PMU_MODES,
};

/**
 * struct PMUCounter - what an enabled counter counts
 * @sources: mask of enum pmu_source that are added; 0: the counter stands
 * @minus: mask of enum pmu_source that are subtracted
 * @modes: mask of enum pmu_mode
 * @pmi: overflow interrupts
 */
typedef struct PMUCounter {
    uint32_t sources;
    uint32_t minus;
    uint8_t modes;
    bool pmi;
} PMUCounter;

#define PREDICT_COND        1024
#define PREDICT_TARGETS     256
#define PREDICT_RETURNS     16

/**
 * struct PMUPredictor - the branch predictor, see predict.c
 * @cond: two-bit saturating counters of conditional branches
 * @target_from: indirect branches whose target is known
 * @target_to: these targets
 * @ret: ring of return addresses
 * @ret_top: index of the newest
 */
typedef struct PMUPredictor {
    uint8_t cond[PREDICT_COND];
    uint64_t target_from[PREDICT_TARGETS];
    uint64_t target_to[PREDICT_TARGETS];
    uint64_t ret[PREDICT_RETURNS];
    uint32_t ret_top;
} PMUPredictor;

/**
 * struct PEBSState - processor event-based sampling
 * @enable: IA32_PEBS_ENABLE
 * @data_cfg: MSR_PEBS_DATA_CFG
 * @reload: MSR_RELOAD_PMCn, then MSR_RELOAD_FIXED_CTRn
 */
typedef struct PEBSState {
    uint64_t enable;
    uint64_t data_cfg;
    uint64_t reload[PMU_NUM_COUNTERS];
} PEBSState;

/**
 * struct PMUConfig - what PerfMon and the debug store of a CPU can do
 * @bts: there is branch trace store
 * @dtes64: the debug store has words of 64 bits
 * @ds_cpl: branch trace store can leave out branches by CPL
 * @bts_init_keeps: INIT leaves IA32_DS_AREA and the bits of branch trace store
 *                  alone
 * @pebs: PerfMon has PEBS; off unless asked for
 * @pebs_adaptive: of any counter, with records that software composes
 * @pebs_trace: whose records can go to a trace
 */
typedef struct PMUConfig {
    bool bts;
    bool dtes64;
    bool ds_cpl;
    bool bts_init_keeps;
    bool pebs;
    bool pebs_adaptive;
    bool pebs_trace;
} PMUConfig;

/**
 * struct PMUState - PerfMon's inner state
 * @now: what happened since reset, while it was counted; translation blocks
 *       that are flagged add their instructions to PMU_SRC_INSN
 * @seen: the part of @now that the counters contain already
 * @limit: a block that would bring @now's instructions above this asks first
 * @branch_budget: branches until a counter may overflow
 * @ref_start: time stamp up to which @now has PMU_SRC_REF
 * @halted: the reference clock stands
 * @mode: enum pmu_mode since the last fold
 * @insn_modes: mask of enum pmu_mode in which instructions are counted
 * @branch_modes: likewise branches
 * @active: something is counted, or branches are recorded
 * @ref_used: some counter counts reference cycles
 * @miss_used: some counter counts mispredicted branches
 * @predict: predictions are needed, for a counter or for LBRs
 * @counter: decoded configuration, general counters first
 * @predictor: for mispredicted branches
 * @pebs: of general counters
 * @ds_area: IA32_DS_AREA
 * @bts_modes: mask of enum pmu_mode in which branches go to the debug store
 */
typedef struct PMUState {
    uint64_t now[PMU_MODES][PMU_SOURCES];
    uint64_t seen[PMU_MODES][PMU_SOURCES];
    uint64_t limit[PMU_MODES];
    uint64_t branch_budget;
    uint64_t ref_start;
    bool halted;
    uint8_t mode;
    uint8_t insn_modes;
    uint8_t branch_modes;
    bool active;
    bool ref_used;
    bool miss_used;
    bool predict;
    PMUCounter counter[PMU_NUM_COUNTERS];
    PMUPredictor predictor;
    PEBSState pebs;
    uint64_t ds_area;
    uint8_t bts_modes;
} PMUState;

/**
 * struct LBRState - last branch records
 * @debugctl: IA32_DEBUGCTL
 * @select: MSR_LBR_SELECT
 * @tos: MSR_LASTBRANCH_TOS
 * @from: MSR_LASTBRANCH_n_FROM_IP
 * @to: MSR_LASTBRANCH_n_TO_IP
 * @info: MSR_LBR_INFO_n
 * @last_insns: instructions retired when the last record was made
 * @smi_debugctl: IA32_DEBUGCTL as RSM will restore it
 * @branched: there was a taken branch since this was cleared, see
 *            perfmon_steps()
 */
typedef struct LBRState {
    uint64_t debugctl;
    uint64_t select;
    uint64_t tos;
    uint64_t from[LBR_DEPTH];
    uint64_t to[LBR_DEPTH];
    uint64_t info[LBR_DEPTH];
    uint64_t last_insns;
    uint64_t smi_debugctl;
    bool branched;
} LBRState;

#endif
