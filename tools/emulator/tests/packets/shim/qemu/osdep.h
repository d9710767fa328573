/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the encoders have of QEMU's header, which comes first in each of its files. */
#ifndef QEMU_OSDEP_H
#define QEMU_OSDEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#endif
