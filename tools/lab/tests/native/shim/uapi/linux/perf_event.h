/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for the kernel's header: flags of records of AUX areas. */
#ifndef SHIM_UAPI_PERF_EVENT_H
#define SHIM_UAPI_PERF_EVENT_H

#define PERF_AUX_FLAG_TRUNCATED			0x01
#define PERF_AUX_FLAG_OVERWRITE			0x02
#define PERF_AUX_FLAG_PARTIAL			0x04
#define PERF_AUX_FLAG_COLLISION			0x08
#define PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK	0xff00

#endif
