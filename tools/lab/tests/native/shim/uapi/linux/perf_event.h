/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for the kernel's header: what the arithmetic takes from it, and no more. */
#ifndef SHIM_UAPI_PERF_EVENT_H
#define SHIM_UAPI_PERF_EVENT_H

#define PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK	0xff00

#endif
