/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What QEMU's own files call of the trace and performance monitoring models
 * (Intel PT, PerfMon, LBR, BTS).  A call site in a file of QEMU's is one line;
 * everything that it means is decided here and in the files beside.
 *
 * Cost when nothing is traced or counted: translation blocks carry no code
 * (the HF_PERFMON_* bits are clear), and each far transfer tests one word.
 */
#ifndef TARGET_I386_TCG_PERFMON_H
#define TARGET_I386_TCG_PERFMON_H

#include "cpu.h"
#include "migration/vmstate.h"

/**
 * enum perfmon_branch - kind of a near branch, as known when translated
 * @PERFMON_JCC_NOT_TAKEN: Jcc, JCXZ, LOOPcc that falls through
 * @PERFMON_JCC_TAKEN: the same, taken
 * @PERFMON_JMP: direct near JMP
 * @PERFMON_CALL: direct near CALL
 * @PERFMON_CALL_NEXT: direct near CALL to the next instruction, by which
 *                     position independent code reads its IP; not a call
 *                     for a return stack (SDM: 33.4.2.2)
 * @PERFMON_JMP_IND: indirect near JMP
 * @PERFMON_CALL_IND: indirect near CALL
 * @PERFMON_RET: near RET
 */
enum perfmon_branch {
    PERFMON_JCC_NOT_TAKEN,
    PERFMON_JCC_TAKEN,
    PERFMON_JMP,
    PERFMON_CALL,
    PERFMON_CALL_NEXT,
    PERFMON_JMP_IND,
    PERFMON_CALL_IND,
    PERFMON_RET,
};

/* The last argument of helper_perfmon_near(): kind and instruction length. */
#define PERFMON_DESC(kind, len)     ((kind) | (len) << 8)
#define PERFMON_DESC_KIND(desc)     ((enum perfmon_branch)((desc) & 0xff))
#define PERFMON_DESC_LEN(desc)      ((desc) >> 8)

/**
 * enum perfmon_far - kind of a far transfer
 * @PERFMON_FAR_INSN: far CALL, JMP, RET, SYSCALL, SYSRET, SYSENTER, SYSEXIT
 * @PERFMON_FAR_IRET: IRET
 * @PERFMON_FAR_SOFTINT: INT n, INT3, INTO
 * @PERFMON_FAR_INT1: INT1, a software interrupt that is a debug exception
 * @PERFMON_FAR_FAULT: exception
 * @PERFMON_FAR_IRQ: external interrupt or NMI
 * @PERFMON_FAR_INIT: INIT
 * @PERFMON_FAR_SIPI: start-up interrupt
 */
enum perfmon_far {
    PERFMON_FAR_INSN,
    PERFMON_FAR_IRET,
    PERFMON_FAR_SOFTINT,
    PERFMON_FAR_INT1,
    PERFMON_FAR_FAULT,
    PERFMON_FAR_IRQ,
    PERFMON_FAR_INIT,
    PERFMON_FAR_SIPI,
};

/* What an MSR handler says. */
enum perfmon_access {
    PERFMON_NOT_MINE,
    PERFMON_OK,
    PERFMON_GP,
};

/* The core crystal clock of CPUID leaf 15H, and the TSC's ratio to it. */
#define CRYSTAL_HZ                  25000000
#define CRYSTAL_NS                  40
#define TSC_RATIO_NUM               200
#define TSC_RATIO_DEN               2
#define TSC_PER_CRYSTAL             (TSC_RATIO_NUM / TSC_RATIO_DEN)
/* TSC frequency over the 100 MHz of the bus, as CBR and PLATFORM_INFO say */
#define TSC_BUS_RATIO               25

/* True when translation blocks with these flags must report near branches. */
static inline bool perfmon_tb_branches(uint32_t tb_flags)
{
    return tb_flags & (HF_PERFMON_PT_MASK | HF_PERFMON_BRANCH_MASK);
}

/* True when TNT bits are all that a conditional branch has to report. */
static inline bool perfmon_tb_tnt_only(uint32_t tb_flags)
{
    return !(tb_flags & HF_PERFMON_BRANCH_MASK);
}

bool perfmon_has_ptwrite(CPUX86State *env);

/* The virtual clock, readable from any helper. */
int64_t perfmon_clock_ns(CPUX86State *env);

/*
 * Sees to it that @ring is called with the CPU at @due on the virtual clock,
 * by *@timer, which this makes if there is none.  Where *@timer rings earlier,
 * that stays: @ring looks what is due and arms again.
 */
void perfmon_timer_arm(CPUX86State *env, QEMUTimer **timer,
                       void (*ring)(void *cpu), int64_t due);

/*
 * The virtual CPU's time stamp counter while the models are on: the virtual
 * clock times TSC_PER_CRYSTAL crystal ticks of CPUID leaf 15H, so that a
 * guest needs no calibration.
 */
uint64_t perfmon_read_tsc(CPUX86State *env);

/* Is @addr canonical for this CPU's linear-address width? */
bool perfmon_canonical(CPUX86State *env, uint64_t addr);

/* CPUID leaves 0AH, 14H and 15H.  False: not handled here. */
bool perfmon_cpuid(CPUX86State *env, uint32_t leaf, uint32_t subleaf,
                   uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx);

/* Checks and completes the properties of a CPU that is being realized. */
bool perfmon_realize(X86CPU *cpu, Error **errp);

/* The first part of it: properties that contradict each other, or go along. */
bool perfmon_settle(X86CPU *cpu, Error **errp);

/*
 * Where there are no models: false if a property of theirs is not as it is by
 * default.  @needed: by what there would be models.
 */
bool perfmon_refuse(X86CPU *cpu, const char *needed, Error **errp);

void perfmon_unrealize(X86CPU *cpu);

/* Before the state of the CPU is reset, and after the rest of it was. */
void perfmon_reset_begin(CPUX86State *env);
void perfmon_reset(CPUX86State *env);

/*
 * RDMSR and WRMSR; ECX and EDX:EAX were taken apart by the caller.  EIP is
 * that of the instruction, @len its length.
 */
enum perfmon_access perfmon_rdmsr(CPUX86State *env, uint32_t msr,
                                  uint64_t *val);
enum perfmon_access perfmon_wrmsr(CPUX86State *env, uint32_t msr,
                                  uint64_t val, unsigned len);

/* What a saved machine carries. */
extern const VMStateDescription vmstate_perfmon;

/* Recomputes perfmon_hf[] after any input of it changed. */
void perfmon_update_flags(CPUX86State *env);

/* The place that a far transfer leaves. */
typedef struct PerfmonFrom {
    target_ulong eip;
    target_ulong cs_base;
    uint8_t cpl;
} PerfmonFrom;

static inline PerfmonFrom perfmon_from(CPUX86State *env)
{
    /* 64-bit code has no base, whatever the descriptor says. */
    bool flat = env->hflags & HF_CS64_MASK;

    return (PerfmonFrom) { env->eip, flat ? 0 : env->segs[R_CS].base,
                           env->hflags & HF_CPL_MASK };
}

void perfmon_far_slow(CPUX86State *env, PerfmonFrom from,
                      enum perfmon_far kind, int vector);
void perfmon_mov_cr3_slow(CPUX86State *env, target_ulong next_ip);
void perfmon_hlt_slow(CPUX86State *env, unsigned len);
void perfmon_mwait_slow(CPUX86State *env, unsigned len);
void perfmon_wake_slow(CPUX86State *env);

/*
 * An instruction that TF applies to is complete.  Is there a debug exception?
 * With IA32_DEBUGCTL.BTF only a branch that is taken has one.
 *
 * What is known of the instruction is LBRState::branched: a taken branch sets
 * it, and it is cleared where a block with TF begins, which has a single
 * instruction, and where IA32_DEBUGCTL is written.  SYSCALL and SYSRET, which
 * are steps by the TF that they leave, need no such beginning: they are taken
 * branches.
 */
bool perfmon_steps(CPUX86State *env);

/**
 * perfmon_far - report a far transfer that is complete
 * @env: CPU state, already that of the target
 * @from: the instruction or the interrupted place, from before the transfer
 * @kind: what happened
 * @vector: of an interrupt or exception, otherwise -1
 */
static inline void perfmon_far(CPUX86State *env, PerfmonFrom from,
                               enum perfmon_far kind, int vector)
{
    if (unlikely(env->perfmon_active)) {
        perfmon_far_slow(env, from, kind, vector);
    }
}

/**
 * perfmon_mov_cr3 - report a MOV to CR3 that is complete
 * @env: CPU state
 * @next_ip: EIP of the instruction behind it
 */
static inline void perfmon_mov_cr3(CPUX86State *env, target_ulong next_ip)
{
    if (unlikely(env->perfmon_active)) {
        perfmon_mov_cr3_slow(env, next_ip);
    }
}

/**
 * perfmon_int1 - an INT1 is about to raise its debug exception
 * @env: CPU state; EIP is behind the INT1
 * @len: length of the instruction
 */
static inline void perfmon_int1(CPUX86State *env, unsigned len)
{
    if (unlikely(env->perfmon_active)) {
        env->perfmon_int1_len = len;
    }
}

/**
 * perfmon_hlt - a HLT is about to put the CPU to sleep
 * @env: CPU state; EIP is behind the HLT
 * @len: length of the instruction
 */
static inline void perfmon_hlt(CPUX86State *env, unsigned len)
{
    if (unlikely(env->perfmon_active)) {
        perfmon_hlt_slow(env, len);
    }
}

/**
 * perfmon_mwait - an MWAIT is about to put the CPU to sleep
 * @env: CPU state; EIP is behind the MWAIT
 * @len: length of the instruction
 */
static inline void perfmon_mwait(CPUX86State *env, unsigned len)
{
    if (unlikely(env->perfmon_active)) {
        perfmon_mwait_slow(env, len);
    }
}

/* The CPU wakes up. */
static inline void perfmon_wake(CPUX86State *env)
{
    if (unlikely(env->perfmon_active)) {
        perfmon_wake_slow(env);
    }
}

/**
 * perfmon_init - INIT has been done
 * @env: CPU state, already that after INIT, with what INIT preserves
 * @from: the interrupted place
 */
void perfmon_init(CPUX86State *env, PerfmonFrom from);
/* A start-up interrupt was taken or ignored; CS is loaded. */
void perfmon_sipi(CPUX86State *env);

/* System management mode is entered (SMM bit not yet set), or left. */
void perfmon_smi(CPUX86State *env);
void perfmon_rsm(CPUX86State *env);

#endif
