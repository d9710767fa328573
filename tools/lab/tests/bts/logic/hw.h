/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Branch trace store as hardware: DEBUGCTL, the debug store, records with a number
 * each, and the interrupt.
 */
#ifndef HW_H
#define HW_H

#include <stdbool.h>

#include <linux/types.h>

/**
 * struct hw - of the CPU
 * @on: TR and BTS are set
 * @btint: so is BTINT
 * @os: the kernel's branches are stored
 * @pmi: the index has come to the threshold, and no interrupt has come since
 * @masked: the local APIC takes none
 * @raised: so often
 * @number: of the last branch
 * @stored: records since the transaction began
 * @lost: branches since then that had no room
 * @writes: of DEBUGCTL
 * @claimed: the last NMI was
 */
struct hw {
	bool on, btint, os, pmi, masked;
	unsigned int raised;
	u64 number, stored, lost;
	unsigned int writes;
	bool claimed;
};

extern struct hw hw;

/* X86_FEATURE_* that the processor does not have, as bits */
extern unsigned int hw_lacks;
/* The CPUs are offline */
extern bool hw_offline;

/* Words of a record: the number, its complement, and 0. */
#define RECORD_WORDS	3

void hw_reset(void);
/* So many branches are taken, by user code if the CPU is there. */
void hw_branches(unsigned int n, bool kernel);
/* The core PMU's NMI, which is of BTS, or of another event. */
void hw_nmi(void);
/* ... if the hardware has asked for one */
void hw_deliver(void);
/* Those who read DEBUGCTL, change a bit of theirs, and write it. */
void hw_block_step(void);
/* What the debug store has while nobody traces. */
bool hw_is_restored(void);

#endif
