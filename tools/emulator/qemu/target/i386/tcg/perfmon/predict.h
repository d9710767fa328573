/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The branch predictor that decides which branches count as mispredicted. */
#ifndef TARGET_I386_TCG_PERFMON_PREDICT_H
#define TARGET_I386_TCG_PERFMON_PREDICT_H

#include "perfmon.h"

void predict_reset(PMUPredictor *p);

/* Learns from a near branch; true when it had been predicted wrongly. */
bool predict_branch(PMUPredictor *p, uint64_t from, uint64_t to,
                    uint64_t next, enum perfmon_branch kind);

#endif
