/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_IRQ_WORK_H
#define SHIM_LINUX_IRQ_WORK_H

void arch_irq_work_raise(void);

#endif
