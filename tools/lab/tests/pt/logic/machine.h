/* SPDX-License-Identifier: GPL-2.0-only */
/* A machine with two CPUs, and what Processor Trace can do on them. */
#ifndef MACHINE_H
#define MACHINE_H

#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/percpu.h>

#include "caps.h"

/* CPUID leaf 14H; @word as pt_caps has it */
extern struct pt_caps machine_caps[SHIM_CPUS];
/* Processor Trace works in VMX operation; it is a Broadwell. */
extern bool machine_vmx_pt, machine_broadwell;
extern unsigned int machine_warnings, machine_irq_work_raised;
/* How often WARN_ON_ONCE() may come true; any more is blamed. */
extern unsigned int machine_bugs;
/*
 * A CPU that traces when the kernel comes, SHIM_CPUS: all; one whose registers are not
 * there; -1: none
 */
extern int machine_tracing_cpu, machine_hiding_cpu;
/* IA32_RTIT_CTL and IA32_RTIT_OUTPUT_BASE of the former */
extern u64 machine_tracing_ctl, machine_tracing_base;

/* All that there is, and a few of it missing. */
struct pt_caps caps_all(void);
void caps_clear(struct pt_caps *caps, enum pt_capabilities cap);

/* Power on: both CPUs have these; memory begins there. What initialization returns. */
int machine_boot(const struct pt_caps *caps, u64 memory);
/* The same with the capabilities as they are. */
int machine_boot_as_is(u64 memory);

/* A CPU goes; it comes, by INIT, which leaves its registers as they are. */
/* ... as far as its callbacks of a state, that one not among them */
void machine_cpu_up(int cpu, enum cpuhp_state before);
void machine_sleep(void);
/* Another kernel is about to be started. */
void machine_shutdown(bool kexec);
/* The driver is still called when CPUs come, or the machine sleeps. */
bool machine_has_callbacks(void);
/* Delayed work is done, if there is any; whether there was. */
bool machine_later(void);
void machine_wake(void);

#endif
