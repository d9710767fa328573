/* SPDX-License-Identifier: GPL-2.0-only */
/* The place that <asm/cpuid.h> has since Linux 6.16 */
#ifndef _ASM_X86_CPUID_API_H
#define _ASM_X86_CPUID_API_H

#include <linux/processor.h>

#include <asm/cpuid.h>

#endif /* _ASM_X86_CPUID_API_H */
