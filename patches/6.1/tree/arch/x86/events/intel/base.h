/* SPDX-License-Identifier: GPL-2.0-only */
/* Interfaces of newer kernels, which the drivers of Intel PT and BTS are written to. */
#ifndef _PERF_X86_INTEL_BASE_H
#define _PERF_X86_INTEL_BASE_H

#include <linux/notifier.h>
#include <linux/perf_event.h>
#include <linux/reboot.h>
#include <linux/syscore_ops.h>

#include <asm/cpu_device_id.h>
#include <asm/intel-family.h>

#define INTEL_BROADWELL		VFM_MAKE(X86_VENDOR_INTEL, 6, INTEL_FAM6_BROADWELL)
#define INTEL_BROADWELL_D	VFM_MAKE(X86_VENDOR_INTEL, 6, INTEL_FAM6_BROADWELL_D)
#define INTEL_BROADWELL_G	VFM_MAKE(X86_VENDOR_INTEL, 6, INTEL_FAM6_BROADWELL_G)
#define INTEL_BROADWELL_X	VFM_MAKE(X86_VENDOR_INTEL, 6, INTEL_FAM6_BROADWELL_X)

/*
 * Newer kernels pass the data of a registration to its callbacks. Here callbacks have no
 * argument, so those below call the ones that a file has registered; one registration in
 * a file is enough. Newer kernels call shutdown() for kexec as well; here only a reboot
 * notifier is called then.
 */
struct perf_syscore_ops {
	int	(*suspend)(void *data);
	void	(*resume)(void *data);
	void	(*shutdown)(void *data);
};

struct syscore {
	const struct perf_syscore_ops	*ops;
	void				*data;
};

static const struct syscore *perf_syscore;

static inline int perf_syscore_suspend(void)
{
	return perf_syscore->ops->suspend(perf_syscore->data);
}

static inline void perf_syscore_resume(void)
{
	perf_syscore->ops->resume(perf_syscore->data);
}

static inline int perf_syscore_reboot(struct notifier_block *block,
				      unsigned long action, void *command)
{
	perf_syscore->ops->shutdown(perf_syscore->data);
	return NOTIFY_DONE;
}

static struct syscore_ops perf_syscore_callbacks = {
	.suspend	= perf_syscore_suspend,
	.resume		= perf_syscore_resume,
};

static struct notifier_block perf_syscore_notifier = {
	.notifier_call	= perf_syscore_reboot,
};

static inline void register_syscore(const struct syscore *syscore)
{
	perf_syscore = syscore;
	register_syscore_ops(&perf_syscore_callbacks);
	register_reboot_notifier(&perf_syscore_notifier);
}

static inline void unregister_syscore(const struct syscore *syscore)
{
	unregister_reboot_notifier(&perf_syscore_notifier);
	unregister_syscore_ops(&perf_syscore_callbacks);
}

#define syscore_ops	perf_syscore_ops

/*
 * Here the security module is told the attributes of the event. A caller that is
 * written to newer kernels does not pass them, and has them in a variable 'attr'.
 */
static inline int perf_allow_kernel_attr(const struct perf_event_attr *attr)
{
	return perf_allow_kernel((struct perf_event_attr *)attr);
}

#define perf_allow_kernel()	perf_allow_kernel_attr(attr)

#endif /* _PERF_X86_INTEL_BASE_H */
