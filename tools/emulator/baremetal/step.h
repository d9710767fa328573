/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers that test_step.c and trace_step.S share. */
#ifndef STEP_H
#define STEP_H

/* Debug exceptions that are written down; a power of two, and more than a test has */
#define STEP_LOG	128
/* The interrupt by which user code leaves */
#define STEP_VECTOR	0x71

#endif
