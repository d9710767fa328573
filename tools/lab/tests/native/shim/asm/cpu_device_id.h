/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_ASM_CPU_DEVICE_ID_H
#define SHIM_ASM_CPU_DEVICE_ID_H

struct x86_cpu_id {
	unsigned int vfm;
	unsigned long driver_data;
};

#define X86_MATCH_VFM(vfm, data)	{ vfm, (unsigned long)(data) }

const struct x86_cpu_id *x86_match_cpu(const struct x86_cpu_id *table);

#endif
