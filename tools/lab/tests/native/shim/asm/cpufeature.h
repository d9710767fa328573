/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_ASM_CPUFEATURE_H
#define SHIM_ASM_CPUFEATURE_H

#include <asm/processor.h>

enum {
	X86_FEATURE_INTEL_PT,
	X86_FEATURE_VMX,
	X86_FEATURE_DTES64,
	X86_FEATURE_DSCPL,
	X86_FEATURE_PTI,
};

bool boot_cpu_has(unsigned int feature);

#endif
