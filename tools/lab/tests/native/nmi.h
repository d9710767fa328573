/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NMIs: places in the driver where one may come are numbered from 1, beginning
 * with nmi_arm().
 */
#ifndef NMI_H
#define NMI_H

#include <stdbool.h>

/* At each place @tick is called, and outside of an NMI @nmi, with the number. */
void nmi_arm(void (*tick)(void), void (*nmi)(unsigned int place));
/* How many places there were. */
unsigned int nmi_disarm(void);
void nmi_point(void);
/* Run @handler as one. */
void nmi_run(void (*handler)(void));
bool in_nmi(void);

#endif
