/* SPDX-License-Identifier: GPL-2.0-only */
/* Interfaces of newer kernels, which the drivers of Intel PT and BTS are written to. */
#ifndef _PERF_X86_INTEL_BASE_H
#define _PERF_X86_INTEL_BASE_H

#include <linux/perf_event.h>
#include <linux/syscore_ops.h>

#include <asm/cpu_device_id.h>
#include <asm/intel-family.h>

#define INTEL_BROADWELL		VFM_MAKE(X86_VENDOR_INTEL, 6, INTEL_FAM6_BROADWELL)
#define INTEL_BROADWELL_D	VFM_MAKE(X86_VENDOR_INTEL, 6, INTEL_FAM6_BROADWELL_D)
#define INTEL_BROADWELL_G	VFM_MAKE(X86_VENDOR_INTEL, 6, INTEL_FAM6_BROADWELL_G)
#define INTEL_BROADWELL_X	VFM_MAKE(X86_VENDOR_INTEL, 6, INTEL_FAM6_BROADWELL_X)

/* Callbacks of syscore have no argument here; ours make no use of it. */
#define pt_suspend(data)	pt_suspend(void)
#define pt_resume(data)		pt_resume(void)
#define pt_shutdown(data)	pt_shutdown(void)
#define bts_suspend(data)	bts_suspend(void)
#define bts_resume(data)	bts_resume(void)
#define bts_shutdown(data)	bts_shutdown(void)

struct syscore {
	const struct syscore_ops *ops;
};

/* What is registered is changed, so it is a copy. One in each file is enough. */
static struct syscore_ops __maybe_unused perf_syscore_ops;

static inline void register_syscore(const struct syscore *syscore)
{
	perf_syscore_ops = *syscore->ops;
	register_syscore_ops(&perf_syscore_ops);
}

static inline void unregister_syscore(const struct syscore *syscore)
{
	unregister_syscore_ops(&perf_syscore_ops);
}

/*
 * Here the security module is told the attributes of the event. Callers that are
 * written to newer kernels do not pass them, and have them in a variable 'attr'.
 */
#define PERF_FIRST(first, ...)	first
#define perf_allow_kernel(...)						\
	perf_allow_kernel(PERF_FIRST(__VA_OPT__(__VA_ARGS__,)		\
				     (struct perf_event_attr *)attr))

#endif /* _PERF_X86_INTEL_BASE_H */
