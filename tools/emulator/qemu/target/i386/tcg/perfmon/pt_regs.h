/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fields of the Intel PT registers and tables (SDM 33.2.7, 33.2.8, 33.3.1).
 */
#ifndef TARGET_I386_TCG_PERFMON_PT_REGS_H
#define TARGET_I386_TCG_PERFMON_PT_REGS_H

#include "qemu/bitops.h"

/* IA32_RTIT_CTL */
#define RTIT_CTL_TRACE_EN           BIT_ULL(0)
#define RTIT_CTL_CYC_EN             BIT_ULL(1)
#define RTIT_CTL_OS                 BIT_ULL(2)
#define RTIT_CTL_USER               BIT_ULL(3)
#define RTIT_CTL_PWR_EVT_EN         BIT_ULL(4)
#define RTIT_CTL_FUP_ON_PTW         BIT_ULL(5)
#define RTIT_CTL_CR3_FILTER         BIT_ULL(7)
#define RTIT_CTL_TOPA               BIT_ULL(8)
#define RTIT_CTL_MTC_EN             BIT_ULL(9)
#define RTIT_CTL_TSC_EN             BIT_ULL(10)
#define RTIT_CTL_DIS_RETC           BIT_ULL(11)
#define RTIT_CTL_PTW_EN             BIT_ULL(12)
#define RTIT_CTL_BRANCH_EN          BIT_ULL(13)
#define RTIT_CTL_MTC_FREQ_SHIFT     14
#define RTIT_CTL_MTC_FREQ           MAKE_64BIT_MASK(14, 4)
#define RTIT_CTL_CYC_THRESH_SHIFT   19
#define RTIT_CTL_CYC_THRESH         MAKE_64BIT_MASK(19, 4)
#define RTIT_CTL_PSB_FREQ_SHIFT     24
#define RTIT_CTL_PSB_FREQ           MAKE_64BIT_MASK(24, 4)
#define RTIT_CTL_EVENT_EN           BIT_ULL(31)
#define RTIT_CTL_ADDR_CFG_SHIFT(n)  (32 + 4 * (n))
#define RTIT_CTL_ADDR_CFG_LEN       4
#define RTIT_CTL_DIS_TNT            BIT_ULL(55)
#define RTIT_CTL_INJECT_PSB_PMI     BIT_ULL(56)

/* ADDRn_CFG encodings */
#define RTIT_ADDR_CFG_OFF           0
#define RTIT_ADDR_CFG_FILTER        1
#define RTIT_ADDR_CFG_STOP          2

/* IA32_RTIT_STATUS */
#define RTIT_STATUS_FILTER_EN       BIT_ULL(0)
#define RTIT_STATUS_CONTEXT_EN      BIT_ULL(1)
#define RTIT_STATUS_TRIGGER_EN      BIT_ULL(2)
#define RTIT_STATUS_ERROR           BIT_ULL(4)
#define RTIT_STATUS_STOPPED         BIT_ULL(5)
#define RTIT_STATUS_PEND_PSB        BIT_ULL(6)
#define RTIT_STATUS_PEND_TOPA_PMI   BIT_ULL(7)
#define RTIT_STATUS_BYTE_CNT_SHIFT  32
#define RTIT_STATUS_BYTE_CNT        MAKE_64BIT_MASK(32, 17)
/* bits of STATUS that only the processor writes */
#define RTIT_STATUS_READ_ONLY       (RTIT_STATUS_FILTER_EN | \
                                     RTIT_STATUS_CONTEXT_EN | \
                                     RTIT_STATUS_TRIGGER_EN)

/* IA32_RTIT_OUTPUT_BASE, IA32_RTIT_OUTPUT_MASK_PTRS */
#define RTIT_BASE_RESERVED          MAKE_64BIT_MASK(0, 7)
#define RTIT_MASK_LOWER             MAKE_64BIT_MASK(0, 7)
#define RTIT_MASK_TABLE_SHIFT       7
#define RTIT_MASK_TABLE             MAKE_64BIT_MASK(7, 25)
#define RTIT_MASK_MASK              MAKE_64BIT_MASK(0, 32)
#define RTIT_MASK_OFFSET_SHIFT      32

/* IA32_RTIT_CR3_MATCH */
#define RTIT_CR3_RESERVED           MAKE_64BIT_MASK(0, 5)

/* ToPA entries */
#define TOPA_END                    BIT_ULL(0)
#define TOPA_INT                    BIT_ULL(2)
#define TOPA_STOP                   BIT_ULL(4)
#define TOPA_SIZE_SHIFT             6
#define TOPA_SIZE_LEN               4
#define TOPA_SIZE_UNIT              4096ULL
#define TOPA_RESERVED               (BIT_ULL(1) | BIT_ULL(3) | BIT_ULL(5) | \
                                     MAKE_64BIT_MASK(10, 2))
#define TOPA_TABLE_ALIGN            4096ULL

/* CPUID.(EAX=14H,ECX=0):EBX */
#define PT_CPUID_CR3FILTER          BIT(0)
#define PT_CPUID_PSBCYC             BIT(1)
#define PT_CPUID_IPFILTER           BIT(2)
#define PT_CPUID_MTC                BIT(3)
#define PT_CPUID_PTWRITE            BIT(4)
#define PT_CPUID_POWEREV            BIT(5)
#define PT_CPUID_PSBPMI             BIT(6)
#define PT_CPUID_EVENT              BIT(7)
#define PT_CPUID_NOTNT              BIT(8)
/* CPUID.(EAX=14H,ECX=0):ECX */
#define PT_CPUID_TOPA               BIT(0)
#define PT_CPUID_MULTI              BIT(1)
#define PT_CPUID_SINGLE             BIT(2)
#define PT_CPUID_LIP                BIT(31)
/* CPUID.(EAX=14H,ECX=1):EAX and EBX: bitmaps of encodings */
#define PT_CPUID_BITMAP_SHIFT       16
/* MTC periods 2^0, 2^3, 2^6, 2^9 crystal ticks */
#define PT_MTC_BITMAP               0x0249
/* no threshold, or 2^0 to 2^11 cycles by the encodings 1 to 12 */
#define PT_CYC_BITMAP               0x1fff
/* each 2K to 64K bytes */
#define PT_PSB_BITMAP               0x003f

#endif
