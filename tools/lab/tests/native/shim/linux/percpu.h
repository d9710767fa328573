/* SPDX-License-Identifier: GPL-2.0-only */
/* Two CPUs, of which the tests say which one runs. */
#ifndef SHIM_LINUX_PERCPU_H
#define SHIM_LINUX_PERCPU_H

#define SHIM_CPUS	2

extern int shim_cpu;

#define DECLARE_PER_CPU(type, name)	extern type name[SHIM_CPUS]
#define DEFINE_PER_CPU(type, name)	type name[SHIM_CPUS]
#define per_cpu(name, cpu)		((name)[cpu])
#define per_cpu_ptr(pointer, cpu)	(&(*(pointer))[cpu])
#define this_cpu_ptr(pointer)		per_cpu_ptr(pointer, shim_cpu)
#define smp_processor_id()		shim_cpu

#endif
