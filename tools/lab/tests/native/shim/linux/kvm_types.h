/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_KVM_TYPES_H
#define _LINUX_KVM_TYPES_H

#define EXPORT_SYMBOL_FOR_KVM(symbol)

#endif
