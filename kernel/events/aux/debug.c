// SPDX-License-Identifier: GPL-2.0-only
#include <linux/percpu.h>

#include "debug.h"

DEFINE_PER_CPU(int, perf_debug_disabled);
