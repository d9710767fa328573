/* SPDX-License-Identifier: GPL-2.0-only */
#include <asm/processor.h>
