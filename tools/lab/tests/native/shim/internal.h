/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for kernel/events/internal.h: what pause.c takes from it, which core.h has. */
#ifndef SHIM_EVENTS_INTERNAL_H
#define SHIM_EVENTS_INTERNAL_H

#include <kunit/visibility.h>
#include <linux/cpu.h>
#include <linux/perf_event.h>

#include "core.h"

#endif
