/* SPDX-License-Identifier: GPL-2.0-only */
/* The tests of forced overflows, which come by "ovf=N". */
#ifndef OVERFLOW_H
#define OVERFLOW_H

#include "pt.h"

#define OVERFLOW_ROUNDS	3000

/* What an overflow loses beside branches, and where it begins. */
void check_overflow_kinds(void);

#endif
