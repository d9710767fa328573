// SPDX-License-Identifier: GPL-2.0-only
/* The count behind CONFIG_DEBUG_PERF_AUX; debug.h has the checks. */
#include <linux/percpu.h>

#include "debug.h"

DEFINE_PER_CPU(int, perf_debug_disabled);
