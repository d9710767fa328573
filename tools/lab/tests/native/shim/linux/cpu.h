/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_CPU_H
#define SHIM_LINUX_CPU_H

#include <linux/printk.h>
#include <linux/types.h>

#define cpus_read_lock()		((void)0)
#define cpus_read_unlock()		((void)0)
#define for_each_online_cpu(cpu)	for ((cpu) = 0; (cpu) < SHIM_CPUS; (cpu)++)
#define for_each_possible_cpu(cpu)	for_each_online_cpu(cpu)
#define local_irq_save(flags)		((void)((flags) = 0))
#define local_irq_restore(flags)	((void)(flags))

bool cpu_online(unsigned int cpu);
int smp_call_function_single(int cpu, void (*function)(void *info), void *info, int wait);
void on_each_cpu(void (*function)(void *info), void *info, int wait);

#endif
