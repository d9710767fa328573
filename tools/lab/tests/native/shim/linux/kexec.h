/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_KEXEC_H
#define SHIM_LINUX_KEXEC_H

#include <stdbool.h>

extern bool kexec_in_progress;

#endif
