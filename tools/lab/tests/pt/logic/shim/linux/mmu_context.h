/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_MMU_CONTEXT_H
#define SHIM_LINUX_MMU_CONTEXT_H

#include <linux/sched.h>

static inline unsigned long mm_lam_cr3_mask(struct mm_struct *mm)
{
	return mm->lam;
}

#endif
