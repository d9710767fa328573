/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record of adaptive PEBS, before it goes to memory or to a trace: a basic
 * group, and those that MSR_PEBS_DATA_CFG asks for (SDM volume 3, "Adaptive
 * PEBS").
 */
#ifndef TARGET_I386_TCG_PERFMON_PEBS_RECORD_H
#define TARGET_I386_TCG_PERFMON_PEBS_RECORD_H

#include "pebs.h"

/* MSR_PEBS_DATA_CFG */
#define PEBS_CFG_MEMORY             BIT_ULL(0)
#define PEBS_CFG_GPR                BIT_ULL(1)
#define PEBS_CFG_XMM                BIT_ULL(2)
#define PEBS_CFG_LBR                BIT_ULL(3)
#define PEBS_CFG_GROUPS             MAKE_64BIT_MASK(0, 4)
#define PEBS_CFG_LBRS_SHIFT         24
#define PEBS_CFG_LBRS_LEN           8
#define PEBS_CFG_VALID              (PEBS_CFG_GROUPS | \
                                     MAKE_64BIT_MASK(PEBS_CFG_LBRS_SHIFT, \
                                                     PEBS_CFG_LBRS_LEN))

/* Words of the groups; of each last branch record three */
#define PEBS_BASIC_WORDS            3
#define PEBS_MEMORY_WORDS           4
#define PEBS_GPR_WORDS              18
#define PEBS_XMM_WORDS              32
#define PEBS_LBR_WORDS              3

/**
 * struct PEBSRecord - what one event tells
 * @groups: those that are there beside @basic, as MSR_PEBS_DATA_CFG has them
 * @basic: IP, counters, time stamp
 * @memory: address, source, latency, transaction: of none is anything known
 * @gpr: RFLAGS, RIP, and the registers as they are numbered, as far as the
 *       mode of the processor has them
 * @gprs: how many words of @gpr the mode has
 * @xmm: the low half of each, then the high
 * @lbr: from, to and info of each, the newest first
 * @lbrs: how many
 */
typedef struct PEBSRecord {
    uint64_t groups;
    uint64_t basic[PEBS_BASIC_WORDS];
    uint64_t memory[PEBS_MEMORY_WORDS];
    uint64_t gpr[PEBS_GPR_WORDS];
    unsigned gprs;
    uint64_t xmm[PEBS_XMM_WORDS];
    uint64_t lbr[PEBS_LBR_WORDS * LBR_DEPTH];
    unsigned lbrs;
} PEBSRecord;

/* @cfg: MSR_PEBS_DATA_CFG, or 0; the rest is as in pebs_record(). */
void pebs_compose(CPUX86State *env, uint64_t cfg, uint64_t counters,
                  const PEBSPlace *at, PEBSRecord *record);
/* Bytes that @record has in memory. */
uint64_t pebs_size(const PEBSRecord *record);
/* Writes @record to memory.  False: it is not all there. */
bool pebs_store(CPUX86State *env, uint64_t addr, const PEBSRecord *record);

/**
 * pt_pebs - write a record to the trace
 * @env: CPU state
 * @record: the record
 * @next_ip: EIP of the instruction that comes next
 *
 * Returns false if nothing is traced: the record is gone.
 */
bool pt_pebs(CPUX86State *env, const PEBSRecord *record, target_ulong next_ip);

#endif
