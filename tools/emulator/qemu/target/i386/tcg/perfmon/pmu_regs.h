/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fields of the PerfMon registers (SDM volume 3, chapter "Performance
 * Monitoring").
 */
#ifndef TARGET_I386_TCG_PERFMON_PMU_REGS_H
#define TARGET_I386_TCG_PERFMON_PMU_REGS_H

#include "qemu/bitops.h"
#include "cpu.h"

#define COUNTER_RANGE           BIT_ULL(PMU_COUNTER_WIDTH)
#define COUNTER_MASK            (COUNTER_RANGE - 1)

/*
 * IA32_PERFEVTSELx: all of the low half; the rest is for transactions, but for
 * one bit where PEBS is adaptive
 */
#define EVTSEL_VALID            MAKE_64BIT_MASK(0, 32)
#define EVTSEL_ADAPTIVE         BIT_ULL(34)
#define EVTSEL_EVENT            MAKE_64BIT_MASK(0, 8)
#define EVTSEL_UMASK(evtsel)    extract64(evtsel, 8, 8)
#define EVTSEL_USR              BIT_ULL(16)
#define EVTSEL_OS               BIT_ULL(17)
#define EVTSEL_EDGE             BIT_ULL(18)
#define EVTSEL_INT              BIT_ULL(20)
#define EVTSEL_EN               BIT_ULL(22)
#define EVTSEL_INV              BIT_ULL(23)
#define EVTSEL_CMASK(evtsel)    extract64(evtsel, 24, 8)

/* IA32_FIXED_CTR_CTRL, four bits a counter, and one for adaptive PEBS */
#define FIXED_CTRL_WIDTH        4
#define FIXED_CTRL_OS           BIT(0)
#define FIXED_CTRL_USR          BIT(1)
#define FIXED_CTRL_ENABLE       (FIXED_CTRL_OS | FIXED_CTRL_USR)
#define FIXED_CTRL_PMI          BIT(3)
#define FIXED_CTRL_VALID        MAKE_64BIT_MASK(0, FIXED_CTRL_WIDTH * \
                                                   PMU_NUM_FIXED)
#define FIXED_CTRL_ADAPTIVE(n)  BIT_ULL(32 + FIXED_CTRL_WIDTH * (n))

/* The global registers: general counters below, fixed ones from here */
#define GLOBAL_FIXED_SHIFT      32

/* Counter @i, general ones first, and its bit in the global registers */
static inline uint64_t *pmu_counter(CPUX86State *env, int i)
{
    return i < PMU_NUM_GP ? &env->msr_gp_counters[i]
                          : &env->msr_fixed_counters[i - PMU_NUM_GP];
}

static inline uint64_t pmu_global_bit(int i)
{
    return i < PMU_NUM_GP ? BIT_ULL(i)
                          : BIT_ULL(GLOBAL_FIXED_SHIFT + i - PMU_NUM_GP);
}

#endif
